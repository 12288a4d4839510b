import type { Interface } from "node:readline";
import type { ConsoleCommand } from "./commands.js";
import { continuationPrompt } from "./prompt.js";
import { type Entry, readEntry } from "./read-entry.js";

/** The terminal's output. */
export interface Screen {
  write(text: string): void;
}

/** Joins lines into entries. Entries that come early are queued. */
export class EntryReader {
  readonly #lines: Interface;
  /** Absent without a terminal: no prompts are shown. */
  readonly #screen: Screen | undefined;
  readonly #commands: readonly ConsoleCommand[];
  readonly #entries: Entry[] = [];
  /** The lines of an unfinished entry. */
  #text = "";
  #atEnd: Entry | undefined;
  #prompt = "";
  #ended = false;
  #wake: () => void = () => {};

  /** @param commands - The commands that the user can type. */
  constructor(lines: Interface, screen: Screen | undefined, commands: readonly ConsoleCommand[]) {
    this.#lines = lines;
    this.#commands = commands;
    this.#screen = screen;
    lines.on("line", (line) => this.#take(line));
    lines.on("close", () => this.#end());
  }

  /** Whether an entry was entered that `next` has not returned. */
  get hasNext(): boolean {
    return this.#entries.length > 0;
  }

  /** Returns the next entry; shows the prompt in a terminal. `undefined` at the end of the input. */
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

  /** Drops the typed part of an entry, and shows the prompt again. */
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
    const entry = readEntry(this.#text, this.#commands);
    if (entry.kind === "unfinished") {
      this.#atEnd = entry.atEnd;
      this.#show(continuationPrompt(this.#prompt));
    } else this.#put(entry);
  }

  /** Ends the input. An unfinished entry counts only without a terminal: a user who leaves in the middle of an entry drops it. */
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
