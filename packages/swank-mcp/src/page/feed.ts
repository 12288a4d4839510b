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

/** Milliseconds for which changes are collected: an agent may make hundreds of calls a second. */
const INTERVAL = 50;

/** Milliseconds without a reader after which nobody watches. */
const GRACE = 30_000;

/** Milliseconds after which a comment shows that the connection is alive, and after which a lost page connects again. */
const KEEP_ALIVE = 15_000;

const RETRY = 500;

/** Most events that are written at a time. */
const AT_ONCE = 20;

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
  /** Output of calls that is not in the list yet: the end of it. */
  readonly #output = new Map<string, string>();
  /** The changes that are not published yet, by what they are about. Only the last one about a thing counts. */
  readonly #changes = new Map<string, () => PageEvent | undefined>();
  #changesTimer: NodeJS.Timeout | undefined;
  /** The agents as they were published, as JSON. */
  readonly #told = new Map<string, string>();

  /** The latest events, as they are sent. The last one has the number `#last`. */
  readonly #events: string[] = [];
  #characters = 0;
  #last = 0;

  readonly #readers = new Set<Reader>();
  readonly #watchListeners = new Set<(isWatched: boolean) => void>();
  readonly #collectors = new Set<() => void>();
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
    this.#publishChanges();
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
    this.#change("image", () => ({ type: "image", image }));
  }

  agent(agent: PageAgent): void {
    this.#agents.set(agent.id, agent);
    this.#change(`agent ${agent.id}`, () => this.#newsOf(agent));
  }

  agentGone(id: string): void {
    this.#told.delete(id);
    if (this.#agents.delete(id)) this.#change(`agent ${id}`, () => ({ type: "agent-gone", id }));
  }

  call(published: PublishedCall): void {
    const { id, output = this.#calls.get(id)?.output ?? "" } = published;
    this.#calls.set(id, { ...published, output });
    if (this.#calls.size > MAX_CALLS) this.#forgetCall();
    this.#change(`call ${id}`, () => {
      const call = this.#calls.get(id);
      return call && { type: "call", call };
    });
  }

  /** Adds what a call has printed. */
  output(call: string, text: string): void {
    if (!this.#calls.has(call)) return;
    const output = (this.#output.get(call) ?? "") + text;
    this.#output.set(call, output.length > 2 * MAX_OUTPUT ? output.slice(-MAX_OUTPUT) : output);
    this.publishSoon();
  }

  stops(stops: readonly PageStop[]): void {
    this.#stops = stops;
    this.#change("stops", () => ({ type: "stops", stops }));
  }

  question(question: PageQuestion): void {
    this.#questions.set(question.number, question);
    this.#change(`question ${question.number}`, () => ({ type: "question", question }));
  }

  questionGone(number: number, how: string): void {
    if (this.#questions.delete(number))
      this.#change(`question ${number}`, () => ({ type: "question-gone", number, how }));
  }

  /** Whether somebody watches, or has within the last 30 s. */
  get isWatched(): boolean {
    return this.#isWatched;
  }

  /** Calls the listener when that changes. */
  onWatch(listener: (isWatched: boolean) => void): void {
    this.#watchListeners.add(listener);
  }

  /** Calls the collector of changes before the state is read, or changes are published. */
  collectFrom(collector: () => void): void {
    this.#collectors.add(collector);
  }

  /** Publishes within a moment what is then known, if somebody watches. */
  publishSoon(): void {
    if (this.#isWatched && !this.#isClosed)
      this.#changesTimer ??= setTimeout(() => this.#publishChanges(), INTERVAL).unref();
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
    for (const timer of [this.#changesTimer, this.#graceTimer, this.#keepAlive]) clearTimeout(timer);
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
    if (!isWatched) this.#publishChanges();
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
    while ((reader.position < this.#last || reader.position < 0) && !stream.destroyed && !stream.writableNeedDrain)
      stream.write(this.#nextText(reader));
  }

  /** The next events, some at a time, or the state if they are not kept. */
  #nextText(reader: Reader): string {
    const { position } = reader;
    if (position < 0 || position < this.#last - this.#events.length) return this.#stateText(reader);
    const from = this.#events.length + position - this.#last;
    const texts = this.#events.slice(from, from + AT_ONCE);
    reader.position += texts.length;
    return texts.join("");
  }

  #stateText(reader: Reader): string {
    // The state has the changes that are published now.
    reader.position = Number.POSITIVE_INFINITY;
    const { state } = this;
    reader.position = this.#last;
    return this.#textOf({ type: "state", state });
  }

  #textOf(event: PageEvent): string {
    return `id: ${this.#server.epoch}-${this.#last}\ndata: ${JSON.stringify(event)}\n\n`;
  }

  #change(about: string, event: () => PageEvent | undefined): void {
    // While nobody watches, the state is enough.
    if (!this.#isWatched) {
      this.#last += 1;
      return;
    }
    this.#changes.set(about, event);
    this.publishSoon();
  }

  #publishChanges(): void {
    for (const collect of this.#collectors) collect();
    this.#takeOutput();
    clearTimeout(this.#changesTimer);
    this.#changesTimer = undefined;
    const changes = [...this.#changes.values()];
    this.#changes.clear();
    for (const change of changes) this.#keep(change());
    if (changes.length > 0) for (const reader of this.#readers) this.#pump(reader);
  }

  /** Adds collected output to the list. The change of a call has its output, too. */
  #takeOutput(): void {
    for (const [id, collected] of this.#output) {
      const known = this.#calls.get(id);
      if (known === undefined) continue;
      const text = collected.slice(-MAX_OUTPUT);
      this.#calls.set(id, { ...known, output: (known.output + text).slice(-MAX_OUTPUT) });
      if (!this.#changes.has(`call ${id}`)) this.#change(`output ${id}`, () => ({ type: "output", call: id, text }));
    }
    this.#output.clear();
  }

  /** The event of an agent, unless it is again as it was published. */
  #newsOf(agent: PageAgent): PageEvent | undefined {
    const text = JSON.stringify(agent);
    if (this.#told.get(agent.id) === text) return undefined;
    this.#told.set(agent.id, text);
    return { type: "agent", agent };
  }

  #keep(event: PageEvent | undefined): void {
    if (event === undefined) return;
    this.#last += 1;
    const text = this.#textOf(event);
    this.#events.push(text);
    this.#characters += text.length;
    while (this.#events.length > MAX_EVENTS || this.#characters > MAX_CHARACTERS)
      this.#characters -= this.#events.shift()?.length ?? 0;
  }

  #dropEvents(): void {
    this.#events.length = 0;
    this.#characters = 0;
    this.#told.clear();
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
