import type { types } from "swank-client";
import type { OutputPart } from "swank-client/launch";
import type { ConnectionCheck } from "swank-client/protocol";
import { type Log, reasonOf } from "../base/log.js";
import { explainKicked, explainLoading, Refusal, type StartFile } from "../base/refusals.js";
import { oneLine } from "../text/cut.js";
import { KeptForms } from "./kept-forms.js";
import type { DebuggedStop, LispClient } from "./lisp-port.js";

/** Most characters of a loss's reason in a notice. The answer of the lost evaluation has the whole reason. */
const MAX_REASON = 300;

const RESTORABLE = "reset-session with restore true evaluates your definitions again.";

export interface ImageUser {
  /** Adds a notice to the next answer, e.g. that the image was replaced or a file did not load. The advice names tools. */
  onNotice(notice: string, advice?: string): void;
  /** A thread has stopped, or was already stopped when the session was opened. */
  onStop(stop: DebuggedStop, session: LispSession): void;
  /** A breakpoint has stopped a thread in another client's debugger. */
  onHitElsewhere(hit: types.HitElsewhere): void;
  /** An error ended a thread that evaluated code had started. */
  onThreadEnded(ended: types.EndedThread): void;
  /** A thread has printed something that evaluated code had started. */
  onThreadOutput(output: types.ThreadOutput, session: LispSession): void;
  /** A user of the image asks for something in Emacs. */
  onUserAsks(request: types.UserRequest): void;
  /** A user of the image wants the agent to wait, or no longer. */
  onPaused(isPaused: boolean): void;
  /** A user of the image has thrown out this agent alone. */
  onThrownOut(): void;
}

interface Loss {
  readonly identity: string;
  readonly why: Promise<string>;
  /** Whether the user has disconnected all agents. */
  readonly isKick: boolean;
}

export type ImageState =
  | { readonly kind: "none" }
  | { readonly kind: "connecting"; readonly why?: string }
  | { readonly kind: "open"; readonly session: LispSession }
  | { readonly kind: "failed"; readonly why: string }
  | { readonly kind: "lost"; readonly why: Promise<string> };

/**
 * Gives all users of the process one session with Lisp. Opens it when a tool first needs it, and again after a loss.
 *
 * The users share one connection, and with it the package, the history, the breakpoints and the recorded definitions. The state of a
 * single user is in its `AgentSession`. Calls wait here only for the connection, not for each other.
 */
export class ImageHost {
  readonly #open: OpenSession;
  readonly #longestWait: number | undefined;
  readonly forms = new KeptForms();
  readonly #users = new Set<ImageUser>();
  readonly #ending = new AbortController();
  #current: Promise<LispSession> | undefined;
  #opened: LispSession | undefined;
  /** The same, once its users have been told about the loss of the one before. */
  #ready: LispSession | undefined;
  #retiring: LispSession | undefined;
  #loss: Loss | undefined;
  #failure: string | undefined;
  readonly #sessionListeners = new Set<(session: LispSession) => void>();
  #isPaused = false;
  #delay: string | undefined;
  /** The user's file that is being loaded into the image of the current session. */
  #loading: { readonly file: StartFile; readonly since: number } | undefined;
  readonly #waiting = new Set<OnDelay>();

  /**
   * @param open - Opens a session; called when one is first needed.
   * @param longestWait - Milliseconds that a call waits while files are being loaded into a new image. The loading continues.
   */
  constructor(open: OpenSession, longestWait?: number) {
    this.#open = open;
    this.#longestWait = longestWait;
  }

  /** Adds a user. It gets all events from now on, and the current stops. @returns a function that removes the user. */
  join(user: ImageUser): () => void {
    this.#users.add(user);
    const session = this.#opened;
    if (session !== undefined) for (const stop of session.client.stops) user.onStop(stop, session);
    return () => this.#users.delete(user);
  }

  hasUsersBeside(user: ImageUser): boolean {
    return [...this.#users].some((each) => each !== user);
  }

  /** Calls the listener with the open session, if there is one, and with each later one; its `client.closed` tells its end. @returns a function that ends this */
  onSession(listener: (session: LispSession) => void): () => void {
    this.#sessionListeners.add(listener);
    if (this.#ready?.client.isOpen === true) listener(this.#ready);
    return () => this.#sessionListeners.delete(listener);
  }

  /** What is known of the image now. Never opens anything. */
  get state(): ImageState {
    if (this.#ready?.client.isOpen === true) return { kind: "open", session: this.#ready };
    if (this.#current !== undefined || this.#retiring !== undefined)
      return { kind: "connecting", ...(this.#delay === undefined ? {} : { why: this.#delay }) };
    if (this.#failure !== undefined) return { kind: "failed", why: this.#failure };
    return this.#loss === undefined ? { kind: "none" } : { kind: "lost", why: this.#loss.why };
  }

  /** Sends a notice to all users except `user`, who changed the shared image. */
  tellOthers(user: ImageUser, notice: string): void {
    for (const other of this.#users) if (other !== user) other.onNotice(notice);
  }

  /** Opens the session now instead of with the first call. If that fails, the first call tries again and gets the error. */
  start(): void {
    this.session(new AbortController().signal).catch(() => undefined);
  }

  /**
   * Returns the session; opens it if there is none.
   *
   * @param signal - Ends this caller's wait. The connecting continues, since other calls may need it.
   * @param onDelay - Called with the reason while the wait takes unusually long.
   * @throws Refusal `SHUTTING_DOWN`, `CANCELLED`, or the error of connecting or launching; the next call tries again.
   */
  session(signal: AbortSignal, onDelay: OnDelay = () => undefined): Promise<LispSession> {
    if (this.#ending.signal.aborted)
      return Promise.reject(new Refusal("SHUTTING_DOWN", "The server is shutting down."));
    const ready = this.#ready;
    // The connection has ended, and is about to be reported as lost.
    if (ready !== undefined && !ready.client.isOpen)
      return unlessAborted(ready.client.closed, signal).then(() => this.session(signal, onDelay));
    if (ready !== undefined && !signal.aborted) return Promise.resolve(ready);
    this.#current ??= this.#connect();
    return unlessAborted(this.#unlessLoading(this.#current), signal, this.#reportDelay(onDelay));
  }

  /** Rejects if a file is still being loaded after the longest wait. */
  async #unlessLoading(current: Promise<LispSession>): Promise<LispSession> {
    if (this.#longestWait === undefined) return current;
    const longest = this.#longestWait;
    let timer: NodeJS.Timeout | undefined;
    const slow = new Promise<never>((_, reject) => {
      const check = () => {
        const loading = this.#loading;
        if (loading === undefined) timer = setTimeout(check, 1000).unref();
        else reject(explainLoading(loading.file, Math.round((Date.now() - loading.since) / 1000)));
      };
      timer = setTimeout(check, longest).unref();
    });
    try {
      return await Promise.race([current, slow]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns the current session, once it is connected, or the one being replaced; `undefined` if there is none. Never connects or launches. */
  current(signal?: AbortSignal): Promise<LispSession | undefined> {
    const current = Promise.resolve(this.#retiring ?? this.#current?.catch(() => undefined));
    return signal === undefined ? current : unlessAborted(current, signal);
  }

  /** Why the last session was lost, a sentence; `undefined` once another session has replaced it. */
  async loss(): Promise<string | undefined> {
    const why = await this.#loss?.why;
    return why === undefined ? undefined : oneLine(why, MAX_REASON);
  }

  /**
   * Ends a session and its image, and opens a new one. Other calls wait for the new session. A session that was lost has ended already:
   * the session that replaced it stays.
   *
   * @throws as `session` does; the old session has ended even then.
   */
  renew(session: LispSession, signal: AbortSignal): Promise<LispSession> {
    if (session === this.#opened) {
      this.#current = this.#replace(session);
      // Callers that wait for the session get the error.
      this.#current.catch(() => undefined);
    }
    return this.session(signal);
  }

  /** Ends a session without a successor: the next call opens one. No answer reports that. Never rejects. */
  async disconnect(session: LispSession): Promise<void> {
    if (session === this.#opened) this.#forget(session);
    await session.close();
  }

  /** Ends evaluations, the connection, a launched image, and any launch in progress. Never rejects. */
  async close(): Promise<void> {
    this.#ending.abort();
    const session = await this.#current?.catch(() => undefined);
    await session?.close();
  }

  async #replace(session: LispSession): Promise<LispSession> {
    this.#forget(session);
    this.#retiring = session;
    await session.close();
    this.#retiring = undefined;
    return this.#connect();
  }

  #forget(session: LispSession): void {
    this.forms.lastPackage = session.packageName;
    session.retire();
    this.#current = undefined;
    this.#opened = undefined;
    this.#ready = undefined;
  }

  async #connect(): Promise<LispSession> {
    try {
      const session = await this.#open(
        this.#ending.signal,
        (reason) => this.#delayed(reason),
        (file) => {
          this.#loading = { file, since: Date.now() };
        },
      );
      this.#watch(session);
      await this.#reportLoss(session);
      for (const remark of session.remarks) this.#tell((user) => user.onNotice(remark));
      this.#ready = session;
      this.#failure = undefined;
      for (const listener of this.#sessionListeners) listener(session);
      void session.client.closed.then(({ details }) => this.#lost(session, details.kicked));
      return session;
    } catch (error) {
      this.#current = undefined;
      this.#failure = reasonOf(error);
      throw this.#loss?.isKick === true ? explainKicked(error) : error;
    } finally {
      this.#delay = undefined;
      this.#loading = undefined;
    }
  }

  #delayed(reason: string): void {
    this.#delay = reason;
    for (const onDelay of this.#waiting) onDelay(reason);
  }

  /** Reports delays to a waiting call. Returns the function that ends this. */
  #reportDelay(onDelay: OnDelay): () => void {
    const report: OnDelay = (reason) => onDelay(reason);
    this.#waiting.add(report);
    if (this.#delay !== undefined) report(this.#delay);
    return () => this.#waiting.delete(report);
  }

  #watch(session: LispSession): void {
    const { client } = session;
    this.#opened = session;
    // Threads may have stopped while the session was being opened, e.g. threads that a loaded file started.
    for (const stop of client.stops) this.#tell((user) => user.onStop(stop, session));
    client.on("stop", (stop) => this.#tell((user) => user.onStop(stop, session)));
    client.on("hitElsewhere", (hit) => this.#tell((user) => user.onHitElsewhere(hit)));
    client.on("threadEnded", (ended) => this.#tell((user) => user.onThreadEnded(ended)));
    client.on("threadOutput", (output) => this.#tell((user) => user.onThreadOutput(output, session)));
    client.on("sessionForm", (form) => this.forms.note(form, session));
    client.on("userAsks", (request) => this.#tell((user) => user.onUserAsks(request)));
    client.on("paused", ({ isPaused }) => {
      this.#isPaused = isPaused;
      this.#tell((user) => user.onPaused(isPaused));
    });
  }

  #lost(session: LispSession, kicked: types.SwankErrorDetails["kicked"]): void {
    this.#goOn();
    if (this.#ending.signal.aborted || session.isRetired) return;
    if (kicked === "alone") this.#tell((user) => user.onThrownOut());
    this.forms.lastPackage = session.packageName;
    this.#current = undefined;
    this.#opened = undefined;
    this.#ready = undefined;
    this.#loss = { identity: session.identity, why: session.explainLoss(), isKick: kicked === true };
    // An image of our own that hangs does not notice the loss of its connection, and would stay beside the next one.
    void session.close();
  }

  /** Lets agents go on that somebody has paused who can no longer reach them. */
  #goOn(): void {
    if (this.#isPaused) this.#tell((user) => user.onPaused(false));
    this.#isPaused = false;
  }

  async #reportLoss(session: LispSession): Promise<void> {
    const loss = this.#loss;
    if (loss === undefined) return;
    this.#loss = undefined;
    const { pid } = session.client.info;
    const image = `image${pid === undefined ? "" : ` (pid ${pid})`}`;
    const now =
      session.identity === loss.identity
        ? `This answer comes from the same ${image} over a new connection: definitions are still there. Stops, breakpoints and object ids, if there were any, are gone.`
        : `This answer comes from a new ${image}: definitions of the previous image are gone. So are stops, breakpoints and object ids, if there were any.`;
    const notice = `${oneLine(await loss.why, MAX_REASON)} ${now}`;
    const isRestorable = session.identity !== loss.identity && !this.forms.isEmpty;
    this.#tell((user) => user.onNotice(notice, isRestorable ? RESTORABLE : undefined));
  }

  #tell(tell: (user: ImageUser) => void): void {
    for (const user of this.#users) tell(user);
  }
}

/** Settles as the promise does, or rejects with `CANCELLED` as soon as the signal is aborted. Calls `onEnd` after that. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, onEnd: () => void = () => undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = () => {
      reject(new Refusal("CANCELLED", "The call was cancelled before Lisp was reached."));
      onEnd();
    };
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", cancel);
      onEnd();
    });
  });
}

export type ImageOrigin = OwnOrigin | AttachedOrigin;

/** Where other clients can connect to a launched image, or why they cannot. */
export type SharedAt =
  | {
      readonly address: string;
      /** File of the secret that clients must send; `undefined` if none is required. */
      readonly secretFile: string | undefined;
    }
  | { readonly problem: string };

export interface OwnOrigin {
  readonly kind: "own";
  /** Where other clients can connect to it; absent without `--share`. */
  readonly shared?: SharedAt | undefined;
}

/** An image to which this session has only a connection of its own: the server did not start it, or launched it for several agents. */
export interface AttachedOrigin {
  readonly kind: "attached";
  readonly address: string;
  /** Whether this server launched it, and so ends it. */
  readonly isLaunchedHere?: boolean;
  readonly warning?: string;
}

/**
 * What an image's process has written to its own stdout and stderr. Threads of the program, child processes and C code write there; the output
 * of evaluations and of the threads that they start does not come this way.
 */
interface ProcessOutput {
  readonly length: number;
  readonly tail: string;
  /** The output after the first `position` characters. */
  since(position: number): OutputPart;
}

export interface SessionParts {
  readonly client: LispClient;
  readonly origin: ImageOrigin;
  /** Finds out that the image does not answer, or that the connection is dead. */
  readonly check?: ConnectionCheck;
  /** Absent for an image that this server did not start: its output is not seen here. */
  readonly processOutput?: ProcessOutput;
  /** Identifies the image: equal for all connections to one image, and different for different images. */
  readonly identity: string;
  /** Facts about opening the session for the agent and the log, in sentences; usually none. */
  readonly remarks?: readonly string[];
  /** Whether a file of the user was not loaded completely; the remarks say which. */
  readonly isPartlyLoaded?: boolean;
  /** Facts about an unusual launch, in sentences; usually none. */
  readonly notes?: readonly string[];
  /**
   * The image's current directory. This small request also shows whether the image answers.
   *
   * @throws SwankError `REQUEST_TIMEOUT` after a few seconds, `CANCELLED`, or the reason of a closed connection.
   */
  directory(signal: AbortSignal): Promise<string>;
  /** The lock that requests of this session wait for, and its holder, in words; `undefined` if none is known. Never rejects. */
  awaitedLock?(): Promise<string | undefined>;
  /** Why the connection was lost, in detail. Call it only after the loss; it settles soon. */
  explainLoss(): Promise<string>;
  /** Ends the evaluations, the connection and a launched image. Never rejects. */
  close(): Promise<void>;
}

/** A connection to an image, from the first tool that needs it to the end of the image or the server. */
export type LispSession = ReturnType<typeof lispSession>;

export function lispSession({ remarks = [], notes = [], isPartlyLoaded = false, ...parts }: SessionParts) {
  const { client, check, processOutput, awaitedLock = async () => undefined } = parts;
  let packageName = client.info.package.name;
  let isRetired = false;
  let resets = 0;
  return {
    ...parts,
    check,
    processOutput,
    awaitedLock,
    remarks,
    notes,
    isPartlyLoaded,
    /** Characters that the process had written when the session was opened. */
    outputAtStart: processOutput?.length ?? 0,
    /** The faults of swank-client's own code in the image. */
    faults: new FaultCounter(client),
    /** The current package, as the latest evaluation left it. */
    get packageName(): string {
      return packageName;
    },
    /** Sets the current package after an evaluation has ended or stopped. */
    follow(name: string): void {
      packageName = name;
    },
    /** True once the session is being replaced: its loss is then intended. */
    get isRetired(): boolean {
      return isRetired;
    },
    /** Marks the session as being replaced, before it is closed. */
    retire(): void {
      isRetired = true;
      resets += 1;
    },
    /** Number of resets. If it changes during an evaluation, a reset may have ended the evaluation. */
    get resets(): number {
      return resets;
    },
    /** Counts a reset, which is about to abort the session's evaluations. */
    noteReset(): void {
      resets += 1;
    },
  };
}

/** Counts the faults of swank-client's own code in an image, and logs each once. */
class FaultCounter {
  readonly #client: Pick<LispClient, "faults">;
  #log: Log = () => undefined;
  #logged = 0;
  #asking: Promise<number> | undefined;

  constructor(client: Pick<LispClient, "faults">) {
    this.#client = client;
  }

  /** Logs the faults that are found from now on. */
  logTo(log: Log): void {
    this.#log = log;
  }

  /** Returns the number of faults since the first one. @throws SwankError `REQUEST_TIMEOUT`, or the reason of a closed connection. */
  count(): Promise<number> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<number> {
    const faults = await this.#client.faults();
    for (const fault of faults) if (fault.number > this.#logged) this.#log(faultLine(fault));
    this.#logged = faults.at(-1)?.number ?? 0;
    return this.#logged;
  }
}

function faultLine({ number, time, type, text, functions }: types.Fault): string {
  const place = functions.length === 0 ? "" : ` in ${functions.join(", called by ")}`;
  return `internal fault ${number}, ${new Date(time).toISOString()}: ${type}${place}${text === "" ? "" : `: ${text}`}`;
}

/**
 * Opens a session.
 *
 * @param signal - Aborted when the server shuts down.
 * @param onDelay - Called with the reason, a sentence, when opening takes unusually long.
 */
export type OpenSession = (signal: AbortSignal, onDelay: OnDelay, onFile: OnFile) => Promise<LispSession>;

/** Receives the reason, a sentence, why opening a session takes unusually long. */
export type OnDelay = (reason: string) => void;

export type OnFile = (file: StartFile) => void;

/** The name of the agent that a process serves. The client gives it before the image is needed. */
export class AgentName {
  #text = "agent";

  get text(): string {
    return this.#text;
  }

  /** Sets the name, unless it is empty. */
  set(text: string | undefined): void {
    if (text !== undefined && text.trim() !== "") this.#text = text.trim();
  }
}
