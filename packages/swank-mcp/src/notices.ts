import { cutText, more } from "./format/cut.js";

/** Most notices of one kind in an answer. */
const MAX_OF_A_KIND = 10;
/** Characters of one notice. */
const MAX_NOTICE = 1000;

interface Kind {
  readonly texts: string[];
  leftOut: number;
}

/** What happened to the image or to stops since the last answer, to be said once, with the next answer that comes from Lisp. */
export class Notices {
  /** In the order in which the first of each kind came. */
  #pending = new Map<string, Kind>();

  /**
   * @param notice - A sentence or two; lines that follow them are kept, such as the last that a file printed.
   * @param kind - What it is about, in a word for one: of many of a kind, only the latest are said. Default: a notice of its own kind.
   */
  add(notice: string, kind = notice): void {
    const known = this.#pending.get(kind) ?? { texts: [], leftOut: 0 };
    this.#pending.set(kind, known);
    known.texts.push(cutText(notice, MAX_NOTICE));
    if (known.texts.length <= MAX_OF_A_KIND) return;
    known.texts.shift();
    known.leftOut += 1;
  }

  /** Gives all notices and forgets them. */
  take(): readonly string[] {
    const taken = [...this.#pending].flatMap(([kind, { texts, leftOut }]) =>
      leftOut === 0 ? texts : [`${more(leftOut, kind)} before these:`, ...texts],
    );
    this.#pending = new Map();
    return taken;
  }
}
