import type { Interface } from "node:readline";
import { continuationPrompt } from "./prompt.js";
import { type Entry, readEntry } from "./read-entry.js";

/** What a person reads. */
export interface Screen {
  write(text: string): void;
}

/** Puts lines together to entries; those that come before they are wanted wait. */
export class EntryReader {
  readonly #lines: Interface;
  /** Absent when nobody sees prompts. */
  readonly #screen: Screen | undefined;
  readonly #entries: Entry[] = [];
  /** Lines of an entry that is not finished. */
  #text = "";
  #atEnd: Entry | undefined;
  #prompt = "";
  #ended = false;
  #wake: () => void = () => {};

  constructor(lines: Interface, screen: Screen | undefined) {
    this.#lines = lines;
    this.#screen = screen;
    lines.on("line", (line) => this.#take(line));
    lines.on("close", () => this.#end());
  }

  /** The next entry, prompted for in a terminal; `undefined` at the end of the input. */
  async next(prompt: string): Promise<Entry | undefined> {
    this.#prompt = prompt;
    if (this.#entries.length === 0 && !this.#ended) {
      this.#show(this.#text === "" ? prompt : continuationPrompt(prompt));
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#entries.shift();
  }

  /** Drops what has been typed of an entry, and prompts anew. */
  clear(): void {
    this.#text = "";
    this.#atEnd = undefined;
    this.#lines.write(null, { ctrl: true, name: "e" });
    this.#screen?.write("^C\n");
    this.#lines.setPrompt(this.#prompt);
    this.#lines.write(null, { ctrl: true, name: "u" });
    this.#show(this.#prompt);
  }

  #take(line: string): void {
    this.#text = this.#text === "" ? line : `${this.#text}\n${line}`;
    const entry = readEntry(this.#text);
    if (entry.kind === "unfinished") {
      this.#atEnd = entry.atEnd;
      this.#show(continuationPrompt(this.#prompt));
    } else this.#put(entry);
  }

  /** Who leaves a terminal in the middle of an entry does not want it. */
  #end(): void {
    this.#ended = true;
    if (this.#atEnd !== undefined && this.#screen === undefined) this.#put(this.#atEnd);
    this.#wake();
  }

  #put(entry: Entry): void {
    this.#text = "";
    this.#atEnd = undefined;
    this.#entries.push(entry);
    this.#wake();
  }

  #show(prompt: string): void {
    if (this.#screen === undefined || this.#ended) return;
    this.#lines.setPrompt(prompt);
    this.#lines.prompt(true);
  }
}
