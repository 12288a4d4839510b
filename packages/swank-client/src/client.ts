import type { Sexp } from "sexp-parser";
import type { Abilities } from "./base/abilities.js";
import type { SwankError } from "./base/errors.js";
import { callListener, TypedEmitter, type Unsubscribe } from "./base/events.js";
import {
  check,
  checkOptions,
  type EventNames,
  type OptionsOf,
  type QuestionOptions,
  question,
} from "./base/options.js";
import { within } from "./base/waiting.js";
import { Code } from "./code/code.js";
import {
  type Definitions,
  type DefinitionsOptions,
  definitionsOptions,
  listDefinitions,
  type ResetReport,
  reset,
} from "./code/definitions.js";
import { type DescribeOptions, describeSymbol, type SymbolDescription } from "./code/names.js";
import { Breakpoints, type HitElsewhere } from "./evaluation/breakpoints.js";
import type { DataValue, LispData } from "./evaluation/data.js";
import {
  callForData,
  type DataEvalOptions,
  type DecodedEvalOptions,
  type EvalOptions,
  type Evaluate,
  evaluateAs,
  evaluateToData,
  type TextEvalOptions,
} from "./evaluation/eval.js";
import { beginSession, type EvaluateOptions } from "./evaluation/evaluate.js";
import { ForeignStops } from "./evaluation/foreign-stops.js";
import { EvaluationRunner } from "./evaluation/runner.js";
import { readSessionForm, type SessionForm } from "./evaluation/session-form.js";
import type { Evaluation, Stop, Task } from "./evaluation/stop.js";
import { DebuggerRegistry, type EndedThread, readEndedThread } from "./evaluation/stops.js";
import { callCode, lisp } from "./evaluation/template.js";
import { readThreadOutput, renewOutputs, type ThreadOutput } from "./evaluation/thread-output.js";
import type { StartTask } from "./evaluation/work.js";
import { abilitiesOf, type ConnectionInfo, type OpenedConnection } from "./handshake/handshake.js";
import {
  AgentActivity,
  type AgentPause,
  askUser,
  introduce,
  kick,
  pause,
  type UserQuestion,
  type UserReply,
  type UserRequest,
  userAsks,
  userReachable,
  wantedModule,
} from "./program/agents.js";
import { Program } from "./program/program.js";
import { countOtherClients, hasThread } from "./program/threads.js";
import { type Caller, callerOf, type FormOptions } from "./runtime/caller.js";
import { decodedIfKnown, type LispFunction, type ModuleName } from "./runtime/function.js";
import { ModuleLoader, type OpeningCall, openingCall, RuntimeInstaller } from "./runtime/loader.js";
import { LispRunner, questionsTo } from "./runtime/runner.js";
import { type Fault, recentFaults } from "./runtime/runtime.js";
import { completion } from "./swank/completion.js";
import type { Connection } from "./wire/connection.js";
import type { SwankMessage, WriteStringMessage } from "./wire/messages.js";
import { runsWhenRead } from "./wire/pending.js";

/** Events of a client. */
export interface ClientEvents {
  /** A thread has stopped: one of this client's evaluations, or another thread whose error this client received. `stops` has all stops. */
  stop: Stop;
  /**
   * An error ended a thread that this client's code started, because its evaluation does not stop (`onError: "unwind"`), or because a stop
   * of the thread would have blocked other threads.
   */
  threadEnded: EndedThread;
  /** A thread that this client's code started has printed something, if the option `threadOutput` is true. */
  threadOutput: ThreadOutput;
  /** This client has evaluated, or compiled and loaded, a form that defines or loads something, if the option `sessionForms` is true. */
  sessionForm: SessionForm;
  /** A thread of another client has stopped at a breakpoint of this one, in that client's debugger. */
  hitElsewhere: HitElsewhere;
  /** A user of the image asks the agent of this client to look at something, in Emacs with swank-mcp.el. */
  userAsks: UserRequest;
  /** A user of the image wants the agent of this client to wait before it does anything else, or to go on. */
  paused: AgentPause;
}

const CLIENT_EVENTS: EventNames<ClientEvents> = {
  stop: true,
  threadEnded: true,
  threadOutput: true,
  sessionForm: true,
  hitElsewhere: true,
  userAsks: true,
  paused: true,
};

export const clientOptions = {
  /**
   * `false`: the client loads nothing into the image except the code that guards the connection. It refuses `evaluate` and everything else that
   * needs the runtime with `RUNTIME_FORBIDDEN`: also `foreignStops` if a thread is stopped. Its own stops have what Swank reports: the type and the
   * message of the condition, restarts, and the calls of the first frames. Default: true. The runtime is then loaded when
   * it is first needed: for an evaluation, or to describe a stop.
   */
  runtime: check.flag,
  /** `false`: code that this client evaluates, and the threads that it starts, cannot end the image. Default: true. */
  mayEndImage: check.flag,
  /**
   * Whether the event `threadOutput` tells what threads print that this client's code starts, also to the streams of an evaluation that has ended. What
   * they print on the image's own streams is still shown there, except in an image that this process has launched. Each stream of a thread sends
   * 100,000 characters, until `renewOutput` asks for more. Default: false.
   */
  threadOutput: check.flag,
  /** Whether the event `sessionForm` tells the forms by which this client's definitions can be made again in another image. Default: false. */
  sessionForms: check.flag,
  /**
   * The name of the agent that uses this client. The image then records what the client evaluates and changes, from its first evaluation on, and
   * shows it in an Emacs of the user that has swank-mcp.el. Default: nothing is recorded.
   */
  agentName: check.text,
};

/** Limits on a client's use of its image. */
export interface ClientOptions extends OptionsOf<typeof clientOptions> {}

/** Milliseconds beyond the user's time after which a question to the user is given up. */
const ANSWER_MARGIN = 10_000;

/** Milliseconds to wait for completions. */
const COMPLETION_TIME = 5000;

/** A client's requests to its image, except evaluations. */
abstract class ClientQuestions extends TypedEmitter<ClientEvents> {
  /** Calls functions in the image. */
  abstract readonly lisp: LispRunner;

  /**
   * Whether the image currently has a thread with this Swank id.
   *
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `request`.
   */
  async hasThread(id: number, options: QuestionOptions = {}): Promise<boolean> {
    return questionsTo(this.lisp, "hasThread", options, question).run(hasThread, check.id("id", id));
  }

  /**
   * The number of other clients connected to the image, including Emacs.
   *
   * @throws SwankError the errors of `request`; `REQUEST_TIMEOUT` if the image does not answer within 3 s.
   */
  otherClients(): Promise<number> {
    return this.lisp.run(countOtherClients);
  }

  /**
   * Failures of this library's own code in the image, for all clients of this version, oldest first, at most the last 100. They broke nothing,
   * but an answer may lack something. Loads nothing into the image.
   *
   * @throws SwankError the errors of `request`; `REQUEST_TIMEOUT` if the image does not answer within 5 s.
   */
  faults(): Promise<readonly Fault[]> {
    return this.lisp.run(recentFaults);
  }

  /**
   * Whether an Emacs is connected to the image in which `askUser` would ask, or a program that follows the agents with their questions.
   *
   * @throws SwankError as for `askUser`.
   */
  canAskUser(): Promise<boolean> {
    return this.lisp.run(userReachable);
  }

  /**
   * Asks the user of each Emacs that is connected to the image and has swank-mcp.el, and of each program that follows the agents with their
   * questions. The first answer counts. Aborting the signal withdraws the question.
   *
   * @throws SwankError `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, `REQUEST_TIMEOUT` if the image does not answer, `CANCELLED`, or the reason of a
   * closed connection.
   */
  askUser(question: UserQuestion, { signal }: QuestionOptions = {}): Promise<UserReply> {
    const timeout = question.seconds * 1000 + ANSWER_MARGIN;
    return this.lisp.with({ signal, timeout }).run(askUser, question);
  }

  /**
   * Describes a symbol: its functions, variables and classes, with their arglists, values, documentation and sources.
   *
   * @param name - As in code, in upper or lower case: `mapcar`, `pkg:name`, `:keyword`, `|Mixed Case|`, `(setf name)`.
   * @returns a description, even if there is no such symbol or package. Nothing is interned, except for symbols in `args`.
   * @throws SwankError `INVALID_ARGUMENT`, `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  async describeSymbol(name: string, options: DescribeOptions = {}): Promise<SymbolDescription> {
    return describeSymbol(this.lisp, name, options);
  }

  /**
   * Symbols that begin with `prefix`, as code in the package writes them, sorted. Loads nothing into the image.
   *
   * @param prefix - May carry a package: `mapc`, `cl:mapc`, `:ke`.
   * @throws SwankError the errors of `request`.
   */
  async completions(prefix: string, packageName: string): Promise<readonly string[]> {
    if (runsWhenRead(prefix) || runsWhenRead(packageName)) return [];
    const found = await this.lisp
      .with({ timeout: COMPLETION_TIME })
      .run(completion.simpleCompletions, prefix, packageName);
    return [...new Set(found)].sort();
  }
}

/** Milliseconds that evaluations have to end when the client closes. */
const DISCONNECT_TIME = 2000;

/** The calls that a client's options need when a module is loaded. */
function openingsFor({
  mayEndImage,
  threadOutput: tellsThreads = false,
  sessionForms: tellsForms = false,
  agentName,
}: ClientOptions): Partial<Record<ModuleName, OpeningCall>> {
  const protectsImage = mayEndImage === false;
  return {
    ...(protectsImage || tellsThreads || tellsForms
      ? { evaluate: openingCall(beginSession, { protectsImage, tellsThreads, tellsForms }) }
      : {}),
    ...(agentName === undefined ? {} : { emacs: openingCall(introduce, agentName) }),
  };
}

function isTemplate(code: string | TemplateStringsArray): code is TemplateStringsArray {
  return Array.isArray(code) && "raw" in code;
}

/** A client of a Common Lisp image, made by `connect` or `launch`. */
export class SwankClient extends ClientQuestions {
  /** The image's description of itself when the client connected. */
  readonly info: ConnectionInfo;
  /** What the image can do. */
  readonly abilities: Abilities;
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
    checkOptions("SwankClient", options, clientOptions);
    super(CLIENT_EVENTS, (error, event) => connection.reportListenerError(error, event));
    this.connection = connection;
    this.info = info;
    this.abilities = abilitiesOf(info);
    this.notes = notes;
    this.#caller = callerOf(connection);
    this.#installer = new RuntimeInstaller(loader, {
      abilities: this.abilities,
      runtime: options.runtime,
      openings: openingsFor(options),
    });
    this.lisp = new LispRunner(this.#caller, this.#installer);
    this.#runner = new EvaluationRunner(connection, this.lisp);
    const start: StartTask = (work, given) => this.#runner.start(work, given);
    this.code = new Code(this.lisp, start);
    this.program = new Program(this.lisp, start);
    const { agentName } = options;
    this.activity = new AgentActivity(
      this.lisp,
      connection,
      agentName !== undefined && this.abilities.has("runtime"),
      () =>
        // Who has been introduced keeps that name. The module is being loaded, and introduces the client, if anything has been needed yet.
        agentName === undefined || this.#installer.unused ? undefined : this.lisp.run(introduce, agentName),
    );
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
   * Threads stopped in the debuggers of the image's other clients, such as the user's Emacs. Finding them interrupts no thread, and loads
   * nothing if there are none. In a Lisp other than SBCL none are known.
   *
   * @throws SwankError `RUNTIME_FAILED`, `RUNTIME_FORBIDDEN`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  foreignStops(): Promise<readonly Stop[]> {
    // Only SBCL's runtime can look into the threads of other clients.
    return this.abilities.has("runtime") ? this.#foreignStops.list() : Promise.resolve([]);
  }

  /** Evaluations and other tasks that have not ended. */
  get evaluations(): readonly Task[] {
    return this.#runner.running;
  }

  /**
   * Reads and evaluates the forms of `code`, one after another, in a new Lisp thread.
   *
   * Never throws: the evaluation's `next()` and `result()` report errors of the call.
   */
  evaluate(code: string, options: EvaluateOptions = {}): Evaluation {
    return this.#runner.start({ code, resultOf: (outcome) => outcome }, options);
  }

  /**
   * Evaluates code to its end, in a new Lisp thread, and returns the printed values of its last form. Nothing stays stopped: code that would
   * stop in the debugger is unwound.
   *
   * With `as: "data"`, it returns all values as data; with `decode`, the first value, decoded from `NIL` if there is none. As a tag of a
   * template, it puts JavaScript values into the code as Lisp data, and returns the first value as data.
   *
   * @example
   * await client.eval("(floor 7 2)", { as: "data" }); // [3, 1]
   * await client.eval`(total ${items} :rate ${0.2})`;
   *
   * @throws LispError with a report, if the code signals an error or would stop. EvaluationError, which has the output as `transcript`:
   * `EVALUATION_TIMEOUT` after `timeout` milliseconds and `CANCELLED` when `signal` is aborted, both after the code has ended;
   * `UNEXPECTED_REPLY` if a value has no data form, or `decode` does not accept it, `REPLY_TOO_LARGE` if it is printed in more than 1,000,000
   * characters; the reason of a connection that was lost meanwhile. SwankError `NO_SUCH_PACKAGE`, `RUNTIME_FAILED`, `INVALID_ARGUMENT`, `CANCELLED` before the code was
   * sent, or the reason of a closed connection.
   */
  eval(code: string, options?: TextEvalOptions): Promise<readonly string[]>;
  eval(code: string, options: DataEvalOptions): Promise<readonly LispData[]>;
  eval<Value>(code: string, options: DecodedEvalOptions<Value>): Promise<Value>;
  eval(template: TemplateStringsArray, ...values: readonly DataValue[]): Promise<LispData>;
  async eval(code: string | TemplateStringsArray, ...given: readonly DataValue[]): Promise<unknown> {
    if (isTemplate(code)) return evaluateToData(this.#evaluate, lisp(code, ...given));
    return evaluateAs(this.#evaluate, code, given[0]);
  }

  /**
   * Calls a function with JavaScript values as Lisp data, and returns its first value as data, decoded if `decode` is given. Otherwise it
   * is like `eval`.
   *
   * @param name - In the current package: `my-app:run`, `(setf size)`. It is read in standard syntax, not by the session's readtable, and
   * interned.
   * @throws SwankError `INVALID_ARGUMENT`, also for an argument that is no Lisp data; the errors of `eval`.
   *
   * @example
   * await client.call("my-app:run", [1, "x", ["a", true]]);
   */
  call(name: string, args?: readonly DataValue[], options?: EvalOptions): Promise<LispData>;
  call<Value>(name: string, args: readonly DataValue[], options: DecodedEvalOptions<Value>): Promise<Value>;
  async call(name: string, args: readonly DataValue[] = [], options: unknown = {}): Promise<unknown> {
    return callForData(this.#evaluate, callCode(name, args), options);
  }

  readonly #evaluate: Evaluate = (code, options) => this.evaluate(code, options);

  /**
   * The definitions that this client's evaluations made, by any macro, and that still exist.
   *
   * @throws SwankError `RUNTIME_FAILED`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  async definitions(options: DefinitionsOptions = {}): Promise<Definitions> {
    const asking = questionsTo(this.lisp, "definitions", options, definitionsOptions);
    return this.#installer.unused ? { definitions: [], loaded: [] } : listDefinitions(asking, options);
  }

  /**
   * Resets the session: ends this client's evaluations, stopped or running, and the stopped threads that they started, removes its
   * breakpoints, clears history, package and readtable, and undefines the functions, macros and variables that only its evaluations
   * defined. Files that it loaded stay loaded. In a Lisp other than SBCL, definitions stay, because none are recorded.
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
   * Makes the image send the output that it keeps past a limit, and as much again: of an evaluation that runs, past its `outputLimit`, or else of all
   * threads of the event `threadOutput`. Text that is sent has arrived when this resolves. Loads nothing into the image.
   *
   * @throws SwankError `REQUEST_TIMEOUT` if the image does not answer within 5 s, or the reason of a closed connection.
   */
  async renewOutput(evaluation?: Pick<Task, "id">): Promise<void> {
    if (this.lisp.hasLoaded("evaluate")) await this.lisp.run(renewOutputs, evaluation?.id);
  }

  /**
   * Evaluates a form that is not expected to stop. If it stops, it is unwound. The image also ends a form whose timeout has passed, whose
   * signal is aborted, or whose connection closes.
   *
   * @throws SwankError `REQUEST_FAILED`, `REQUEST_ABORTED`, `REQUEST_TIMEOUT`, or the reason of a closed connection.
   */
  request(form: Sexp, options: FormOptions): Promise<Sexp> {
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
    await within(Promise.allSettled(this.evaluations.map((evaluation) => evaluation.abort())), {
      timeout: DISCONNECT_TIME,
    });
  }

  #onMessage(message: SwankMessage): void {
    if (message.type === "write-string") {
      if (this.#runner.output(message) || this.breakpoints.receive(message)) return;
      this.#noteNews(message);
    } else if (message.type === "debug") this.#debugger.enter(message);
    else if (message.type === "debug-return") this.#debugger.leave(message);
  }

  #noteNews(message: WriteStringMessage): void {
    const printed = readThreadOutput(message);
    if (printed !== undefined) this.emit("threadOutput", printed);
    const form = readSessionForm(message);
    if (form !== undefined) this.emit("sessionForm", form);
    const ended = readEndedThread(message);
    if (ended !== undefined) this.emit("threadEnded", ended);
    const asked = decodedIfKnown(userAsks, message.target);
    if (asked !== undefined) this.emit("userAsks", asked);
    const paused = decodedIfKnown(pause, message.target);
    if (paused !== undefined) this.emit("paused", paused);
    const kicked = decodedIfKnown(kick, message.target);
    if (kicked !== undefined) void this.connection.close(kicked);
    const wanted = decodedIfKnown(wantedModule, message.target);
    if (wanted !== undefined) void this.#installer.ensure(wanted).catch(() => undefined);
  }
}
