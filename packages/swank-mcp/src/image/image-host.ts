import { explainKicked } from "../refusals/explain-unattached.js";
import { explainLoading, type StartFile } from "../refusals/explain-unlaunched.js";
import { Refusal } from "../refusals/refusal.js";
import { oneLine } from "../text/cut.js";
import type { DebuggedStop, EndedThread, HitElsewhere, UserRequest } from "./lisp-port.js";
import type { LispSession, OnDelay, OpenSession } from "./lisp-session.js";

/** Most characters of a loss's reason in a notice. The answer of the lost evaluation has the whole reason. */
const MAX_REASON = 300;

/** A sentence for each family of tools, so that a client reads only those about tools that it has. */
const GONE_WITH_IT = "So are the object ids of debugger_frames. So are the breakpoints of breakpoint_set.";

/** A user of the image, with listeners for its events. */
export interface ImageUser {
  /** Adds a notice to the next answer, e.g. that the image was replaced or a file did not load. */
  onNotice(notice: string): void;
  /** A thread has stopped, or was already stopped when the session was opened. */
  onStop(stop: DebuggedStop, session: LispSession): void;
  /** A breakpoint has stopped a thread in another client's debugger. */
  onHitElsewhere(hit: HitElsewhere): void;
  /** An error ended a thread that evaluated code had started. */
  onThreadEnded(ended: EndedThread): void;
  /** A user of the image asks for something in Emacs. */
  onUserAsks(request: UserRequest): void;
}

/** A lost session, until the next answer reports it. */
interface Loss {
  readonly identity: string;
  readonly why: Promise<string>;
  /** Whether the user has disconnected all agents. */
  readonly isKick: boolean;
}

/**
 * Gives all users of the process one session with Lisp. Opens it when a tool first needs it, and again after a loss.
 *
 * The users share one connection, and with it the package, the history, the breakpoints and the recorded definitions. The state of a
 * single user is in its `AgentSession`. Calls wait here only for the connection, not for each other.
 */
export class ImageHost {
  readonly #open: OpenSession;
  readonly #longestWait: number | undefined;
  readonly #users = new Set<ImageUser>();
  readonly #ending = new AbortController();
  #current: Promise<LispSession> | undefined;
  /** The open session. */
  #opened: LispSession | undefined;
  /** The same, once its users have been told about the loss of the one before. */
  #ready: LispSession | undefined;
  /** The session that is being replaced. */
  #retiring: LispSession | undefined;
  #loss: Loss | undefined;
  /** Why opening the current session takes long. */
  #delay: string | undefined;
  /** The user's file that is being loaded into the image of the current session. */
  #loading: { readonly file: StartFile; readonly since: number } | undefined;
  /** The calls that wait for the session. */
  readonly #waiting = new Set<OnDelay>();

  /**
   * @param open - Opens a session; called when one is first needed.
   * @param longestWait - Milliseconds that a call waits while files are being loaded into a new image. The loading continues.
   */
  constructor(open: OpenSession, longestWait?: number) {
    this.#open = open;
    this.#longestWait = longestWait;
  }

  /**
   * Adds a user. It gets all events from now on, and the current stops.
   *
   * @returns a function that removes the user.
   */
  join(user: ImageUser): () => void {
    this.#users.add(user);
    const session = this.#opened;
    if (session !== undefined) for (const stop of session.client.stops) user.onStop(stop, session);
    return () => this.#users.delete(user);
  }

  /** Whether there is any user. */
  get hasUsers(): boolean {
    return this.#users.size > 0;
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

  /**
   * Returns the current session, once it is connected, or the one being replaced; `undefined` if there is none. Never connects or
   * launches.
   */
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

  /** Ends evaluations, the connection, a launched image, and any launch in progress. Never rejects. */
  async close(): Promise<void> {
    this.#ending.abort();
    const session = await this.#current?.catch(() => undefined);
    await session?.close();
  }

  async #replace(session: LispSession): Promise<LispSession> {
    session.retire();
    this.#retiring = session;
    this.#opened = undefined;
    this.#ready = undefined;
    await session.close();
    this.#retiring = undefined;
    return this.#connect();
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
      for (const remark of session.remarks) this.#notify(remark);
      this.#ready = session;
      void session.client.closed.then(({ details }) => this.#lost(session, details.kicked === true));
      return session;
    } catch (error) {
      this.#current = undefined;
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
    for (const stop of client.stops) for (const user of this.#users) user.onStop(stop, session);
    client.on("stop", (stop) => {
      for (const user of this.#users) user.onStop(stop, session);
    });
    client.on("hitElsewhere", (hit) => {
      for (const user of this.#users) user.onHitElsewhere(hit);
    });
    client.on("threadEnded", (ended) => {
      for (const user of this.#users) user.onThreadEnded(ended);
    });
    client.on("userAsks", (request) => {
      for (const user of this.#users) user.onUserAsks(request);
    });
  }

  #lost(session: LispSession, isKick: boolean): void {
    if (this.#ending.signal.aborted || session.isRetired) return;
    this.#current = undefined;
    this.#opened = undefined;
    this.#ready = undefined;
    this.#loss = { identity: session.identity, why: session.explainLoss(), isKick };
    // An image of our own that hangs does not notice the loss of its connection, and would stay beside the next one.
    void session.close();
  }

  async #reportLoss(session: LispSession): Promise<void> {
    const loss = this.#loss;
    if (loss === undefined) return;
    this.#loss = undefined;
    const { pid } = session.client.info;
    const image = `image${pid === undefined ? "" : ` (pid ${pid})`}`;
    const now =
      session.identity === loss.identity
        ? `This answer comes from the same ${image} over a new connection: definitions are still there; stops are gone. ${GONE_WITH_IT}`
        : `This answer comes from a new ${image}: definitions and stops of the previous image are gone. ${GONE_WITH_IT}`;
    this.#notify(`${oneLine(await loss.why, MAX_REASON)} ${now}`);
  }

  #notify(notice: string): void {
    for (const user of this.#users) user.onNotice(notice);
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
