import { textSection } from "../format/sections.js";
import type { OutputStream } from "../lisp-port.js";

/** Shows what an evaluation prints as it comes, in the sections of the report that follows; that then shows only the rest. */
export class LiveOutput {
  readonly #write: (text: string) => void;
  readonly #shown: Record<OutputStream, string> = { stdout: "", stderr: "" };
  #stream: OutputStream | undefined;
  #endsLine = true;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** @param stream - Absent for what is not the evaluation's. */
  add(text: string, stream: OutputStream | undefined): void {
    if (stream === undefined || text === "") return;
    if (stream !== this.#stream) this.#write(`${this.#gap()}[${stream}]\n`);
    this.#stream = stream;
    this.#shown[stream] += text;
    this.#endsLine = text.endsWith("\n");
    this.#write(text);
  }

  /** Shows an answer without what has been shown; a section of which the report keeps only parts is shown again, with its marks. */
  finish(answer: string): void {
    const rest = (["stdout", "stderr"] as const).reduce((text, stream) => this.#without(stream, text), answer);
    this.#write(`${this.#gap()}${rest}\n`);
  }

  #without(stream: OutputStream, text: string): string {
    const [section] = textSection(stream, this.#shown[stream]);
    return section !== undefined && text.startsWith(`${section}\n\n`) ? text.slice(section.length + 2) : text;
  }

  /** Sections stand a line apart. */
  #gap(): string {
    if (this.#stream === undefined) return "";
    return this.#endsLine ? "\n" : "\n\n";
  }
}
