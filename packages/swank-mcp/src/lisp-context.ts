import { oneLine } from "./format/cut.js";
import type { LispSession, OpenSession } from "./lisp-session.js";
import type { Notices } from "./notices.js";
import { Refusal } from "./refusal.js";

/** Characters of the reason for a loss that the notice repeats: the evaluation that was lost has told it all. */
const MAX_REASON = 300;

/** The session that went away, as far as the next answer must tell of it. */
interface Loss {
  readonly identity: string;
  readonly why: Promise<string>;
}

/**
 * The server's way to Lisp: made when a tool first needs it, shared by all calls, made anew after it was lost.
 *
 * Calls do not wait for each other here, except for the connection that they all need.
 */
export class LispContext {
  readonly #open: OpenSession;
  readonly #notices: Notices;
  readonly #ending = new AbortController();
  #current: Promise<LispSession> | undefined;
  /** The session that is being replaced. */
  #retiring: LispSession | undefined;
  #loss: Loss | undefined;

  constructor(open: OpenSession, notices: Notices) {
    this.#open = open;
    this.#notices = notices;
  }

  /**
   * The session, connected first if need be.
   *
   * @param signal - Ends this caller's waiting, not the connecting: another call may want it.
   * @throws Refusal `SHUTTING_DOWN`, `CANCELLED`, and what connecting or launching fails with; the next call tries again.
   */
  session(signal: AbortSignal): Promise<LispSession> {
    if (this.#ending.signal.aborted)
      return Promise.reject(new Refusal("SHUTTING_DOWN", "The server is shutting down."));
    this.#current ??= this.#connect();
    return unlessAborted(this.#current, signal);
  }

  /**
   * The session that there is, once it is connected, or the one that is being replaced; `undefined` when there is none. Nothing is
   * connected or launched for it.
   */
  current(signal?: AbortSignal): Promise<LispSession | undefined> {
    const current = Promise.resolve(this.#retiring ?? this.#current?.catch(() => undefined));
    return signal === undefined ? current : unlessAborted(current, signal);
  }

  /** Why the last session was lost, a sentence, as long as no other one has taken its place. */
  async loss(): Promise<string | undefined> {
    const why = await this.#loss?.why;
    return why === undefined ? undefined : oneLine(why, MAX_REASON);
  }

  /**
   * Ends a session with all that is in its image, and makes a new one; calls that come meanwhile wait for that.
   *
   * @throws as `session` does; the session is ended all the same.
   */
  renew(session: LispSession, signal: AbortSignal): Promise<LispSession> {
    if (!session.isRetired) {
      this.#current = this.#replace(session);
      // what comes of it, those who wait for the session are told
      this.#current.catch(() => undefined);
    }
    return this.session(signal);
  }

  /** Ends the session if there is one, and whatever is being started. Never rejects. */
  async close(): Promise<void> {
    this.#ending.abort();
    const session = await this.#current?.catch(() => undefined);
    await session?.close();
  }

  async #replace(session: LispSession): Promise<LispSession> {
    session.retire();
    this.#retiring = session;
    await session.close();
    this.#retiring = undefined;
    return this.#connect();
  }

  async #connect(): Promise<LispSession> {
    try {
      const session = await this.#open(this.#ending.signal);
      await this.#tellOfLoss(session);
      for (const remark of session.remarks) this.#notices.add(remark);
      void session.client.closed.then(() => this.#lost(session));
      return session;
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  #lost(session: LispSession): void {
    if (this.#ending.signal.aborted || session.isRetired) return;
    this.#current = undefined;
    this.#loss = { identity: session.identity, why: session.explainLoss() };
  }

  async #tellOfLoss(session: LispSession): Promise<void> {
    const loss = this.#loss;
    if (loss === undefined) return;
    this.#loss = undefined;
    const { pid } = session.client.info;
    const image = `image${pid === undefined ? "" : ` (pid ${pid})`}`;
    const now =
      session.identity === loss.identity
        ? `This answer comes from the same ${image}, connected to anew: definitions are still there; stops, breakpoints and object ids are not.`
        : `This answer comes from a new ${image}: definitions, stops, breakpoints and object ids of the one before are gone.`;
    this.#notices.add(`${oneLine(await loss.why, MAX_REASON)} ${now}`);
  }
}

/** The promise's end, or a refusal as soon as the signal is aborted. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new Refusal("CANCELLED", "The call was cancelled before Lisp was reached."));
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", cancel));
  });
}
