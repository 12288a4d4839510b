import type { OutputStream } from "../image/lisp-port.js";

/** Most texts that are kept, and most characters of all of them. A single text is kept even if it is longer. */
const MAX_TEXTS = 8;
const MAX_CHARACTERS = 8_000_000;

/** Output of an evaluation that its report has cut. */
export interface KeptOutput {
  readonly stream: OutputStream;
  readonly text: string;
}

/** The latest outputs that reports have cut, so that an agent can read on without running anything again. */
export class KeptOutputs {
  /** By id, oldest first. */
  readonly #kept = new Map<number, KeptOutput>();
  #lastId = 0;

  /** Returns the output's id, which is not used again. */
  keep(output: KeptOutput): number {
    this.#lastId += 1;
    this.#kept.set(this.#lastId, output);
    for (const oldest of this.#kept.keys()) {
      if (this.#fits()) break;
      this.#kept.delete(oldest);
    }
    return this.#lastId;
  }

  find(id: number): KeptOutput | undefined {
    return this.#kept.get(id);
  }

  #fits(): boolean {
    const characters = [...this.#kept.values()].reduce((sum, { text }) => sum + text.length, 0);
    return this.#kept.size === 1 || (this.#kept.size <= MAX_TEXTS && characters <= MAX_CHARACTERS);
  }
}
