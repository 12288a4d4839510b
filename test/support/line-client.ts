import { once } from "node:events";
import { PassThrough } from "node:stream";
import { LineTransport, type LineTransportOptions, type Message, OutputQueue } from "swank-mcp";

/** What the transport wrote: an answer of its own, or a message that was sent through it. */
export interface Written {
  readonly id?: string | number | null;
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: unknown;
}

/** The client's end of a LineTransport, and the receiver at its other end, which answers nothing by itself. */
export class LineClient {
  readonly transport: LineTransport;
  readonly output: OutputQueue;
  /** What the receiver got. */
  readonly received: Message[] = [];
  readonly errors: Error[] = [];
  readonly input = new PassThrough();
  readonly #stdout = new PassThrough({ highWaterMark: 1 });
  #text = "";
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

  /** Writes a text in chunks of so many bytes. */
  write(text: string, chunkSize = Number.POSITIVE_INFINITY): void {
    const bytes = Buffer.from(text);
    const size = Math.min(chunkSize, bytes.length);
    for (let start = 0; start < bytes.length; start += size) this.input.write(bytes.subarray(start, start + size));
  }

  /** Begins to read what the transport writes. */
  read(): void {
    if (this.#stdout.listenerCount("data") > 0) return;
    this.#stdout.on("data", (chunk: Buffer) => {
      this.#text += chunk.toString();
    });
  }

  /** Ends the input, and waits until everything that was written has been read. */
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

  /** The client goes away. */
  breakOutput(): void {
    this.#stdout.on("error", () => undefined).destroy(new Error("broken"));
  }

  get answers(): Written[] {
    return this.#text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }
}

/** What the transport itself answers to a text. */
export async function answersTo(text: string, options: Partial<LineTransportOptions> = {}): Promise<Written[]> {
  const client = new LineClient(options);
  client.write(text);
  await client.end();
  return client.answers;
}
