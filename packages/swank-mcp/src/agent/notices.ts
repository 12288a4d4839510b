import { cutText, more } from "../text/cut.js";
import { EVERY_TOOL, type ToolGuide } from "../text/tool-guide.js";

/** Most notices of one kind in an answer. */
const MAX_OF_A_KIND = 10;
/** Characters of one notice. */
const MAX_NOTICE = 1000;

interface Notice {
  readonly text: string;
  readonly advice: string;
}

interface Kind {
  readonly notices: Notice[];
  leftOut: number;
}

/** Events in the image since the last answer. The next answer from Lisp reports each once. */
export class Notices {
  /** In the order of each kind's first notice. */
  #pending = new Map<string, Kind>();

  /**
   * @param text - One or two sentences, which may quote Lisp. More lines may follow, such as the last output of a loaded file.
   * @param kind - A singular noun, e.g. `ended stop`; of many notices of a kind, only the latest are kept. Default: a kind for this notice.
   * @param advice - Sentences of this server that name tools, without a quotation: those about switched-off tools are omitted.
   */
  add(text: string, kind = text, advice = ""): void {
    const known = this.#pending.get(kind) ?? { notices: [], leftOut: 0 };
    this.#pending.set(kind, known);
    known.notices.push({ text: cutText(text, MAX_NOTICE), advice });
    if (known.notices.length <= MAX_OF_A_KIND) return;
    known.notices.shift();
    known.leftOut += 1;
  }

  /** Returns all notices and removes them. `guide` knows the tools that their advice may name. */
  take(guide: ToolGuide = EVERY_TOOL): readonly string[] {
    const taken = [...this.#pending].flatMap(([kind, { notices, leftOut }]) => {
      const texts = notices.map(({ text, advice }) => [text, guide.advise(advice)].filter(Boolean).join(" "));
      return leftOut === 0 ? texts : [`${more(leftOut, kind)} before these:`, ...texts];
    });
    this.#pending = new Map();
    return taken;
  }
}
