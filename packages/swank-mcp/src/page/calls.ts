import type { types } from "swank-client";
import * as z from "zod";
import { isJsonObject, type ToolAnswer } from "../base/answer.js";
import { outcomeOf } from "../call/ledger.js";
import type { CallEntry, CallRecorder, RecordedCall } from "../call/recorder.js";
import { OUTCOME_META } from "../report/data.js";
import type { AgentSession } from "../session/agent.js";
import type { DebuggedStop } from "../session/lisp-port.js";
import { cut, cutName, oneLine } from "../text/cut.js";
import { PROFILE_META } from "../tools/profile-code.js";
import { TRACE_META } from "../tools/trace-calls.js";
import type { Feed, PublishedCall } from "./feed.js";
import type { PageAgent, PageCallText } from "./model.js";
import { PageRefusal } from "./reply.js";

/** Most characters of a call's code in the list, and of the first line of its answer. */
const MAX_CODE = 2000;

const MAX_SUMMARY = 200;

/** Most characters of one text of a call, and of all that are kept. */
const MAX_TEXT = 200_000;

const MAX_TEXTS = 8_000_000;

/** Most events of calls that wait to be recorded, and most characters of their texts. */
const MAX_LATE = 128;

const MAX_LATE_SIZE = 1_000_000;

/** Most calls whose texts are kept: those that the list has. */
const MAX_KEPT = 1000;

/** What the list shows of arguments that nothing has checked. */
const sentSchema = z.looseObject({
  code: z.string().optional().catch(undefined),
  package: z.string().optional().catch(undefined),
});

/** The facts of an outcome that the list has. */
const outcomeSchema = z.looseObject({
  status: z.string().optional(),
  values: z.array(z.string()).default([]),
  package: z.string().optional(),
  thread: z.number().optional(),
  level: z.number().optional(),
  error: z.looseObject({ type: z.string(), message: z.string() }).optional().catch(undefined),
});

/** The beginning of the names of the tools that resume a thread, and the argument that names it, if there are several. */
const DEBUGGER = "debugger_";

/** Outcomes that leave no stop. */
const ENDED: readonly string[] = ["returned", "ok"];

const resumedSchema = z.looseObject({ thread: z.string().optional().catch(undefined) });

/** What the list says of a call that was stopped, by the status with which the call ended that resumed it. */
const AFTER_STOP: Readonly<Record<string, Pick<PublishedCall, "outcome" | "isError">>> = {
  returned: { outcome: "returned", isError: false },
  aborted: { outcome: "aborted", isError: true },
  stopped: { outcome: "continued", isError: false },
};

/** The live stop of an agent's own client that has this name. */
function stopNamed({ host }: AgentSession, name: string | undefined): DebuggedStop | undefined {
  const stops = host.state.kind === "open" ? host.state.session.client.stops : [];
  return stops.find(({ thread, level }) => `${thread}/${level}` === name);
}

/** Data of the tools as they were made. */
const profileSchema = z.custom<types.Profile>(
  (data) => z.looseObject({ functions: z.array(z.unknown()) }).safeParse(data).success,
);

const traceSchema = z.custom<types.Trace>(
  (data) => z.looseObject({ threads: z.array(z.unknown()) }).safeParse(data).success,
);

/** A text that says what it leaves out. */
function bounded(text: string): string {
  return cut(text, MAX_TEXT, (left) => ` [... ${left} characters left out ...]`);
}

interface Known {
  readonly id: string;
  readonly agent: AgentSession;
  readonly isYou: boolean;
  running: number;
  asking: number;
  /** Called when the agent is no longer paused, for the calls that wait for that. */
  readonly waiting: Set<() => void>;
  /** Told of the status of an evaluation that has left a stop of the thread, which is known when the call that has resumed it ends. */
  readonly leaving: Map<number, (status: string) => void>;
  /** As it was published. */
  published: PageAgent | undefined;
}

interface CallStart {
  /** Milliseconds since the epoch. */
  readonly begun: number;
  /** Whether the agent was paused then. */
  readonly isPaused: boolean;
}

/** The agents of this server and their calls, as the page shows them. */
export class AgentCalls {
  readonly #feed: Feed;
  readonly #known = new Map<string, Known>();
  readonly #texts = new CallTexts();
  #lastAgent = 0;
  #lastCall = 0;
  /**
   * What calls have done, until somebody looks. An agent waits for each call, but not for these: recorded many at a time, they cost a fraction of the
   * processor time.
   */
  readonly #late: (() => void)[] = [];
  #lateSize = 0;

  constructor(feed: Feed) {
    this.#feed = feed;
    feed.collectFrom(() => this.#catchUp());
    feed.onWatch((isWatched) => {
      if (isWatched) this.refresh();
    });
  }

  /** The agents by `PageAgent.id`. */
  get agents(): ReadonlyMap<string, AgentSession> {
    return new Map([...this.#known].map(([id, { agent }]) => [id, agent]));
  }

  /** Adds an agent. @returns what records its calls */
  add(agent: AgentSession, isYou = false): CallRecorder {
    this.#lastAgent += 1;
    const known: Known = {
      id: `a${this.#lastAgent}`,
      agent,
      isYou,
      running: 0,
      asking: 0,
      waiting: new Set(),
      leaving: new Map(),
      published: undefined,
    };
    this.#known.set(known.id, known);
    this.#publish(known);
    agent.steering.onChange((state) => {
      if (state !== "paused") for (const goOn of known.waiting) goOn();
      this.#publish(known);
    });
    return { begin: (call) => this.#beginSoon(known, call) };
  }

  remove(gone: AgentSession): void {
    this.#catchUp();
    for (const { id, agent } of this.#known.values())
      if (agent === gone) {
        this.#known.delete(id);
        this.#feed.agentGone(id);
      }
  }

  /** Publishes the states of agents that have changed. */
  refresh(): void {
    for (const known of this.#known.values()) this.#publish(known);
  }

  /** The whole of a call. @throws PageRefusal if it is not kept. */
  text(id: string): PageCallText {
    this.#catchUp();
    const text = this.#texts.find(id);
    if (text === undefined) throw new PageRefusal("NO_SUCH_CALL", NOT_KEPT, KEEP_ALL);
    return text;
  }

  /** Records a call soon, and at once what depends on the moment: questions and stops. */
  #beginSoon(known: Known, call: RecordedCall): CallEntry {
    const start = { begun: Date.now(), isPaused: known.agent.steering.state === "paused" };
    let entry: CallEntry | undefined;
    this.#later(() => {
      entry = this.#begin(known, call, start);
    });
    if (start.isPaused) this.#catchUp();
    return {
      output: (text, stream) => this.#later(() => entry?.output?.(text, stream), text.length),
      asked: (request, where) => {
        this.#catchUp();
        return entry?.asked?.(request, where) ?? (() => undefined);
      },
      end: (answer, milliseconds) => {
        this.#later(() => entry?.end(answer, milliseconds), lengthOf(answer.blocks));
        if (!ENDED.includes(outcomeOf(answer)) || String(call.name).startsWith(DEBUGGER)) this.#catchUp();
      },
      ended: (id, report, milliseconds) =>
        this.#later(() => entry?.ended?.(id, report, milliseconds), lengthOf(report.blocks)),
    };
  }

  #later(event: () => void, size = 0): void {
    this.#late.push(event);
    this.#lateSize += size;
    if (this.#late.length > MAX_LATE || this.#lateSize > MAX_LATE_SIZE) this.#catchUp();
    else this.#feed.publishSoon();
  }

  #catchUp(): void {
    this.#lateSize = 0;
    for (const event of this.#late.splice(0)) event();
  }

  #begin(known: Known, { name, args }: RecordedCall, { begun, isPaused }: CallStart): CallEntry {
    this.#lastCall += 1;
    const id = `c${this.#lastCall}`;
    const sent = sentSchema.safeParse(args).data ?? {};
    const { code, ...others } = sent;
    const whole = code ?? JSON.stringify(args ?? {});
    let call: PublishedCall = {
      id,
      agent: known.id,
      agentName: cutName(known.agent.name.text),
      tool: oneLine(String(name), MAX_SUMMARY),
      code: cut(whole, MAX_CODE),
      isLisp: code !== undefined,
      ...(sent.package === undefined ? {} : { package: cutName(sent.package) }),
      begun,
    };
    const publish = (changes: Partial<PublishedCall>) => {
      call = { ...call, ...changes };
      this.#feed.call(call);
    };
    const change = (changes: { running?: number; asking?: number }) => {
      known.running += changes.running ?? 0;
      known.asking += changes.asking ?? 0;
      this.#publish(known);
    };
    const goOn = () => {
      if (!known.waiting.delete(goOn)) return;
      const { waits: _, ...going } = call;
      call = going;
      publish({});
    };
    // A newer call of the same thread says what becomes of it.
    const follow = (stop: DebuggedStop) => {
      stop.ended.addEventListener("abort", () => {
        const { stop: _, ...left } = call;
        call = left;
        const isOut = known.agent.steering.state === "out";
        publish(isOut ? { outcome: "thrown out", isError: true } : { outcome: "left the stop" });
        if (!isOut) known.leaving.set(stop.thread, (status) => publish({ ...AFTER_STOP[status] }));
      });
    };
    this.#texts.begin(id, whole, code === undefined ? (args ?? {}) : others);
    if (isPaused) {
      call = { ...call, waits: true };
      known.waiting.add(goOn);
    }
    publish({});
    change({ running: 1 });
    return {
      output: (text) => {
        this.#texts.output(id, text);
        this.#feed.output(id, text);
      },
      asked: () => {
        change({ asking: 1 });
        return () => change({ asking: -1 });
      },
      end: (answer, milliseconds) => {
        this.#texts.end(id, answer);
        goOn();
        const end = endOf(answer, call.begun + Math.round(milliseconds));
        publish(end);
        if (String(name).startsWith(DEBUGGER)) this.#tellLeft(known, args, end);
        const stop = stopNamed(known.agent, end.stop);
        if (stop !== undefined) follow(stop);
        change({ running: -1 });
      },
      ended: (_, report) => {
        this.#texts.end(id, report);
        publish(endOf(report, Date.now()));
      },
    };
  }

  /** Tells the call whose evaluation has left a stop what has become of it, when the call of the debugger that has resumed it ends. */
  #tellLeft({ leaving }: Known, args: unknown, { outcome }: Partial<PublishedCall>): void {
    const thread = resumedSchema.safeParse(args).data?.thread;
    const [key] = thread === undefined ? leaving.keys() : [Number.parseInt(thread, 10)];
    const tell = key === undefined ? undefined : leaving.get(key);
    if (key === undefined || tell === undefined || outcome === undefined || AFTER_STOP[outcome] === undefined) return;
    leaving.delete(key);
    tell(outcome);
  }

  #publish(known: Known): void {
    if (this.#known.get(known.id) !== known) return;
    const { id, agent, isYou, published } = known;
    const name = cutName(agent.name.text);
    const state = stateOf(known);
    if (published?.name === name && published.state === state) return;
    known.published = { id, name, state, ...(isYou ? { isYou } : {}) };
    this.#feed.agent(known.published);
  }
}

const NOT_KEPT =
  "The texts of this call are not kept any more: only those of the latest 1,000 calls are, and 8 million characters.";

const KEEP_ALL = "Start swank-mcp with --ledger FILE to keep all calls in a file.";

function stateOf({ agent, running, asking }: Known): PageAgent["state"] {
  const { state } = agent.steering;
  if (state === "out") return "out";
  if (asking > 0) return "asking";
  if (state === "paused") return "paused";
  if (running > 0) return "running";
  return agent.stops.live.length > 0 ? "stopped" : "idle";
}

/** What the list says of a call that has ended. */
function endOf(answer: ToolAnswer, ended: number): Partial<PublishedCall> {
  const outcome = outcomeSchema.safeParse(answer.meta?.[OUTCOME_META]).data;
  const { package: packageName, thread, level } = outcome ?? {};
  return {
    ended,
    outcome: outcomeOf(answer),
    isError: answer.isError,
    summary: summaryOf(answer, outcome),
    ...(packageName === undefined ? {} : { package: cutName(packageName) }),
    ...(thread === undefined || level === undefined ? {} : { stop: `${thread}/${level}` }),
  };
}

/** The values, or else the first line of the answer: before values, an answer has the output. */
function summaryOf({ blocks }: ToolAnswer, outcome: z.output<typeof outcomeSchema> | undefined): string {
  if (outcome?.status === "returned" && outcome.values.length > 0)
    return oneLine(`=> ${outcome.values.join(", ")}`, MAX_SUMMARY);
  if (outcome?.error !== undefined) return oneLine(`${outcome.error.type}: ${outcome.error.message}`, MAX_SUMMARY);
  const [line = ""] = blocks.join("\n").trimStart().split("\n", 1);
  return oneLine(line, MAX_SUMMARY);
}

interface KeptText {
  readonly code: string;
  readonly arguments: unknown;
  output: string;
  /** Characters of the output that are left out before it. */
  leftOut: number;
  answer: Pick<PageCallText, "answer" | "profile" | "trace">;
  answerSize: number;
  size: number;
}

/** The whole texts of the latest calls. */
class CallTexts {
  readonly #kept = new Map<string, KeptText>();
  #size = 0;

  begin(id: string, code: string, args: unknown): void {
    const data = JSON.stringify(args) ?? "null";
    const kept: KeptText = {
      code: bounded(code),
      arguments: data.length <= MAX_TEXT ? args : bounded(data),
      output: "",
      leftOut: 0,
      answer: { answer: [] },
      answerSize: 0,
      size: 0,
    };
    this.#kept.set(id, kept);
    this.#grow(kept, kept.code.length + Math.min(data.length, MAX_TEXT));
  }

  output(id: string, text: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    const before = kept.output.length;
    kept.output += text;
    if (kept.output.length > 2 * MAX_TEXT) {
      kept.leftOut += kept.output.length - MAX_TEXT;
      kept.output = kept.output.slice(-MAX_TEXT);
    }
    this.#grow(kept, kept.output.length - before);
  }

  end(id: string, { blocks, meta }: ToolAnswer): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    const before = kept.answerSize;
    const profile = dataOf(profileSchema, meta?.[PROFILE_META]);
    const trace = dataOf(traceSchema, meta?.[TRACE_META]);
    const answer = boundedTexts(blocks);
    kept.answer = { answer, ...(profile === undefined ? {} : { profile }), ...(trace === undefined ? {} : { trace }) };
    kept.answerSize = lengthOf(answer) + sizeOf(profile) + sizeOf(trace);
    this.#grow(kept, kept.answerSize - before);
  }

  find(id: string): PageCallText | undefined {
    const kept = this.#kept.get(id);
    if (kept === undefined) return undefined;
    const { code, arguments: args, output, leftOut, answer } = kept;
    const over = Math.max(0, output.length - MAX_TEXT);
    const mark = leftOut + over === 0 ? "" : `[... ${leftOut + over} characters left out ...] `;
    return { code, arguments: args, output: mark + output.slice(over), ...answer };
  }

  #grow(kept: KeptText, more: number): void {
    kept.size += more;
    this.#size += more;
    for (const [id, oldest] of this.#kept) {
      if ((this.#size <= MAX_TEXTS && this.#kept.size <= MAX_KEPT) || oldest === kept) break;
      this.#kept.delete(id);
      this.#size -= oldest.size;
    }
  }
}

/** Characters of data as JSON. */
function sizeOf(data: object | undefined): number {
  return data === undefined ? 0 : JSON.stringify(data).length;
}

function dataOf<Data>(schema: z.ZodType<Data>, data: unknown): Data | undefined {
  return isJsonObject(data) ? schema.safeParse(data).data : undefined;
}

/** As many of the texts as there is room for. */
function boundedTexts(texts: readonly string[]): readonly string[] {
  return lengthOf(texts) <= MAX_TEXT ? texts : [bounded(texts.join("\n\n"))];
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
