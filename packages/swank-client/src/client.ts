import { setTimeout } from "node:timers/promises";
import type { Sexp } from "sexp-parser";
import { checkOptions } from "./base/check-arguments.js";
import type { SwankError } from "./base/errors.js";
import { callListener, type Unsubscribe } from "./base/typed-emitter.js";
import type { ConnectionInfo } from "./calls/connection-info.js";
import type { Definitions, ResetReport } from "./calls/definition.js";
import { definitions } from "./calls/definitions.js";
import { introduce } from "./calls/introduce.js";
import { protectImage } from "./calls/protect-image.js";
import { reset } from "./calls/reset.js";
import { kick, userAsks } from "./calls/user-asks.js";
import { wantedModule } from "./calls/wanted-module.js";
import { CLIENT_EVENTS } from "./client-events.js";
import { CLIENT_OPTIONS, type ClientOptions, DEFINITIONS_OPTIONS, type DefinitionsOptions } from "./client-options.js";
import { ClientQuestions } from "./client-questions.js";
import { Code } from "./code/code.js";
import { Breakpoints } from "./debugger/breakpoints.js";
import { DebuggerRegistry } from "./debugger/debugger-registry.js";
import { ForeignStops } from "./debugger/foreign-stops.js";
import { readEndedThread } from "./debugger/own-threads.js";
import type { Evaluation, Stop } from "./debugger/stop.js";
import {
  type DecodedEvalOptions,
  type EvalOptions,
  type Evaluate,
  evaluateToData,
  evaluateToEnd,
} from "./evaluation/evaluate-to-end.js";
import type { EvaluateOptions } from "./evaluation/evaluation.js";
import { EvaluationRunner } from "./evaluation/evaluation-runner.js";
import type { OpenedConnection } from "./handshake/open-connection.js";
import { type Caller, type CallOptions, callerOf } from "./lisp/caller.js";
import { decodedIfKnown } from "./lisp/decoders.js";
import type { LispFunction, ModuleName } from "./lisp/descriptor.js";
import { RuntimeInstaller } from "./lisp/installer.js";
import { LispRunner } from "./lisp/lisp-runner.js";
import { type OpeningCall, openingCall } from "./lisp/load-forms.js";
import { ModuleLoader } from "./lisp/module-loader.js";
import { AgentActivity } from "./program/agent-activity.js";
import { Program } from "./program/program.js";
import type { Connection } from "./protocol/connection/connection.js";
import type { SwankMessage, WriteStringMessage } from "./protocol/wire/messages.js";

/** Milliseconds that evaluations have to end when the client closes. */
const DISCONNECT_TIME = 2000;

/** The calls that a client's options need when a module is loaded. */
function openingsFor({ mayEndImage, agentName }: ClientOptions): Partial<Record<ModuleName, OpeningCall>> {
  return {
    ...(mayEndImage === false ? { evaluate: openingCall(protectImage) } : {}),
    ...(agentName === undefined ? {} : { activity: openingCall(introduce, agentName) }),
  };
}

function isDecoded<Value>(options: EvalOptions | DecodedEvalOptions<Value>): options is DecodedEvalOptions<Value> {
  return typeof options === "object" && options !== null && "decode" in options;
}

/** A client of a Common Lisp image, made by `connect` or `launch`. */
export class SwankClient extends ClientQuestions {
  /** The image's description of itself when the client connected. */
  readonly info: ConnectionInfo;
  /** The connection, for requests and messages that this class does not offer. */
  readonly connection: Connection;
  /** Notes for the user about the connection, as sentences; usually none. */
  readonly notes: readonly string[];
  /** Calls functions in the image. */
  override readonly lisp: LispRunner;
  /** Breakpoints of this client. */
  readonly breakpoints: Breakpoints;
  /** Questions about the program's code. */
  readonly code: Code;
  /** Questions about the running program. */
  readonly program: Program;
  /** What agents do in the image. */
  readonly activity: AgentActivity;
  readonly #caller: Caller;
  readonly #installer: RuntimeInstaller;
  readonly #runner: EvaluationRunner<Stop>;
  readonly #debugger: DebuggerRegistry;
  readonly #foreignStops: ForeignStops;

  /** @param loader - Loads the runtime into the image; default: from its texts. */
  constructor(
    { connection, info, notes }: OpenedConnection,
    options: ClientOptions = {},
    loader = new ModuleLoader(callerOf(connection)),
  ) {
    checkOptions("SwankClient", options, CLIENT_OPTIONS);
    super(CLIENT_EVENTS, (error, event) => connection.reportListenerError(error, event));
    this.connection = connection;
    this.info = info;
    this.notes = notes;
    this.#caller = callerOf(connection);
    this.#installer = new RuntimeInstaller(loader, { runtime: options.runtime, openings: openingsFor(options) });
    this.lisp = new LispRunner(this.#caller, this.#installer);
    this.code = new Code(this.lisp);
    this.program = new Program(this.lisp);
    this.activity = new AgentActivity(this.lisp, options.agentName !== undefined);
    this.#runner = new EvaluationRunner(connection, this.lisp);
    this.breakpoints = new Breakpoints(this.lisp, (hit) => this.emit("hitElsewhere", hit));
    this.#debugger = new DebuggerRegistry(
      this.#caller,
      this.lisp,
      (requests) => this.#runner.findAmong(requests),
      (stop, left, update) => {
        if (stop.evaluation !== undefined) this.#runner.stopped(stop.evaluation.id, stop, left, update);
        this.emit("stop", stop);
      },
    );
    this.#foreignStops = new ForeignStops(this.lisp);
    connection.on("event", (message) => this.#onMessage(message));
    connection.on("closed", () => {
      this.#debugger.clear();
      this.#foreignStops.clear();
    });
  }

  /** False after the connection has ended. */
  get isOpen(): boolean {
    return this.connection.isOpen;
  }

  /**
   * Resolves with the reason when the connection has ended, `CONNECTION_CLOSED` if this side closed it. Never rejects. If an image that
   * `launch` started has ended, `details.exit` says how.
   */
  get closed(): Promise<SwankError> {
    return this.connection.closed;
  }

  /** Stopped threads: evaluations of this client, and other threads whose errors it received. The latest is last. */
  get stops(): readonly Stop[] {
    return this.#debugger.stops;
  }

  /**
   * Calls a function with each stop: at once with the current ones, oldest first, then with new ones.
   *
   * @returns a function that ends this.
   * @throws SwankError `INVALID_ARGUMENT`
   */
  onStop(listener: (stop: Stop) => void): Unsubscribe {
    const unsubscribe = this.on("stop", listener);
    for (const stop of this.stops) callListener(listener, stop, (error) => this.reportListenerError(error, "stop"));
    return unsubscribe;
  }

  /**
   * Interrupts a thread of the image: it stops in the debugger, and `stop` reports it, or an evaluation's `next` if it runs one. A thread that
   * runs code of another client, such as Emacs's REPL, stops in the debugger of that client; `foreignStops` lists it.
   *
   * @param id - Swank's id, as in `threads`.
   * @throws SwankError `NO_SUCH_THREAD`; `INVALID_ARGUMENT` for a thread of Swank, because clients would get no answers while it is stopped; the
   * errors of `threads`.
   */
  async interruptThread(id: number): Promise<void> {
    await this.checkThread(id);
    this.connection.send({ type: "emacs-interrupt", thread: id });
  }

  /**
   * Threads stopped in the debuggers of the image's other clients, such as the user's Emacs. Finding them interrupts no thread, and loads
   * nothing if there are none.
   *
   * @throws SwankError `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  foreignStops(): Promise<readonly Stop[]> {
    return this.#foreignStops.list();
  }

  /** Evaluations that have not ended. */
  get evaluations(): readonly Evaluation[] {
    return this.#runner.running;
  }

  /**
   * Reads and evaluates the forms of `code`, one after another, in a new Lisp thread.
   *
   * Never throws: the evaluation's `next()` reports errors of the call.
   */
  evaluate(code: string, options: EvaluateOptions = {}): Evaluation {
    return this.#runner.start(code, options);
  }

  /**
   * Evaluates code to its end, in a new Lisp thread, and returns the printed values of its last form; with `decode`, the first value as
   * data, `NIL` if there is none. Nothing stays stopped: code that would stop in the debugger is unwound.
   *
   * @throws LispError with a report, if the code signals an error or would stop. EvaluationError, which has the output as `transcript`:
   * `EVALUATION_TIMEOUT` after `timeout` milliseconds and `CANCELLED` when `signal` is aborted, both after the code has ended;
   * `UNEXPECTED_REPLY` if `decode` does not accept the value, `REPLY_TOO_LARGE` if it is printed in more than 1,000,000 characters; the reason of
   * a connection that was lost meanwhile. SwankError `NO_SUCH_PACKAGE`, `RUNTIME_FAILED`, `INVALID_ARGUMENT`, `CANCELLED` before the code was
   * sent, or the reason of a closed connection.
   */
  eval(code: string, options?: EvalOptions): Promise<readonly string[]>;
  eval<Value>(code: string, options: DecodedEvalOptions<Value>): Promise<Value>;
  eval<Value>(code: string, options: EvalOptions | DecodedEvalOptions<Value> = {}): Promise<readonly string[] | Value> {
    const evaluate: Evaluate = (text, given, atLimit) => this.#runner.start(text, given, atLimit);
    return isDecoded(options) ? evaluateToData(evaluate, code, options) : evaluateToEnd(evaluate, code, options);
  }

  /**
   * The definitions that this client's evaluations made, by any macro, and that still exist.
   *
   * @throws SwankError `RUNTIME_FAILED`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  async definitions(options: DefinitionsOptions = {}): Promise<Definitions> {
    checkOptions("definitions", options, DEFINITIONS_OPTIONS);
    const { kind, signal } = options;
    if (this.#installer.unused) return { definitions: [], loaded: [] };
    const all = await this.lisp.with({ signal }).run(definitions);
    if (kind === undefined) return all;
    return { definitions: all.definitions.filter((definition) => definition.kind === kind), loaded: [] };
  }

  /**
   * Resets the session: ends this client's evaluations, stopped or running, and the stopped threads that they started, removes its
   * breakpoints, clears history, package and readtable, and undefines the functions, macros and variables that only its evaluations
   * defined. Files that it loaded stay loaded.
   *
   * @throws SwankError `RUNTIME_FAILED`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  async reset(): Promise<ResetReport> {
    const stops = this.stops.filter(
      ({ evaluation, data }) => evaluation === undefined && data.isOwn && data.level === 1,
    );
    await Promise.allSettled(stops.map((stop) => stop.abort()));
    const ended = await Promise.allSettled(this.evaluations.map((evaluation) => evaluation.abort()));
    const stillRunning = ended.filter(({ status }) => status === "rejected").length;
    const counts = { aborted: ended.length - stillRunning, stillRunning };
    if (this.#installer.unused) return { undefined: [], left: [], loaded: [], ...counts };
    return { ...(await this.run(reset)), ...counts };
  }

  /**
   * Evaluates a form that is not expected to stop. If it stops, it is unwound. The image also ends a form whose timeout has passed, whose
   * signal is aborted, or whose connection closes.
   *
   * @throws SwankError `REQUEST_FAILED`, `REQUEST_ABORTED`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  call(form: Sexp, options: CallOptions): Promise<Sexp> {
    return this.#caller.call(form, options);
  }

  /**
   * Calls a function in the image, given by a descriptor of `calls` or your own. `lisp.with(...).run` takes more options.
   *
   * @throws SwankError the errors of `LispRunner.run`
   */
  run<Args extends readonly unknown[], Result>(called: LispFunction<Args, Result>, ...args: Args): Promise<Result> {
    return this.lisp.run(called, ...args);
  }

  /**
   * Loads the runtime now, unless it is loaded, instead of with the first evaluation.
   *
   * @throws SwankError `RUNTIME_FAILED`, or the reason of a closed connection.
   */
  async prepare(): Promise<void> {
    await this.#installer.ensure("evaluate");
  }

  /** Ends all evaluations, stopped or running, and closes the connection. The image keeps running. Never rejects. */
  async close(): Promise<void> {
    if (this.isOpen) await this.#endEvaluations();
    await this.connection.close();
  }

  /** Closes the client at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #endEvaluations(): Promise<void> {
    const timeUp = new AbortController();
    const patience = setTimeout(DISCONNECT_TIME, undefined, { signal: timeUp.signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled(this.evaluations.map((evaluation) => evaluation.abort())), patience]);
    timeUp.abort();
  }

  #onMessage(message: SwankMessage): void {
    if (message.type === "write-string") {
      if (!this.#runner.output(message) && !this.breakpoints.receive(message)) this.#noteNews(message);
    } else if (message.type === "debug") this.#debugger.enter(message);
    else if (message.type === "debug-return") this.#debugger.leave(message);
  }

  #noteNews(message: WriteStringMessage): void {
    const ended = readEndedThread(message);
    if (ended !== undefined) this.emit("threadEnded", ended);
    const asked = decodedIfKnown(userAsks, message.target);
    if (asked !== undefined) this.emit("userAsks", asked);
    const kicked = decodedIfKnown(kick, message.target);
    if (kicked !== undefined) void this.connection.close(kicked);
    const wanted = decodedIfKnown(wantedModule, message.target);
    if (wanted !== undefined) void this.#installer.ensure(wanted).catch(() => undefined);
  }
}
