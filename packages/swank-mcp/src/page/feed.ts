import { randomBytes } from "node:crypto";
import type { Writable } from "node:stream";
import type { PageAgent, PageCall, PageEvent, PageImage, PageQuestion, PageState, PageStop } from "./model.js";

/** Most calls that are listed. */
const MAX_CALLS = 1000;

/** Most events that are kept for a page that reconnects, and most characters of them. */
const MAX_EVENTS = 2000;

const MAX_CHARACTERS = 4_000_000;

/** Characters that are kept of what a call has printed. */
const MAX_OUTPUT = 2000;

/** Milliseconds for which output is collected. */
const OUTPUT_INTERVAL = 50;

/** Milliseconds without a reader after which nobody watches. */
const GRACE = 30_000;

/** Milliseconds after which a comment shows that the connection is alive, and after which a lost page connects again. */
const KEEP_ALIVE = 15_000;

const RETRY = 500;

/** Most pages at a time. */
const MAX_READERS = 64;

/** A page. */
interface Reader {
  readonly stream: Writable;
  /** The number of the last event that was sent; -1 for none. */
  position: number;
}

/** A call as it is published: without output, it keeps that which was published. */
export type PublishedCall = Omit<PageCall, "output"> & Partial<Pick<PageCall, "output">>;

/** What the page shows, and the events that change it, for any number of readers. */
export class Feed {
  readonly #server: PageState["server"];
  readonly #grace: number;
  #image: PageImage = { state: "none" };
  readonly #agents = new Map<string, PageAgent>();
  readonly #calls = new Map<string, PageCall>();
  #forgotten = 0;
  #stops: readonly PageStop[] = [];
  readonly #questions = new Map<number, PageQuestion>();
  /** Output of calls that is not published yet: the end of it. */
  readonly #output = new Map<string, string>();
  #outputTimer: NodeJS.Timeout | undefined;

  /** The latest events, as they are sent. The last one has the number `#last`. */
  readonly #events: string[] = [];
  #characters = 0;
  #last = 0;

  readonly #readers = new Set<Reader>();
  readonly #watchListeners = new Set<(isWatched: boolean) => void>();
  #isWatched = false;
  #isClosed = false;
  #graceTimer: NodeJS.Timeout | undefined;
  #keepAlive: NodeJS.Timeout | undefined;

  /** @param grace - Milliseconds without a reader after which nobody watches. */
  constructor(server: Omit<PageState["server"], "epoch">, grace = GRACE) {
    this.#grace = grace;
    this.#server = { ...server, epoch: randomBytes(6).toString("hex") };
  }

  get state(): PageState {
    this.#publishOutput();
    return {
      server: this.#server,
      image: this.#image,
      agents: [...this.#agents.values()],
      calls: [...this.#calls.values()],
      forgotten: this.#forgotten,
      stops: this.#stops,
      questions: [...this.#questions.values()],
    };
  }

  image(image: PageImage): void {
    this.#image = image;
    this.#publish({ type: "image", image });
  }

  agent(agent: PageAgent): void {
    this.#agents.set(agent.id, agent);
    this.#publish({ type: "agent", agent });
  }

  agentGone(id: string): void {
    if (this.#agents.delete(id)) this.#publish({ type: "agent-gone", id });
  }

  call(published: PublishedCall): void {
    this.#publishOutput(published.id);
    const { output = this.#calls.get(published.id)?.output ?? "" } = published;
    const call = { ...published, output };
    this.#calls.set(call.id, call);
    if (this.#calls.size > MAX_CALLS) this.#forgetCall();
    this.#publish({ type: "call", call });
  }

  /** Adds what a call has printed. */
  output(call: string, text: string): void {
    if (!this.#calls.has(call)) return;
    const output = (this.#output.get(call) ?? "") + text;
    this.#output.set(call, output.length > 2 * MAX_OUTPUT ? output.slice(-MAX_OUTPUT) : output);
    if (this.#isWatched) this.#outputTimer ??= setTimeout(() => this.#publishOutput(), OUTPUT_INTERVAL).unref();
  }

  stops(stops: readonly PageStop[]): void {
    this.#stops = stops;
    this.#publish({ type: "stops", stops });
  }

  question(question: PageQuestion): void {
    this.#questions.set(question.number, question);
    this.#publish({ type: "question", question });
  }

  questionGone(number: number, how: string): void {
    if (this.#questions.delete(number)) this.#publish({ type: "question-gone", number, how });
  }

  /** Whether somebody watches, or has within the last 30 s. */
  get isWatched(): boolean {
    return this.#isWatched;
  }

  /** Calls the listener when that changes. */
  onWatch(listener: (isWatched: boolean) => void): void {
    this.#watchListeners.add(listener);
  }

  /** Whether there are too many readers. */
  get isFull(): boolean {
    return this.#readers.size >= MAX_READERS;
  }

  /**
   * Sends events to a reader until either ends: those after the one that it has seen last or, if they are not kept, the whole state. A reader that
   * is too slow for the events gets the state instead of those that it misses.
   *
   * @param lastId - The id of that event.
   */
  send(stream: Writable, lastId?: string): void {
    if (this.#isClosed) return void stream.end();
    const reader = { stream, position: this.#positionOf(lastId) };
    this.#readers.add(reader);
    this.#watch();
    stream.on("drain", () => this.#pump(reader));
    stream.once("close", () => this.#leave(reader));
    stream.write(`retry: ${RETRY}\n\n`);
    this.#pump(reader);
  }

  /** Ends all readers. */
  close(): void {
    this.#isClosed = true;
    for (const timer of [this.#outputTimer, this.#graceTimer, this.#keepAlive]) clearTimeout(timer);
    for (const { stream } of this.#readers) stream.end();
    this.#readers.clear();
  }

  #watch(): void {
    clearTimeout(this.#graceTimer);
    this.#keepAlive ??= setInterval(() => this.#write(": alive\n\n"), KEEP_ALIVE).unref();
    if (!this.#isWatched) this.#setWatched(true);
  }

  #leave(reader: Reader): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return;
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
    this.#graceTimer = setTimeout(() => this.#setWatched(false), this.#grace).unref();
  }

  #setWatched(isWatched: boolean): void {
    this.#isWatched = isWatched;
    if (!isWatched) this.#dropEvents();
    for (const listener of this.#watchListeners) listener(isWatched);
  }

  /** Writes to all readers that take what they get. */
  #write(text: string): void {
    for (const { stream } of this.#readers) if (!stream.writableNeedDrain) stream.write(text);
  }

  #positionOf(lastId = ""): number {
    const [epoch, number] = lastId.split("-", 2);
    return epoch === this.#server.epoch && /^\d{1,15}$/.test(number ?? "") && Number(number) <= this.#last
      ? Number(number)
      : -1;
  }

  /** Sends a reader what it has not got, as long as it takes that. */
  #pump(reader: Reader): void {
    const { stream } = reader;
    while (reader.position < this.#last || reader.position < 0) {
      if (stream.destroyed || stream.writableNeedDrain) return;
      const event = this.#events.at(reader.position - this.#last);
      const isKept = reader.position >= this.#last - this.#events.length;
      if (isKept && event !== undefined) reader.position += 1;
      const text = isKept && event !== undefined ? event : this.#stateText(reader);
      stream.write(text);
    }
  }

  #stateText(reader: Reader): string {
    // The state has the output that is published now.
    reader.position = Number.POSITIVE_INFINITY;
    const { state } = this;
    reader.position = this.#last;
    return this.#textOf({ type: "state", state });
  }

  #textOf(event: PageEvent): string {
    return `id: ${this.#server.epoch}-${this.#last}\ndata: ${JSON.stringify(event)}\n\n`;
  }

  #publish(event: PageEvent): void {
    this.#last += 1;
    // While nobody watches, the state is enough.
    if (!this.#isWatched) return;
    const text = this.#textOf(event);
    this.#events.push(text);
    this.#characters += text.length;
    while (this.#events.length > MAX_EVENTS || this.#characters > MAX_CHARACTERS)
      this.#characters -= this.#events.shift()?.length ?? 0;
    for (const reader of this.#readers) this.#pump(reader);
  }

  #dropEvents(): void {
    this.#events.length = 0;
    this.#characters = 0;
  }

  /** Publishes the output that has been collected, of one call or all. */
  #publishOutput(only?: string): void {
    if (only === undefined) {
      clearTimeout(this.#outputTimer);
      this.#outputTimer = undefined;
    }
    for (const id of only === undefined ? [...this.#output.keys()] : [only]) {
      const text = this.#output.get(id)?.slice(-MAX_OUTPUT);
      this.#output.delete(id);
      const known = this.#calls.get(id);
      if (text === undefined || known === undefined) continue;
      this.#calls.set(id, { ...known, output: (known.output + text).slice(-MAX_OUTPUT) });
      this.#publish({ type: "output", call: id, text });
    }
  }

  /** Forgets the oldest call that has ended, or the oldest of all. */
  #forgetCall(): void {
    const [oldest] = this.#calls.values();
    const ended =
      oldest?.ended === undefined ? [...this.#calls.values()].find((call) => call.ended !== undefined) : oldest;
    const forgotten = (ended ?? oldest)?.id;
    if (forgotten === undefined) return;
    this.#calls.delete(forgotten);
    this.#output.delete(forgotten);
    this.#forgotten += 1;
  }
}
