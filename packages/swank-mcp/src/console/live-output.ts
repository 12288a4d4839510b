import { textSection } from "../format/sections.js";
import type { OutputStream } from "../image/lisp-port.js";

/** Shows an evaluation's output as it comes, in the report's sections. The report then omits the output already shown. */
export class LiveOutput {
  readonly #write: (text: string) => void;
  readonly #shown: Record<OutputStream, string> = { stdout: "", stderr: "" };
  #stream: OutputStream | undefined;
  #endsLine = true;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** @param stream - Absent for text that is not the evaluation's output. */
  add(text: string, stream: OutputStream | undefined): void {
    if (stream === undefined || text === "") return;
    if (stream !== this.#stream) this.#write(`${this.#gap()}[${stream}]\n`);
    this.#stream = stream;
    this.#shown[stream] += text;
    this.#endsLine = text.endsWith("\n");
    this.#write(text);
  }

  /** Shows an answer without the output already shown. A section that the report has cut is shown again, with its marks. */
  finish(answer: string): void {
    const rest = (["stdout", "stderr"] as const).reduce((text, stream) => this.#without(stream, text), answer);
    if (rest !== "") this.#write(`${this.#gap()}${rest}\n`);
    else if (!this.#endsLine) this.#write("\n");
  }

  #without(stream: OutputStream, text: string): string {
    const [section] = textSection(stream, this.#shown[stream]);
    if (section === undefined) return text;
    if (text === section) return "";
    return text.startsWith(`${section}\n\n`) ? text.slice(section.length + 2) : text;
  }

  /** The blank line between sections. */
  #gap(): string {
    if (this.#stream === undefined) return "";
    return this.#endsLine ? "\n" : "\n\n";
  }
}
