/** A terminal's escape sequence: its numbers, and the letter of its action. */
const ESCAPE = /^\[([\d;?]*)([A-Za-z])/;
const ESC = "\u001b";

/** A terminal's text. Supports only the cursor movements and erasures that readline uses; lines have no maximum length. */
export class Screen {
  readonly #lines: string[] = [""];
  #row = 0;
  #column = 0;
  #rest = "";

  get text(): string {
    return this.#lines.join("\n");
  }

  write(text: string): void {
    this.#rest += text;
    while (this.#rest !== "" && !isPartOfEscape(this.#rest)) this.#rest = this.#rest.slice(this.#take(this.#rest));
  }

  /** Processes the first character or escape sequence. => its length */
  #take(text: string): number {
    const [sequence, number = "", action = ""] = text.startsWith(ESC) ? (ESCAPE.exec(text.slice(1)) ?? []) : [];
    if (sequence !== undefined) {
      this.#obey(action, Number(number));
      return sequence.length + 1;
    }
    const [character = ""] = text;
    this.#put(character);
    return character.length;
  }

  #put(character: string): void {
    if (character === "\r") this.#column = 0;
    else if (character === "\n") this.#moveTo(this.#row + 1);
    else if (character !== "\x07") {
      const line = this.#line().padEnd(this.#column);
      this.#lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1);
      this.#column += 1;
    }
  }

  #obey(action: string, number: number): void {
    if (action === "G") this.#column = Math.max(number, 1) - 1;
    else if (action === "A") this.#moveTo(this.#row - Math.max(number, 1));
    else if (action === "C") this.#column += Math.max(number, 1);
    else if (action === "D") this.#column = Math.max(this.#column - Math.max(number, 1), 0);
    else if (action === "J" || action === "K") this.#eraseRest(action === "J");
  }

  #eraseRest(below: boolean): void {
    this.#lines[this.#row] = this.#line().slice(0, this.#column);
    if (below) this.#lines.length = this.#row + 1;
  }

  #moveTo(row: number): void {
    this.#row = Math.max(row, 0);
    while (this.#lines.length <= this.#row) this.#lines.push("");
  }

  #line(): string {
    return this.#lines[this.#row] ?? "";
  }
}

/** Returns whether the text is an incomplete escape sequence. */
function isPartOfEscape(text: string): boolean {
  return text.startsWith(ESC) && /^(?:\[[\d;?]*)?$/.test(text.slice(1));
}
