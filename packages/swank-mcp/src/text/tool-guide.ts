/** Replaces advice that names only tools that are switched off. */
const NO_ADVICE = "The tools that would help here are switched off (--tools or --read-only).";

/** A sentence with the white space that follows it. */
const SENTENCE = /\S[\s\S]*?(?:[.!?](?=\s)\s+|$)/g;

/** A word that may be a tool's name, and the word "tool" after it. */
const TOOL_NAME = /(?<![\w:-])([a-z]+(?:[_-][a-z]+)+)(?: tool\b)?(?![\w-])/g;

/** Knows which tools a client can call and how it calls them, so that no text recommends another one. */
export class ToolGuide {
  readonly #hidden: ReadonlySet<string>;
  readonly #names: ReadonlyMap<string, string>;

  /**
   * @param hidden - Names of the tools that are switched off.
   * @param names - The client's own names for tools, such as the commands of the console. Default: the tools' names.
   */
  constructor(hidden: Iterable<string> = [], names: ReadonlyMap<string, string> = new Map()) {
    this.#hidden = new Set(hidden);
    this.#names = names;
  }

  /** The client's name for a tool. */
  nameOf(tool: string): string {
    return this.#names.get(tool) ?? tool;
  }

  /** Whether the client can call the tool. */
  offers(name: string): boolean {
    return !this.#hidden.has(name);
  }

  /**
   * Removes the sentences that name a switched-off tool, and puts the client's names for the others. For text that this server wrote, not
   * for Lisp's output.
   */
  advise(text: string): string {
    if (!this.#namesHidden(text)) return this.#renamed(text);
    const paragraphs = text.split("\n\n").map((paragraph) => this.#keptOf(paragraph));
    return this.#renamed(paragraphs.filter((paragraph) => paragraph !== "").join("\n\n"));
  }

  /** As `advise`, but if no sentence is left, the result says why there is no advice. */
  advice(text: string): string {
    return this.advise(text) || NO_ADVICE;
  }

  #keptOf(paragraph: string): string {
    const sentences = paragraph.match(SENTENCE) ?? [];
    return sentences
      .filter((sentence) => !this.#namesHidden(sentence))
      .join("")
      .trimEnd();
  }

  #renamed(text: string): string {
    if (this.#names.size === 0) return text;
    return text.replace(TOOL_NAME, (words, tool: string) => this.#names.get(tool) ?? words);
  }

  #namesHidden(text: string): boolean {
    return [...this.#hidden].some((name) => namesTool(text, name));
  }
}

/** The guide of a client that can call every tool. */
export const EVERY_TOOL = new ToolGuide();

/** Whether a text names a tool. `debugger_frames_x` does not name `debugger_frames`, and `asdf:load-system` is a function. */
function namesTool(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const isWord = /[\w:-]/.test(text[at - 1] ?? " ") || /[\w-]/.test(text[at + name.length] ?? " ");
    if (!isWord) return true;
  }
  return false;
}
