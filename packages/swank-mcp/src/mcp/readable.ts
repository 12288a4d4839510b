import type { types } from "swank-client";
import type { ToolGuide } from "../base/answer.js";
import { settledWithin } from "../base/lifetime.js";
import { conditionText, heading, lastErrorText, NO_ERROR, packageLine, placeName } from "../report/stop.js";
import type { AgentSession } from "../session/agent.js";
import type { LispSession } from "../session/image.js";
import type { DebuggedStop } from "../session/lisp-port.js";
import { cutName, cutTexts, firstOf, more } from "../text/cut.js";
import { definitionsBlocks } from "../tools/list-definitions.js";

/** What a client can read of its agent beside answers. */
export type Readable = "stops" | "last-error" | "definitions";

/** Milliseconds within which several changes are told as one. */
const TOGETHER = 100;

/** Tells what has changed of what a client can read. Asks Lisp nothing, and opens no image. */
export class ReadableChanges {
  readonly #listener: (changed: Readable) => void;
  readonly #changed = new Set<Readable>();
  readonly #ends: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #state: "beginning" | "listening" | "closed" = "beginning";

  constructor({ host, lastError }: AgentSession, listener: (changed: Readable) => void) {
    this.#listener = listener;
    this.#ends.push(
      lastError.onChange(() => this.#note("last-error")),
      host.onSession((session) => this.#watch(session)),
    );
    this.#state = "listening";
  }

  close(): void {
    this.#state = "closed";
    for (const end of this.#ends.splice(0)) end();
    clearTimeout(this.#timer);
    this.#changed.clear();
  }

  #watch({ client }: LispSession): void {
    this.#noteAll();
    for (const stop of client.stops) this.#watchStop(stop);
    this.#ends.push(
      client.on("stop", (stop) => this.#watchStop(stop)),
      client.on("sessionForm", (form) => isDefining(form) && this.#note("definitions")),
    );
    void client.closed.then(() => this.#noteAll());
  }

  #watchStop(stop: DebuggedStop): void {
    this.#note("stops");
    stop.ended.addEventListener("abort", () => this.#note("stops"), { once: true });
  }

  #noteAll(): void {
    this.#note("stops");
    this.#note("definitions");
  }

  #note(changed: Readable): void {
    if (this.#state !== "listening") return;
    this.#changed.add(changed);
    this.#timer ??= setTimeout(() => this.#tell(), TOGETHER).unref();
  }

  #tell(): void {
    this.#timer = undefined;
    const told = [...this.#changed];
    this.#changed.clear();
    for (const changed of told) this.#listener(changed);
  }
}

function isDefining({ kind, loaded }: types.SessionForm): boolean {
  return kind !== "effects" || loaded.length > 0;
}

/** Most stops of which everything is said, and characters of all. */
const MAX_WHOLE = 8;

const MAX_TEXT = 30_000;

/** The stopped threads with their conditions, restarts and innermost frames, as a person reads them. */
export function stopsText(stops: readonly DebuggedStop[], guide: ToolGuide): string {
  if (stops.length === 0) return "No thread is stopped.";
  const { shown, left } = firstOf([...stops].reverse(), MAX_WHOLE);
  const count = stops.length === 1 ? "1 thread is stopped." : `${stops.length} threads are stopped, the latest first.`;
  const texts = shown.map((stop) => stopText(stop, guide));
  return cutTexts([count, ...texts, ...(left > 0 ? [more(left, "stop")] : [])], MAX_TEXT).join("\n\n");
}

/** Of a stop in another client's debugger, little is known before somebody looks at it. */
function stopText(stop: DebuggedStop, guide: ToolGuide): string {
  const { condition, owner } = stop;
  const about = owner === undefined ? [conditionText(condition), ...packageLine(condition)] : [heading(condition)];
  return [stopHeading(stop), ...about, ...advice(stop, guide)].join("\n\n");
}

const REASONS: Readonly<Record<types.StopReason, string>> = {
  error: "stopped with an error",
  break: "called BREAK",
  breakpoint: "reached a breakpoint",
  step: "is stepped",
  interrupt: "was interrupted",
};

function stopHeading(stop: DebuggedStop): string {
  const { reason, owner, data } = stop;
  const name = data.threadName === undefined ? "" : ` (${cutName(data.threadName)})`;
  const how = owner === undefined ? REASONS[reason] : `is stopped in ${owner.text}`;
  return `Thread ${placeName(stop)}${name} ${how}.`;
}

function advice(stop: DebuggedStop, guide: ToolGuide): readonly string[] {
  const text = guide.advise(
    `debugger_frames with thread "${placeName(stop)}" shows its frames with their variables. debugger_invoke_restart invokes a restart.`,
  );
  return text === "" ? [] : [text];
}

const ANSWER_TIME = 5000;

const NO_IMAGE = "There is no Lisp image: nothing has needed one yet, or it has ended.";

const UNANSWERED = "The image does not answer.";

/** The text that a client reads. Changes nothing, launches no image, and asks nobody. */
export function readText(what: Readable, agent: AgentSession, guide: ToolGuide): Promise<string> {
  switch (what) {
    case "stops":
      return withImage(agent, (session) => stopsIn(session, agent, guide));
    case "last-error":
      return Promise.resolve(errorText(agent, guide));
    case "definitions":
      return withImage(agent, definitionsIn);
  }
}

/** The error is kept after its image. */
function errorText({ lastError }: AgentSession, guide: ToolGuide): string {
  const error = lastError.current;
  return error === undefined ? NO_ERROR : [lastErrorText(error, guide), ...packageLine(error)].join("\n\n");
}

async function withImage({ host }: AgentSession, read: (session: LispSession) => Promise<string>): Promise<string> {
  const { state } = host;
  if (state.kind === "open") return read(state.session);
  return state.kind === "connecting" ? "The Lisp image is not ready yet." : NO_IMAGE;
}

/** The stops of this agent and, if the image answers, of others. */
async function stopsIn(session: LispSession, agent: AgentSession, guide: ToolGuide): Promise<string> {
  const own = agent.stopsIn(session).filter(({ isLive }) => isLive);
  const others = await answered(session.client.foreignStops());
  if (others === undefined)
    return [stopsText(own, guide), `${UNANSWERED} Other clients' stops are not known.`].join("\n\n");
  return stopsText([...others, ...own], guide);
}

async function definitionsIn({ client }: LispSession): Promise<string> {
  const all = await answered(client.definitions());
  return all === undefined
    ? `${UNANSWERED} What it has defined is not known.`
    : definitionsBlocks(all, undefined).join("\n\n");
}

/** `undefined` if the image does not answer in time, or its connection ends. */
async function answered<T>(answer: Promise<T>): Promise<T | undefined> {
  return (await settledWithin(ANSWER_TIME, answer).catch(() => undefined))?.value;
}
