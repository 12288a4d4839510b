import { cutText } from "../text/cut.js";

/** Plain data in a tool's answer, as JSON writes it. */
export interface JsonObject {
  readonly [key: string]: unknown;
}

/** A tool's answer, independent of any SDK. */
export interface ToolAnswer {
  /** Text blocks: the first is the answer itself, further blocks help with the next step. */
  readonly blocks: readonly string[];
  readonly isError: boolean;
  /** Only for JSON tools and refusals. Some clients show the model this instead of the text. */
  readonly structured?: JsonObject;
  /** The facts of the text as data for programs, by key of the result's `_meta`. */
  readonly meta?: JsonObject;
}

/** An answer that is only text. */
export function textAnswer(...blocks: readonly string[]): ToolAnswer {
  return { blocks, isError: false };
}

/** An answer of text, with its facts as data. @param key - Their key of `_meta`. */
export function answerWith(blocks: readonly string[], key: string, facts: object, isError = false): ToolAnswer {
  return { blocks, isError, meta: { [key]: facts } };
}

/** An answer of a JSON tool: the object, and the same object as compact text. */
export function jsonAnswer(structured: JsonObject): ToolAnswer {
  return { blocks: [JSON.stringify(structured)], isError: false, structured };
}

/** Adds notices to an answer: to a JSON answer as `notices`, because some clients show the model only JSON; otherwise as a separate block. */
export function withNotices(answer: ToolAnswer, notices: readonly string[]): ToolAnswer {
  if (notices.length === 0) return answer;
  const { blocks, structured } = answer;
  if (structured === undefined) return { ...answer, blocks: [...blocks, notices.join("\n")] };
  return { ...answer, ...jsonAnswer({ ...structured, notices }) };
}

/** Characters of data that a short answer may have. Other data are not larger than the answer, because many hosts read lines of 64 kB. */
const META_ROOM = 4000;

type Limits = readonly [items: number, characters: number];

/** Most items of each list, and characters of each text, that data keep: the first pair with which they are small enough. */
const META_LIMITS: readonly Limits[] = [
  [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  [1000, 20_000],
  [300, 8000],
  [100, 3000],
  [30, 1000],
  [10, 300],
  [3, 100],
  [1, 30],
];

/** Most keys of an object that describes one thing. */
const MIN_KEYS = 40;

/**
 * The answer with data that are not larger than the answer, or than `META_ROOM`, with keys in one spelling: `left_out`. What is cut is marked: a list by the key
 * `KEY_left_out`, a text at its end. Without data if even little of them is larger.
 */
export function withBoundedMeta({ meta, ...answer }: ToolAnswer): ToolAnswer {
  if (meta === undefined) return answer;
  const { blocks, structured } = answer;
  const text = blocks.reduce((sum, block) => sum + block.length, 0);
  const room = Math.max(META_ROOM, text, structured === undefined ? 0 : sizeOf(structured));
  for (const limits of META_LIMITS) {
    const bounded = boundedObject(meta, limits);
    if (sizeOf(bounded) <= room) return { ...answer, meta: bounded };
  }
  return answer;
}

function sizeOf(value: JsonObject): number {
  return JSON.stringify(value).length;
}

function boundedObject(object: JsonObject, limits: Limits): JsonObject {
  const [items] = limits;
  const entries = Object.entries(object);
  const kept: Record<string, unknown> = {};
  const marks: Record<string, number> = {};
  for (const [key, value] of entries.slice(0, items + MIN_KEYS)) {
    if (value === undefined) continue;
    kept[spelled(key)] = boundedValue(value, limits);
    const left = leftOf(value, items);
    if (left > 0) marks[`${spelled(key)}_left_out`] = left;
  }
  for (const [mark, left] of Object.entries(marks)) {
    const before = kept[mark];
    kept[mark] = left + (typeof before === "number" ? before : 0);
  }
  const left = entries.length - items - MIN_KEYS;
  return left > 0 ? { ...kept, keys_left_out: left } : kept;
}

/** `left_out` for `leftOut`. Other keys, such as names of files, stay. */
function spelled(key: string): string {
  return /^[a-z]+(?:[A-Z][a-z]*)+$/.test(key) ? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : key;
}

function boundedValue(value: unknown, limits: Limits): unknown {
  const [items, characters] = limits;
  if (typeof value === "string") return cutText(value, characters);
  if (Array.isArray(value)) return value.slice(0, items).map((item: unknown) => boundedValue(item, limits));
  return isJsonObject(value) ? boundedObject(value, limits) : value;
}

/** The number of items left out of a list and of the lists in it. */
function leftOf(value: unknown, items: number): number {
  if (!Array.isArray(value)) return 0;
  const shown: readonly unknown[] = value.slice(0, items);
  return shown.reduce<number>((sum, item) => sum + leftOf(item, items), value.length - shown.length);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Replaces advice that names only tools that are switched off. */
const NO_ADVICE = "The tools that would help here are switched off (--tools or --read-only).";

/** The same for advice that names only tools that the image cannot serve. */
const NO_USABLE_ADVICE = "The tools that would help here need what this Lisp cannot do.";

/** A sentence with the white space that follows it. */
const SENTENCE = /\S[\s\S]*?(?:[.!?](?=\s)\s+|$)/g;

/** A word that may be a tool's name, and the word "tool" after it. */
const TOOL_NAME = /(?<![\w:-])([a-z]+(?:[_-][a-z]+)+)(?: tool\b)?(?![\w-])/g;

/** Knows which tools a client can call and how it calls them, so that no text recommends another one. */
export class ToolGuide {
  readonly #hidden: ReadonlySet<string>;
  readonly #names: ReadonlyMap<string, string>;
  readonly #unusable: () => readonly string[];

  /**
   * @param hidden - Names of the tools that are switched off.
   * @param names - The client's own names for tools, such as the commands of the console. Default: the tools' names.
   * @param unusable - Returns the names of the tools that the image, as far as it is known, cannot serve. Default: none.
   */
  constructor(
    hidden: Iterable<string> = [],
    names: ReadonlyMap<string, string> = new Map(),
    unusable: () => readonly string[] = () => [],
  ) {
    this.#hidden = new Set(hidden);
    this.#names = names;
    this.#unusable = unusable;
  }

  /** The client's name for a tool. */
  nameOf(tool: string): string {
    return this.#names.get(tool) ?? tool;
  }

  offers(name: string): boolean {
    return !this.#hidden.has(name) && !this.#unusable().includes(name);
  }

  /** Whether the client can call every tool that a text names. */
  offersAll(text: string): boolean {
    return !this.#namesHidden(text);
  }

  /**
   * Removes the sentences that name a tool that is switched off or that the image cannot serve, and puts the client's names for the others. For text that this server wrote, not
   * for Lisp's output.
   */
  advise(text: string): string {
    if (!this.#namesHidden(text)) return this.#renamed(text);
    const paragraphs = text.split("\n\n").map((paragraph) => this.#keptOf(paragraph));
    return this.#renamed(paragraphs.filter((paragraph) => paragraph !== "").join("\n\n"));
  }

  /** As `advise`, but if no sentence is left, the result says why there is no advice. */
  advice(text: string): string {
    const isOff = [...this.#hidden].some((name) => namesTool(text, name));
    return this.advise(text) || (isOff ? NO_ADVICE : NO_USABLE_ADVICE);
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
    return [...this.#hidden, ...this.#unusable()].some((name) => namesTool(text, name));
  }
}

export const EVERY_TOOL = new ToolGuide();

/** Whether a text names a tool. `debugger_frames_x` does not name `debugger_frames`, and `asdf:load-system` is a function. */
function namesTool(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const isWord = /[\w:-]/.test(text[at - 1] ?? " ") || /[\w-]/.test(text[at + name.length] ?? " ");
    if (!isWord) return true;
  }
  return false;
}
