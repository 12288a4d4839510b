import type { types } from "swank-client";
import * as z from "zod";
import { EVERY_TOOL, type ToolAnswer, type ToolGuide } from "../base/answer.js";
import type { Config } from "../base/config.js";
import type { Refusal } from "../base/refusals.js";
import { cutName, cutText, more, oneLine } from "../text/cut.js";
import { type ApartOutput, gapLine, ThreadOutputs } from "./apart-output.js";
import type { ApprovalAnswer, Ask } from "./approval-places.js";
import { type ApprovalRequest, actionText } from "./approval-prompt.js";
import { Approvals, type ApprovalWatch } from "./approvals.js";
import { BackgroundEvaluations } from "./background.js";
import type { Ending, LastErrorChange } from "./conclusion.js";
import { AgentName, type ImageHost, type ImageUser, type LispSession } from "./image.js";
import type { DebuggedStop, Evaluation, LispClient } from "./lisp-port.js";
import { Neighbours } from "./neighbours.js";
import { Steering } from "./steering.js";
import { innermost, isForeign, StopKeeper } from "./stops.js";

/** Receives output and its stream or, without a stream, a line that says what the evaluation is doing. */
type Listener = (text: string, stream?: types.OutputStream) => void;

export interface Presenter {
  /** The answer from the printed first value. */
  answer(value: string, transcript: types.Transcript): ToolAnswer | Promise<ToolAnswer>;
  /** What comes before the report of an evaluation that has stopped, or has ended without a value, or after it. */
  unfinished?(ending: Ending): Promise<Pick<ToolAnswer, "blocks" | "meta">>;
  readonly reportFirst?: boolean;
  /** Whether both say what the compiler has said, so that the report need not list its warnings. */
  readonly tellsWarnings?: boolean;
}

type Listeners = Pick<types.EvaluateOptions, "onOutput" | "onProgress">;

interface Begun {
  readonly code: string;
  readonly since: number;
  listener: Listener | undefined;
  presenter: Presenter | undefined;
}

/** The evaluations that one agent has begun. An evaluation may outlast the call that began it; its output goes to the call that waits for it now. */
class OwnEvaluations {
  readonly #begun = new WeakMap<Evaluation, Begun>();
  readonly #ids = new WeakMap<LispClient, Set<number>>();

  /** Starts an evaluation. `listen` sets the listener for its output. */
  begin(client: LispClient, code: string, options: Omit<types.EvaluateOptions, keyof Listeners>): Evaluation {
    const begun: Begun = { code, since: Date.now(), listener: undefined, presenter: undefined };
    const listeners: Listeners = {
      onOutput: ({ text, stream }) => begun.listener?.(text, stream),
      onProgress: (text) => begun.listener?.(`${text}\n`),
    };
    const evaluation = client.evaluate(code, Object.assign(listeners, options));
    this.#begun.set(evaluation, begun);
    const ids = this.#ids.get(client) ?? new Set();
    this.#ids.set(client, ids.add(evaluation.id));
    return evaluation;
  }

  /** Sends output and progress to `listener` from now on, instead of to the earlier listener. */
  listen(evaluation: Evaluation, listener: Listener): void {
    const begun = this.#begun.get(evaluation);
    if (begun !== undefined) begun.listener = listener;
  }

  /** Answers as `presenter` says, whichever call ends the evaluation. Without one, the answer is the usual report. */
  present(evaluation: Evaluation, presenter: Presenter): void {
    const begun = this.#begun.get(evaluation);
    if (begun !== undefined) begun.presenter = presenter;
  }

  /** What is known of an evaluation; `undefined` if this agent did not begin it. */
  find(evaluation: Evaluation): Readonly<Begun> | undefined {
    return this.#begun.get(evaluation);
  }

  /** Whether this agent began the evaluation with this id, which may have ended long ago. */
  hasId(client: LispClient, id: number): boolean {
    return this.#ids.get(client)?.has(id) === true;
  }

  has(evaluation: Evaluation): boolean {
    return this.#begun.has(evaluation);
  }
}

const MAX_NAME = 100;

/** Most characters of code that are sent to the image, which keeps fewer. */
const MAX_CODE = 100_000;

/** Records approvals and refused calls in the image's own record, which the user's Emacs shows. Nothing waits for it, and its failures change nothing. */
class ImageRecord implements ApprovalWatch {
  readonly #host: ImageHost;
  readonly #mayConnect: boolean;

  constructor(host: ImageHost, { attach, share }: Pick<Config, "attach" | "share">) {
    this.#host = host;
    // Nobody else sees any other image.
    this.#mayConnect = attach !== undefined || share !== undefined;
  }

  /** Records a call that this server refused, also if nothing has needed the image yet. */
  refused(tool: unknown, args: unknown, { message }: Refusal): void {
    if (!this.#mayConnect) return;
    this.#host.start();
    const call = { tool: oneLine(String(tool), MAX_NAME), ...sentCode(args), reason: `Refused: ${message}` };
    void this.#note(({ activity }) => activity.noteRefusal(call));
  }

  asked(request: ApprovalRequest): (answer: ApprovalAnswer) => void {
    const asking = this.#note(({ activity }) => activity.noteQuestion(questionText(request)));
    return (answer) =>
      void asking.then((number) => {
        if (number !== undefined)
          void this.#note(({ activity }) => activity.noteAnswer(number, answer.isAllowed, answerText(answer)));
      });
  }

  decided(request: ApprovalRequest, answer: ApprovalAnswer): void {
    // What is allowed without a question is recorded as the agent's next action.
    if (!answer.isAllowed) this.asked(request)(answer);
  }

  /** @returns `undefined` if there is no image that records anything, or it does not answer. */
  async #note<T>(note: (client: LispClient) => Promise<T>): Promise<T | undefined> {
    const client = (await this.#host.current())?.client;
    return client?.activity.isRecorded === true ? note(client).catch(() => undefined) : undefined;
  }
}

const sentArguments = z.looseObject({
  code: z.string().optional().catch(undefined),
  object: z.string().optional().catch(undefined),
  package: z.string().optional().catch(undefined),
});

/** The code in arguments that nothing has checked, or else the arguments as a comment. */
function sentCode(args: unknown): { readonly code: string; readonly package: string | undefined } {
  const { code, object, package: packageName } = sentArguments.safeParse(args).data ?? {};
  const text = code ?? object ?? comment(JSON.stringify(args ?? {}));
  return { code: cutText(text, MAX_CODE), package: packageName === undefined ? undefined : cutName(packageName) };
}

function questionText(request: ApprovalRequest): string {
  const { particulars, circumstances = [] } = request;
  const lines = particulars.map(([label, text]) => (label === "Code" ? text : comment(`${label}: ${text}`)));
  return [comment(`${actionText(request)}?`), ...lines, ...circumstances.map(comment)].join("\n");
}

function comment(text: string): string {
  return text.replace(/^/gm, ";; ");
}

const PLACES = { client: " in the agent's client", emacs: " in Emacs", page: " on the page", server: "" } as const;

function answerText({ isAllowed, by, how }: ApprovalAnswer): string {
  return `${isAllowed ? "Allowed" : "Not allowed"}${PLACES[by]}: ${how}`;
}

/** Who writes to the streams of an image's process is not known. */
const PROCESS = "the image's process";

/** Most texts that are kept, and most characters of all of them. A single text is kept even if it is longer. */
const MAX_TEXTS = 8;

const MAX_CHARACTERS = 8_000_000;

interface KeptOutput {
  /** `stdout` or `stderr` of an evaluation, or the title of a section. */
  readonly stream: string;
  readonly text: string;
}

/** The latest outputs that answers have cut, so that an agent can read on without running anything again. */
export class KeptOutputs {
  readonly #kept = new Map<number, KeptOutput>();
  #lastId = 0;

  /** Returns the output's id, which is not used again. */
  keep(output: KeptOutput): number {
    this.#lastId += 1;
    this.#kept.set(this.#lastId, output);
    for (const oldest of this.#kept.keys()) {
      if (this.#fits()) break;
      this.#kept.delete(oldest);
    }
    return this.#lastId;
  }

  find(id: number): KeptOutput | undefined {
    return this.#kept.get(id);
  }

  #fits(): boolean {
    const characters = [...this.#kept.values()].reduce((sum, { text }) => sum + text.length, 0);
    return this.#kept.size === 1 || (this.#kept.size <= MAX_TEXTS && characters <= MAX_CHARACTERS);
  }
}

/**
 * The session's last error (contract error-state-preservation). It is a frozen copy, so every read gives the same answer, even after the
 * thread, the connection or the image has gone.
 */
export class LastError {
  #current: types.ErrorSnapshot | undefined;
  readonly #listeners = new Set<() => void>();

  get current(): types.ErrorSnapshot | undefined {
    return this.#current;
  }

  /** Applies a change. Calls come in the order in which evaluations end or stop, so the latest wins. */
  apply(change: LastErrorChange): void {
    const before = this.#current;
    if (change.kind === "set") this.#current = deepFreeze(structuredClone(change.error));
    if (change.kind === "clear") this.#current = undefined;
    if (this.#current !== before) for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) deepFreeze(part);
  return Object.freeze(value);
}

const MAX_OF_A_KIND = 10;

const MAX_NOTICE = 1000;

interface Notice {
  readonly text: string;
  readonly advice: string;
}

interface Kind {
  readonly notices: Notice[];
  leftOut: number;
}

/** Events in the image since the last answer. The next answer from Lisp reports each once. */
export class Notices {
  #pending = new Map<string, Kind>();

  /**
   * @param text - One or two sentences, which may quote Lisp. More lines may follow, such as the last output of a loaded file.
   * @param kind - A singular noun, e.g. `ended stop`; of many notices of a kind, only the latest are kept. Default: a kind for this notice.
   * @param advice - Sentences of this server that name tools, without a quotation: those about switched-off tools are omitted.
   */
  add(text: string, kind = text, advice = ""): void {
    const known = this.#pending.get(kind) ?? { notices: [], leftOut: 0 };
    this.#pending.set(kind, known);
    known.notices.push({ text: cutText(text, MAX_NOTICE), advice });
    if (known.notices.length <= MAX_OF_A_KIND) return;
    known.notices.shift();
    known.leftOut += 1;
  }

  /** Returns all notices and removes them. `guide` knows the tools that their advice may name. */
  take(guide: ToolGuide = EVERY_TOOL): readonly string[] {
    const taken = [...this.#pending].flatMap(([kind, { notices, leftOut }]) => {
      const texts = notices.map(({ text, advice }) => [text, guide.advise(advice)].filter(Boolean).join(" "));
      return leftOut === 0 ? texts : [`${more(leftOut, kind)} before these:`, ...texts];
    });
    this.#pending = new Map();
    return taken;
  }
}

const MAX_KEPT = 5;

const KIND = "request of the user";

/** A stop, as `M-x swank-mcp-ask` in the debugger names it. */
const STOP = /^\d+\/\d+/;

/** What the user has asked for in Emacs. The next answer says so, and lisp-status repeats the latest. */
class UserRequests {
  readonly #notices: Notices;
  readonly #latest: { readonly sentence: string; readonly stop: string | undefined }[] = [];

  constructor(notices: Notices) {
    this.#notices = notices;
  }

  /** The latest, oldest first, as sentences. @param isOpen - Whether a stop, `thread/level`, still exists; requests about others are forgotten. */
  latest(isOpen: (stop: string) => boolean): readonly string[] {
    const open = this.#latest.filter(({ stop }) => stop === undefined || isOpen(stop));
    this.#latest.splice(0, this.#latest.length, ...open);
    return open.map(({ sentence }) => sentence);
  }

  add({ text, place }: types.UserRequest): void {
    const sentence = `The user asks: ${text}${place === undefined ? "" : `, at ${place}`}`;
    const [stop] = STOP.exec(place ?? "") ?? [];
    this.#latest.push({ sentence, stop });
    if (this.#latest.length > MAX_KEPT) this.#latest.shift();
    if (stop === undefined) this.#notices.add(sentence, KIND);
    else this.#notices.add(`${sentence}.`, KIND, `To look at it, call debugger_frames with thread "${stop}".`);
  }
}

const THROWN_OUT =
  "The user had thrown this agent out, and has let it back: what it ran and had stopped has ended, and its breakpoints are gone.";

const MAX_MESSAGE = 200;

export interface Place {
  readonly packageName: string;
  readonly stops: readonly string[];
}

/** The state of one client. Several clients can use one image at once without disturbing each other. */
export class AgentSession implements ImageUser {
  readonly host: ImageHost;
  readonly config: Config;
  readonly name: AgentName;
  readonly lastError = new LastError();
  readonly notices = new Notices();
  readonly userRequests = new UserRequests(this.notices);
  readonly evaluations = new OwnEvaluations();
  readonly background = new BackgroundEvaluations();
  readonly outputs = new KeptOutputs();
  readonly #threadOutputs = new ThreadOutputs();
  readonly stops: StopKeeper;
  readonly approvals: Approvals;
  readonly record: ImageRecord;
  readonly steering = new Steering();
  /** Asks the user while no call runs; `undefined` while the client cannot. */
  askUser: Ask | undefined;
  facts: Readonly<Record<string, string>> = {};
  readonly neighbours: Neighbours;
  readonly #leave: () => void;
  readonly #toldOutput = new WeakMap<LispSession, number>();

  /** @param name - Also known to the function that opens the image. */
  constructor(host: ImageHost, config: Config, name = new AgentName(), neighbours = new Neighbours()) {
    this.name = name;
    this.neighbours = neighbours;
    this.host = host;
    this.config = config;
    this.stops = new StopKeeper(config, this.notices);
    this.record = new ImageRecord(host, config);
    this.approvals = new Approvals(config.approval, this.record);
    this.#leave = host.join(this);
    this.steering.onChange((state) => {
      if (state !== "out") return;
      // The agent reads it when it is let back.
      this.notices.add(THROWN_OUT);
      void this.#endAll();
    });
  }

  /** The live stops that this agent sees: those of its own evaluations and those of threads that run no evaluation. */
  stopsIn({ client }: LispSession): readonly DebuggedStop[] {
    return client.stops.filter((stop) => this.#concerns(stop));
  }

  /** The agent's package and stops, without asking Lisp; `undefined` while there is no session. */
  async place(): Promise<Place | undefined> {
    const session = await this.host.current();
    if (session === undefined) return undefined;
    const stops = innermost(this.stopsIn(session)).map(({ thread, level }) => `${thread}/${level}`);
    return { packageName: session.packageName, stops };
  }

  /** Symbols with this prefix, as code in the session's package writes them; none if Lisp does not answer. Never rejects. */
  async complete(prefix: string): Promise<readonly string[]> {
    const session = await this.host.current();
    return session?.client.completions(prefix, session.packageName).catch(() => []) ?? [];
  }

  /**
   * What has been written since the last call of this function, apart from evaluations: by threads that this agent's code has started, and by the
   * process of an own image, to its own stdout and stderr.
   */
  takeApart(session: LispSession): readonly ApartOutput[] {
    const printed = this.#threadOutputs.take();
    // Threads that have reached their limit may go on. What they kept comes with a later answer.
    if (printed.length > 0) session.client.renewOutput().catch(() => undefined);
    return [...printed, ...this.#takeProcessOutput(session)];
  }

  #takeProcessOutput(session: LispSession): readonly ApartOutput[] {
    const { processOutput } = session;
    const told = this.#toldOutput.get(session) ?? session.outputAtStart;
    if (processOutput === undefined || processOutput.length === told) return [];
    this.#toldOutput.set(session, processOutput.length);
    const { text, omittedBefore, from, to } = processOutput.since(told);
    return [{ source: PROCESS, text: gapLine(omittedBefore) + text, from, to }];
  }

  /** What has happened since the last answer, as sentences. `guide` knows the tools that they may name. */
  takeNotices(guide: ToolGuide): readonly string[] {
    this.background.tell(this.notices);
    return this.notices.take(guide);
  }

  onNotice(notice: string, advice?: string): void {
    this.notices.add(notice, notice, advice);
  }

  onStop(stop: DebuggedStop, session: LispSession): void {
    // A thread that this server has stopped must go on after a while, also if it belongs to another client.
    if (this.#concerns(stop)) this.stops.arrived(stop, stop.reason !== "interrupt" && isForeign(stop, session));
  }

  onHitElsewhere({ breakpoint, function: name, thread, threadName, owner }: types.HitElsewhere): void {
    this.stops.saw(thread);
    this.notices.add(
      `Breakpoint ${breakpoint} on ${name} stopped thread ${thread} (${threadName}) in ${owner.text}; the user continues it there.`,
      "breakpoint hit",
      `To look at it, call debugger_frames with thread "${thread}".`,
    );
  }

  onThreadEnded(ended: types.EndedThread): void {
    this.notices.add(endNotice(ended), "ended thread");
  }

  onThreadOutput(output: types.ThreadOutput, { client }: LispSession): void {
    const { evaluation } = output;
    if (evaluation === undefined || this.evaluations.hasId(client, evaluation)) this.#threadOutputs.add(output);
  }

  onUserAsks(request: types.UserRequest): void {
    this.userRequests.add(request);
  }

  onPaused(isPaused: boolean): void {
    if (isPaused) this.steering.pause();
    else this.steering.resume();
  }

  onThrownOut(): void {
    this.steering.throwOut();
  }

  /**
   * Ends what the agent runs and has stopped, its breakpoints, and its connection. One that others use, or with which a launched image would end,
   * stays. Never rejects.
   */
  async #endAll(): Promise<void> {
    const isShared = this.host.hasUsersBeside(this);
    const { state } = this.host;
    // At once, so that a call of an agent that is soon let back does not get this session.
    const session = state.kind === "open" ? state.session : await this.host.current();
    if (session === undefined || this.steering.state !== "out") return;
    if (!isShared && session.origin.kind === "attached") return this.host.disconnect(session);
    const { client } = session;
    const evaluations = client.evaluations.filter((evaluation) => this.evaluations.has(evaluation));
    const breakpoints = isShared ? [] : await client.breakpoints.list().catch(() => []);
    await Promise.allSettled([
      ...evaluations.map((evaluation) => evaluation.abort()),
      ...breakpoints.map(({ id }) => client.breakpoints.remove(id)),
    ]);
    this.stops.endAll(isShared);
  }

  /** The client has disconnected: ends its background evaluations and its stops, except those that other clients of this server also see. */
  close(): void {
    this.#leave();
    this.neighbours.remove(this);
    this.background.close();
    this.stops.endAll(this.host.hasUsersBeside(this));
  }

  #concerns({ evaluation }: DebuggedStop): boolean {
    return evaluation === undefined || this.evaluations.has(evaluation);
  }
}

function endNotice({ thread, threadName, type, message, held }: types.EndedThread): string {
  const why = held === undefined ? "" : ` while it held ${held}, so that it could not stop`;
  return `Thread ${thread} (${threadName}), started by your code, was ended by ${type}${why}: ${oneLine(message, MAX_MESSAGE)}`;
}
