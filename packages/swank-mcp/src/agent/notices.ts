import { cutText, more } from "../text/cut.js";

/** Most notices of one kind in an answer. */
const MAX_OF_A_KIND = 10;
/** Characters of one notice. */
const MAX_NOTICE = 1000;

interface Kind {
  readonly texts: string[];
  leftOut: number;
}

/** Events in the image since the last answer. The next answer from Lisp reports each once. */
export class Notices {
  /** In the order of each kind's first notice. */
  #pending = new Map<string, Kind>();

  /**
   * @param notice - One or two sentences. More lines may follow, such as the last output of a loaded file.
   * @param kind - A singular noun, e.g. `ended stop`; of many notices of a kind, only the latest are kept. Default: a kind for this notice.
   */
  add(notice: string, kind = notice): void {
    const known = this.#pending.get(kind) ?? { texts: [], leftOut: 0 };
    this.#pending.set(kind, known);
    known.texts.push(cutText(notice, MAX_NOTICE));
    if (known.texts.length <= MAX_OF_A_KIND) return;
    known.texts.shift();
    known.leftOut += 1;
  }

  /** Returns all notices and removes them. */
  take(): readonly string[] {
    const taken = [...this.#pending].flatMap(([kind, { texts, leftOut }]) =>
      leftOut === 0 ? texts : [`${more(leftOut, kind)} before these:`, ...texts],
    );
    this.#pending = new Map();
    return taken;
  }
}
