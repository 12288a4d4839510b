import { Transform, type TransformCallback } from "node:stream";
import {
  invalidRequest,
  isId,
  isRequest,
  type Message,
  type MessageId,
  parseError,
  type Response,
  readMessage,
} from "./sent-message.js";

const NEWLINE = 0x0a;

/** Bytes of a line at each end of which its id is looked for, if the line is too long to keep. */
const END_SIZE = 200;

const ID = '"id"\\s*:\\s*(?<id>"(?:[^"\\\\\\n]|\\\\.)*"|-?\\d+)';
const VERSION = '"jsonrpc"\\s*:\\s*"2\\.0"';

/** A request whose id is where clients write it: first or last, beside the version. An answer has no method. */
const ID_FIRST = new RegExp(`^\\s*\\{\\s*(?:${VERSION}\\s*,\\s*)?${ID}\\s*,\\s*"method"`);
const ID_LAST = new RegExp(
  `^\\s*\\{\\s*(?:${VERSION}\\s*,\\s*)?"method"[^]*,\\s*${ID}\\s*(?:,\\s*${VERSION}\\s*)?\\}\\s*$`,
);

export interface LineEvents {
  onBad(answer: Response): void;
  onNotJson(): void;
  onError(error: Error): void;
  onEnd(): void;
  /** Whether the next line must wait, until `proceed` is called: answers to lines that are no messages must not pile up either. */
  mustWait(): boolean;
}

/**
 * Reads the lines of MCP's input, and passes on those that are messages, each as one chunk, as the SDK's transport reads them. That transport copies
 * all earlier chunks of a line for each new one, drops other lines without an answer, and ends running calls at the end of the input: this stream
 * never ends, and `onEnd` says that its input has.
 */
export class StdioLines extends Transform {
  readonly #maxLine: number;
  readonly #events: LineEvents;
  #parts: Buffer[] = [];
  #size = 0;
  #hasMessage = false;
  /** What is not read yet of a chunk, and what asks for the next one. */
  #held: { chunk: Buffer; readonly done: TransformCallback } | undefined;
  #isReading = false;

  constructor(maxLine: number, events: LineEvents) {
    super({ readableObjectMode: true });
    this.#maxLine = maxLine;
    this.#events = events;
  }

  get hasMessage(): boolean {
    return this.#hasMessage;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#held = { chunk, done };
    this.proceed();
  }

  proceed(): void {
    const held = this.#held;
    if (held === undefined || this.#isReading) return;
    this.#isReading = true;
    let end = held.chunk.indexOf(NEWLINE);
    for (; end >= 0 && !this.#events.mustWait(); end = held.chunk.indexOf(NEWLINE)) {
      this.#add(held.chunk.subarray(0, end));
      held.chunk = held.chunk.subarray(end + 1);
      this.#endLine();
    }
    this.#isReading = false;
    if (end >= 0) return;
    this.#add(held.chunk);
    this.#held = undefined;
    held.done();
  }

  override _flush(): void {
    if (this.#size > 0) this.#endLine();
    this.#events.onEnd();
  }

  /** Adds a part of a line. Of a line that is too long, only both ends are kept. */
  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#size += part.length;
    this.#parts.push(part);
    if (this.#size <= this.#maxLine) return;
    const text = Buffer.concat(this.#parts);
    this.#parts = [Buffer.from(text.subarray(0, END_SIZE)), Buffer.from(text.subarray(END_SIZE).subarray(-END_SIZE))];
  }

  #endLine(): void {
    const bytes = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    const size = this.#size;
    this.#parts = [];
    this.#size = 0;
    if (bytes === undefined) return;
    const text = bytes.toString();
    if (size > this.#maxLine) this.#events.onBad(tooLong(bytes, size, this.#maxLine));
    else if (text.trim() !== "") this.#read(text);
  }

  #read(text: string): void {
    const parsed = parsedText(text);
    if ("problem" in parsed) {
      this.#events.onNotJson();
      this.#events.onBad(parseError(parsed.problem));
      return;
    }
    const sent = readMessage(parsed.value);
    if (sent.kind === "bad") this.#events.onBad(sent.answer);
    else if (sent.kind === "stray") this.#events.onError(sent.error);
    else {
      this.#hasMessage = true;
      this.#pass(sent.message);
    }
  }

  #pass(message: Message): void {
    try {
      this.push(Buffer.from(`${JSON.stringify(message)}\n`));
    } catch {
      this.#events.onBad(invalidRequest(isRequest(message) ? message.id : null, "it is nested too deeply."));
    }
  }
}

function parsedText(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** @param ends - The first and the last bytes of the line. */
function tooLong(ends: Buffer, size: number, limit: number): Response {
  const what = `the message has ${size} bytes; the limit is ${limit}.`;
  return invalidRequest(
    idIn(`${ends.subarray(0, END_SIZE)}\n${ends.subarray(END_SIZE)}`),
    `${what} Put large code or data into a file, and send code that loads it.`,
  );
}

function idIn(ends: string): MessageId | null {
  const found = ID_FIRST.exec(ends) ?? ID_LAST.exec(ends);
  const id: unknown = found?.groups?.["id"] === undefined ? undefined : JSON.parse(found.groups["id"]);
  return isId(id) ? id : null;
}
