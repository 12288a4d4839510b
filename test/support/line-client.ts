import { once } from "node:events";
import { PassThrough } from "node:stream";
import { LineTransport, type LineTransportOptions, type Message, OutputQueue } from "swank-mcp";
import { readJsonLines } from "./json-lines.js";

/** A message that the transport wrote: its own answer, or one that the receiver sent. */
export interface Written {
  readonly id?: string | number | null;
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: unknown;
}

/** Both ends of a LineTransport: the client, and a receiver that answers only when the test sends an answer. */
export class LineClient {
  readonly transport: LineTransport;
  readonly output: OutputQueue;
  /** The messages that the receiver got. */
  readonly received: Message[] = [];
  readonly errors: Error[] = [];
  /** The messages read so far. */
  readonly answers: Written[] = [];
  readonly input = new PassThrough();
  readonly #stdout = new PassThrough({ highWaterMark: 1 });
  #hasEnded = false;

  constructor(options: Partial<LineTransportOptions> = {}) {
    this.output = new OutputQueue(this.#stdout);
    this.transport = new LineTransport({
      input: this.input,
      output: this.output,
      maxLine: 1_000_000,
      isKnown: () => true,
      onEnd: () => {
        this.#hasEnded = true;
      },
      ...options,
    });
    this.transport.onmessage = (message) => this.received.push(message);
    this.transport.onerror = (error) => this.errors.push(error);
    void this.transport.start();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Writes a text in chunks of `chunkSize` bytes. */
  write(text: string, chunkSize = Number.POSITIVE_INFINITY): void {
    const bytes = Buffer.from(text);
    const size = Math.min(chunkSize, bytes.length);
    for (let start = 0; start < bytes.length; start += size) this.input.write(bytes.subarray(start, start + size));
  }

  /** Starts reading the transport's output. */
  read(): void {
    if (this.#stdout.listenerCount("data") > 0) return;
    readJsonLines<Written>(this.#stdout, (message) => this.answers.push(message));
  }

  /** Ends the input and waits until the whole output has been read. */
  async end(): Promise<void> {
    this.read();
    await this.endInput();
    await this.output.drain(() => 10_000);
    const read = once(this.#stdout, "end");
    this.#stdout.end();
    await read;
  }

  async endInput(): Promise<void> {
    if (this.#hasEnded) return;
    const ended = once(this.input, "end");
    this.input.end();
    await ended;
  }

  /** Breaks the output, as when the client disconnects. */
  breakOutput(): void {
    this.#stdout.on("error", () => undefined).destroy(new Error("broken"));
  }
}

/** Returns the transport's own answers to a text. */
export async function answersTo(text: string, options: Partial<LineTransportOptions> = {}): Promise<Written[]> {
  const client = new LineClient(options);
  client.write(text);
  await client.end();
  return client.answers;
}
