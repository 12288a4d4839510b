import {
  type Decoded,
  type Decoder,
  decode,
  keyword,
  list as listForm,
  NIL,
  quote,
  type Sexp,
  symbol,
  T,
} from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { requestFailed } from "../runtime/caller.js";
import { lispFunction, type SendOptions } from "../runtime/function.js";
import type { LispRunner } from "../runtime/runner.js";
import type { Reply } from "../wire/messages.js";
import { restartList, type StopData, type StopOwner, stopOwner } from "./report.js";
import { Stop, type StopChannel } from "./stop.js";
import { leftLatch } from "./stops.js";

const { any, integer, list, plist, record, string, tagged } = decode;

/** Milliseconds that the image has to list its stops. */
const LIST_TIME = 10_000;

/** A stop in another client's debugger, as known without asking its thread: without frames, slots and variables. */
interface ForeignStopData extends StopData {
  readonly number: number;
  readonly owner: StopOwner;
}

const place = plist({ number: integer, thread: integer, level: integer, owner: stopOwner });

const rest = plist({ name: string, type: string, class: string, message: string, restarts: restartList });

const foreignStop: Decoder<ForeignStopData> = (datum) => {
  const { name, ...condition } = rest(datum);
  return {
    ...place(datum),
    threadName: name,
    isOwn: false,
    reason: "error",
    detail: {},
    condition: { ...condition, supertypes: [], slots: [], frames: [], totalFrames: 0, timestamp: Date.now() },
    locals: [],
  };
};

/** Lists the stops in other clients' debuggers (lisp/debug/foreign-stops.lisp). */
const foreignStops = lispFunction({
  name: "foreign-stops",
  module: "debug",
  decode: list(foreignStop),
  timeout: LIST_TIME,
  label: () => "foreign stops",
});

const THREADS = listForm(symbol("sb-thread:list-all-threads"));

const AS_MANY = listForm(symbol("cl:length"), THREADS);

const ARGUMENTS: readonly Sexp[] = [
  quote(symbol("sb-thread:symbol-value-in-thread")),
  listForm(symbol("cl:make-list"), AS_MANY, keyword("initial-element"), quote(symbol("swank::*sldb-level*"))),
  THREADS,
  listForm(symbol("cl:make-list"), AS_MANY),
];

/** Each thread's level in Swank's debugger, 0 outside it. Calls only functions that every image has, so that nothing is loaded. */
const stoppedLevels = lispFunction({
  name: "cl:mapcar",
  encode: () => ARGUMENTS,
  // NIL for a thread that has never been in the debugger
  decode: decode.list(decode.map(decode.nullable(decode.integer), (level) => level ?? 0)),
  timeout: LIST_TIME,
  label: () => "stopped threads",
});

const askReply = tagged({
  value: record({ value: any }, { kind: "value" }),
  /** The form made the thread leave the stop. */
  left: record({}, { kind: "left" }),
  /** The stop had ended before the form ran. */
  stale: record({}, { kind: "stale" }),
  /** The thread did not start the form in time, and never will. */
  silent: record({}, { kind: "silent" }),
  /** The form took too long and was interrupted. */
  interrupted: record({}, { kind: "interrupted" }),
  failed: record({ type: string, message: string }, { kind: "failed" }),
});

/** The outcome of a form that another client's thread was asked to evaluate. */
type AskReply = Decoded<typeof askReply>;

/**
 * Evaluates a form in a thread that is stopped in another client's debugger (lisp/debug/foreign-stops.lisp).
 *
 * The form may make the thread leave the stop only if `mayLeave` is true.
 */
const askStop = lispFunction({
  name: "ask-stop",
  module: "debug",
  encode: (number: number, mayLeave: boolean, milliseconds: number, form: Sexp, _label: string) => [
    number,
    mayLeave ? T : NIL,
    Number.isFinite(milliseconds) ? Math.ceil(milliseconds / 1000) : NIL,
    quote(form),
  ],
  decode: askReply,
  label: (_number, _mayLeave, _milliseconds, _form, label) => label,
});

/** Milliseconds that a stopped thread has to answer a question about itself. */
const ANSWER_TIME = 15_000;

/** Milliseconds that the image then has to interrupt the form and report it. */
const INTERRUPT_TIME = 15_000;

const STALE: Reply = { status: "ok", value: [keyword("stale")] };

/** The channel to a stop in another client's debugger. Each request interrupts the thread; the end of the stop is not announced. */
class ForeignChannel implements StopChannel {
  /** Only an evaluation of this client asks for it. */
  readonly isLeaving = false;
  readonly #stop: ForeignStopData;
  readonly #lisp: LispRunner;
  readonly left = leftLatch();

  constructor(stop: ForeignStopData, lisp: LispRunner) {
    this.#stop = stop;
    this.#lisp = lisp;
  }

  /** Marks the stop as ended, after a reply or a listing has shown that the thread left it. */
  end(): void {
    this.left.open();
  }

  async send(form: Sexp, { label, mayLeave, timeout = ANSWER_TIME }: SendOptions): Promise<Reply> {
    const lisp = this.#lisp.with({ timeout: timeout + INTERRUPT_TIME });
    const reply = await lisp.run(askStop, this.#stop.number, mayLeave, timeout, form, label);
    if (reply.kind === "left" || reply.kind === "stale") this.end();
    if (reply.kind === "left" && mayLeave) return { status: "abort", condition: "NIL" };
    return this.#answer(reply, label);
  }

  #answer(reply: AskReply, label: string): Reply {
    const { thread, owner } = this.#stop;
    switch (reply.kind) {
      case "value":
        return { status: "ok", value: reply.value };
      case "left":
      case "stale":
        return STALE;
      case "silent":
        throw new SwankError("REQUEST_TIMEOUT", `${label}: Thread ${thread} does not answer.`, {
          remedy: `It runs without interrupts, or waits in foreign code. Nothing was done there, and the request was withdrawn. Look at it in ${owner.text}, or try again.`,
        });
      case "interrupted":
        throw new SwankError("REQUEST_TIMEOUT", `${label}: Thread ${thread} took too long and was interrupted.`, {
          remedy: `It may wait for a lock that another thread holds. The stop is unchanged: look at it in ${owner.text}, or try again.`,
        });
      case "failed":
        throw requestFailed(label, reply);
    }
  }
}

interface KnownStop {
  readonly stop: Stop;
  readonly channel: ForeignChannel;
}

/** Finds the stops in the debuggers of an image's other clients. */
export class ForeignStops {
  readonly #lisp: LispRunner;
  /** By the image's number for the stop. */
  readonly #known = new Map<number, KnownStop>();
  #isNeeded = false;

  constructor(lisp: LispRunner) {
    this.#lisp = lisp;
  }

  /** Lists the stops. Loads nothing into the image while no thread is stopped. */
  async list(): Promise<readonly Stop[]> {
    if (!(await this.#mayHaveAny())) return [];
    const before = [...this.#known];
    const found = await this.#lisp.run(foreignStops);
    for (const [number, { channel }] of before) if (!found.some((data) => data.number === number)) channel.end();
    return found.map((data) => this.#take(data));
  }

  /** Ends every stop, because the connection is closed. */
  clear(): void {
    for (const { channel } of this.#known.values()) channel.end();
    this.#known.clear();
  }

  async #mayHaveAny(): Promise<boolean> {
    this.#isNeeded ||= (await this.#lisp.run(stoppedLevels)).some((level) => level > 0);
    return this.#isNeeded;
  }

  /** A stop whose owner has disconnected gets a new identity, so earlier approvals no longer apply. */
  #take(data: ForeignStopData): Stop {
    const known = this.#known.get(data.number);
    if (known?.stop.owner?.text === data.owner.text) return known.stop;
    const channel = new ForeignChannel(data, this.#lisp);
    const taken = { stop: new Stop(channel, data, this.#lisp), channel };
    channel.left.onOpen(() => this.#forget(data.number, taken));
    this.#known.set(data.number, taken);
    return taken.stop;
  }

  #forget(number: number, stop: KnownStop): void {
    if (this.#known.get(number) === stop) this.#known.delete(number);
  }
}
