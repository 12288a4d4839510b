/** A terminal's number of lines, and of characters in each. */
export interface ScreenSize {
  readonly rows: number;
  readonly columns: number;
}

/** Shows a text in place of the one before. Texts are cut to the screen, since a terminal cannot take back what it has scrolled. */
export class LiveView {
  readonly #title: string;
  readonly #size: () => ScreenSize;
  readonly #write: (text: string) => void;
  #shownLines = 0;

  /** @param seconds - The time between two texts. */
  constructor(title: string, seconds: number, size: () => ScreenSize, write: (text: string) => void) {
    this.#title = `${title.replaceAll(/\s+/g, " ")} (every ${seconds === 1 ? "second" : `${seconds} seconds`}; Ctrl-C ends)`;
    this.#size = size;
    this.#write = write;
  }

  /** Shows as much of the text as the screen has room for. */
  show(text: string): void {
    const { rows, columns } = this.#size();
    const lines = [this.#title, ...text.split("\n")];
    // The last line stays free for the cursor, and the last column, where terminals differ.
    const room = Math.max(rows - 1, 2);
    const cut = lines.length > room ? [...lines.slice(0, room - 1), `(${lines.length - room + 1} more lines)`] : lines;
    this.#replace(cut.map((line) => `${withoutControls(line).slice(0, columns - 1)}\n`).join(""));
    this.#shownLines = cut.length;
  }

  /** Shows the whole of the last text. */
  end(text: string): void {
    this.#replace(`${this.#title}\n${text}\n`);
  }

  #replace(text: string): void {
    this.#write(this.#shownLines === 0 ? text : `\u001b[${this.#shownLines}A\r\u001b[J${text}`);
  }
}

/** Tabs and escape sequences would move the cursor. */
function withoutControls(line: string): string {
  return line.replaceAll("\t", "    ").replaceAll(/\p{Cc}/gu, "?");
}
