import { setTimeout } from "node:timers/promises";
import { decode, keyword, list, NIL, quote, type Sexp, symbol } from "sexp-parser";
import { Listeners } from "./call-listener.js";
import { type Caller, type CallOptions, callerOf } from "./caller.js";
import { checkId } from "./check-index.js";
import { checkOptions } from "./check-options.js";
import { type Command, type ConnectionInfo, type RunOptions, runCommand, simpleCompletions } from "./commands/index.js";
import type { Connection } from "./connection/connection.js";
import { runsWhenRead } from "./connection/runs-when-read.js";
import { Breakpoints } from "./debugger/breakpoints.js";
import { DebuggerRegistry } from "./debugger/debugger-registry.js";
import type { DebuggerSession } from "./debugger/debugger-session.js";
import type { ForeignStop } from "./debugger/foreign-stop.js";
import { ForeignStops } from "./debugger/foreign-stops.js";
import { type EndedThread, OwnThreads } from "./debugger/own-threads.js";
import { decodeValue } from "./decode-value.js";
import type { Definitions, DefinitionsOptions, ResetReport } from "./definitions/definition.js";
import { SessionState } from "./definitions/session-state.js";
import { SymbolDescriber } from "./describe/symbol-describer.js";
import type { DescribeOptions, SymbolDescription } from "./describe/symbol-description.js";
import type { SwankError } from "./errors.js";
import type { EvaluateOptions } from "./evaluation/evaluate-options.js";
import type { Evaluation } from "./evaluation/evaluation.js";
import { EvaluationRunner } from "./evaluation/evaluation-runner.js";
import type { EvaluationTask } from "./evaluation/evaluation-task.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "./question-options.js";
import type { StopReport } from "./runtime/decode-snapshot.js";
import { RuntimeInstaller } from "./runtime/installer.js";
import type { SwankMessage } from "./wire/messages.js";

/** How a client uses its image. */
export interface ClientOptions {
  /** `false`: nothing is ever loaded into the image, and `evaluate` is refused. Default: true. */
  readonly runtime?: boolean | undefined;
  /** `false`: code that this client evaluates, and the threads that it starts, cannot end the image. Default: true. */
  readonly mayEndImage?: boolean | undefined;
}

/** Milliseconds that the image has to say which threads it has. */
const LOOK_TIME = 10_000;

/** Milliseconds after which nobody waits for a completion any more. */
const COMPLETION_TIME = 5000;

const THREAD_ID = quote(symbol("swank/backend:thread-id"));

/** Milliseconds that the image has to count its clients. */
const COUNT_TIME = 3000;

/** Milliseconds that evaluations have to end when the client closes. */
const FAREWELL_TIME = 2000;

/** One client of a Common Lisp image. `connect` makes it. */
export class SwankClient {
  /** What the image said of itself when it was connected to. */
  readonly info: ConnectionInfo;
  /** The connection, for commands and messages that this class does not offer. */
  readonly connection: Connection;
  /** What a user may want to know about the connection, sentences; most often none. */
  readonly notes: readonly string[];
  /** Breakpoints of this client. */
  readonly breakpoints: Breakpoints;
  readonly #caller: Caller;
  readonly #installer: RuntimeInstaller;
  readonly #runner: EvaluationRunner;
  readonly #debugger: DebuggerRegistry;
  readonly #foreignStops: ForeignStops;
  readonly #ownThreads: OwnThreads;
  readonly #stopListeners: Listeners<DebuggerSession>;
  readonly #state: SessionState;
  readonly #describer: SymbolDescriber;

  constructor(
    connection: Connection,
    info: ConnectionInfo,
    options: ClientOptions = {},
    notes: readonly string[] = [],
  ) {
    checkOptions("SwankClient", options, { runtime: true, mayEndImage: true });
    this.connection = connection;
    this.info = info;
    this.notes = notes;
    const reportAs = (event: string) => (error: unknown) => connection.reportListenerError(error, event);
    this.#stopListeners = new Listeners(reportAs("stop"));
    this.#ownThreads = new OwnThreads(new Listeners(reportAs("ended thread")));
    this.#caller = callerOf(connection);
    this.#installer = new RuntimeInstaller(this.#caller, options);
    this.#runner = new EvaluationRunner(connection, this.#caller, this.#installer);
    this.breakpoints = new Breakpoints(this.#caller, this.#installer, new Listeners(reportAs("breakpoint")));
    this.#state = new SessionState(this.#caller, this.#installer);
    this.#describer = new SymbolDescriber(this.#caller, this.#installer);
    this.#debugger = new DebuggerRegistry(
      this.#caller,
      this.#installer,
      (requests) => this.#runner.findAmong(requests),
      (...stop) => this.#onStop(...stop),
    );
    this.#foreignStops = new ForeignStops(this.#caller, this.#installer);
    connection.on("event", (message) => this.#onMessage(message));
    connection.on("closed", () => {
      this.#debugger.clear();
      this.#foreignStops.clear();
    });
  }

  get isOpen(): boolean {
    return this.connection.isOpen;
  }

  /** Resolves, never rejects, when the connection is over; with `CONNECTION_CLOSED` when this side closed it. */
  get closed(): Promise<SwankError> {
    return this.connection.closed;
  }

  /** Threads stopped in the debugger: evaluations of this client, and other threads whose errors came here. The latest is last. */
  get stops(): readonly DebuggerSession[] {
    return this.#debugger.sessions;
  }

  /**
   * Calls `listener` for every new stop, those of other threads included, once it is known what stopped. Earlier ones are in `stops`.
   * What the listener throws goes to `onListenerError`, and disturbs nothing else.
   *
   * @returns A function that ends this.
   */
  onStop(listener: (session: DebuggerSession) => void): () => void {
    return this.#stopListeners.add(listener);
  }

  /**
   * Calls `listener` for every thread that this client's code started and that an error ended, because its evaluation was to keep no
   * stops (`onError: "unwind"`), or because the thread could not be stopped without harm to others.
   *
   * @returns A function that ends this.
   */
  onThreadEnded(listener: (ended: EndedThread) => void): () => void {
    return this.#ownThreads.onEnded(listener);
  }

  /**
   * Threads stopped in the debuggers of the image's other clients, such as the user's Emacs. Nobody is interrupted to find them, and nothing
   * is loaded as long as there are none.
   *
   * @throws SwankError `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  foreignStops(): Promise<readonly ForeignStop[]> {
    return this.#foreignStops.list();
  }

  /**
   * Whether the image has a thread with this id of Swank's now.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and what `call` throws.
   */
  async hasThread(id: number, options: QuestionOptions = {}): Promise<boolean> {
    checkOptions("hasThread", options, QUESTION_OPTIONS);
    checkId("id", id);
    // list-threads would replace the list in which other clients count.
    const form = list(symbol("cl:find"), id, list(symbol("swank/backend:all-threads")), keyword("key"), THREAD_ID);
    const request = { label: "looking for a thread", timeout: LOOK_TIME, signal: options.signal };
    const found = await this.call(list(symbol("cl:null"), form), request);
    return found === NIL;
  }

  /**
   * How many other clients are connected to the image, Emacs among them.
   *
   * @throws SwankError what `call` throws; `REQUEST_TIMEOUT` when the image does not answer within 3 s.
   */
  async otherClients(): Promise<number> {
    const form = list(symbol("cl:1-"), list(symbol("cl:length"), symbol("swank::*connections*")));
    const label = "counting clients";
    return decodeValue(decode.integer, await this.call(form, { label, timeout: COUNT_TIME }), label);
  }

  /** Evaluations that have not ended. */
  get evaluations(): readonly Evaluation[] {
    return this.#runner.running;
  }

  /**
   * Reads and evaluates the forms of `code`, one after another, in a Lisp thread of its own.
   *
   * Never throws: what is wrong with the call is told by the evaluation's `next()`.
   */
  evaluate(code: string, options: EvaluateOptions = {}): Evaluation {
    return this.#runner.start(code, options);
  }

  /**
   * What a symbol names: functions, variables, classes, with their arglists, values, documentation and sources.
   *
   * @param name - As code writes it, but without regard for case: `mapcar`, `pkg:name`, `:keyword`, `|Mixed Case|`, `(setf name)`.
   * @returns a description also when there is no such symbol or package; nothing is interned by asking.
   * @throws SwankError `INVALID_ARGUMENT`, `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  describeSymbol(name: string, options: DescribeOptions = {}): Promise<SymbolDescription> {
    return this.#describer.describe(name, options);
  }

  /**
   * Symbols that begin with `prefix`, as code in that package writes them, sorted. Needs nothing but Swank.
   *
   * @param prefix - May carry a package: `mapc`, `cl:mapc`, `:ke`.
   * @throws SwankError what `call` throws.
   */
  async completions(prefix: string, packageName: string): Promise<readonly string[]> {
    if (runsWhenRead(prefix) || runsWhenRead(packageName)) return [];
    const found = await this.run(simpleCompletions, [prefix, packageName], { timeout: COMPLETION_TIME });
    return [...new Set(found)].sort();
  }

  /**
   * What this client's evaluations have defined, whatever macros that was written with, as far as it is still there.
   *
   * @throws SwankError `RUNTIME_FAILED`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  definitions(options: DefinitionsOptions = {}): Promise<Definitions> {
    return this.#state.definitions(options);
  }

  /**
   * Begins anew: ends this client's evaluations, stopped or running, and the threads of theirs that are stopped, removes its breakpoints, forgets history, package and readtable, and
   * undefines the functions, macros and variables that only its evaluations have defined. Files that it loaded stay loaded.
   *
   * @throws SwankError `RUNTIME_FAILED`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  async reset(): Promise<ResetReport> {
    const stops = this.stops.filter(({ evaluation, isOwn, level }) => evaluation === undefined && isOwn && level === 1);
    await Promise.allSettled(stops.map((stop) => stop.abort()));
    return this.#state.reset(this.evaluations);
  }

  /**
   * Evaluates a form of the caller's own that is not expected to stop, such as a command's. If it does, it is unwound. It is ended in the image,
   * too, when its time is up, when its signal is aborted, and when the connection closes.
   *
   * @throws SwankError `REQUEST_FAILED`, `REQUEST_ABORTED`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  call(form: Sexp, options: CallOptions): Promise<Sexp> {
    return this.#caller.call(form, options);
  }

  /**
   * Runs a command in the image, such as one of `commands`. If it stops in the debugger, it is unwound.
   *
   * @throws SwankError what `call` throws; `UNEXPECTED_REPLY`
   */
  run<Args extends readonly unknown[], Result>(
    command: Command<Args, Result>,
    args: Args,
    options?: RunOptions,
  ): Promise<Result> {
    return runCommand(this.connection, command, args, options);
  }

  /**
   * Loads the runtime now rather than with the first evaluation.
   *
   * @throws SwankError `RUNTIME_FAILED`, or the reason of a closed connection.
   */
  async prepare(): Promise<void> {
    await this.#installer.evaluate();
  }

  /** Ends all evaluations, stopped or running, and closes the connection; the image goes on. Never rejects. */
  async close(): Promise<void> {
    if (this.isOpen) await this.#endEvaluations();
    await this.connection.close();
  }

  async #endEvaluations(): Promise<void> {
    const timeUp = new AbortController();
    const patience = setTimeout(FAREWELL_TIME, undefined, { signal: timeUp.signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled(this.evaluations.map((evaluation) => evaluation.abort())), patience]);
    timeUp.abort();
  }

  #onMessage(message: SwankMessage): void {
    if (message.type === "write-string") {
      if (!this.#runner.output(message) && !this.breakpoints.receive(message)) this.#ownThreads.receive(message);
    } else if (message.type === "debug") this.#debugger.enter(message);
    else if (message.type === "debug-return") this.#debugger.leave(message);
  }

  #onStop(session: DebuggerSession, report: StopReport, task: EvaluationTask | undefined): void {
    task?.report(report);
    task?.stopped(session, report);
    this.#stopListeners.tell(session);
  }
}
