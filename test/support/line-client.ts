import { once } from "node:events";
import { StdioLines } from "#swank-mcp/mcp/stdio-lines.js";

/** An answer to a line that was not passed on. */
export interface Refused {
  readonly id?: string | number | null | undefined;
  readonly error?: unknown;
}

/** The writing end of a StdioLines, with what comes out of it. */
export class LineClient {
  /** The messages that were passed on. */
  readonly received: unknown[] = [];
  readonly answers: Refused[] = [];
  readonly errors: Error[] = [];
  readonly #lines: StdioLines;
  readonly #ended: Promise<unknown>;

  constructor(maxLine = 1_000_000) {
    const ended = new EventTarget();
    this.#ended = once(ended, "end");
    this.#lines = new StdioLines(maxLine, {
      onBad: (answer) => this.answers.push(answer),
      onNotJson: () => undefined,
      onError: (error) => this.errors.push(error),
      onEnd: () => ended.dispatchEvent(new Event("end")),
      mustWait: () => false,
    });
    this.#lines.on("data", (line: Buffer) => this.received.push(JSON.parse(line.toString())));
  }

  /** Writes a text in chunks of `chunkSize` bytes. */
  write(text: string, chunkSize = Number.POSITIVE_INFINITY): void {
    const bytes = Buffer.from(text);
    const size = Math.min(chunkSize, bytes.length);
    for (let start = 0; start < bytes.length; start += size) this.#lines.write(bytes.subarray(start, start + size));
  }

  /** Ends the input and waits until it has been read. */
  async end(): Promise<void> {
    this.#lines.end();
    await this.#ended;
  }
}

/** Returns the answers to a text. */
export async function answersTo(text: string, maxLine?: number): Promise<Refused[]> {
  const client = new LineClient(maxLine);
  client.write(text);
  await client.end();
  return client.answers;
}
