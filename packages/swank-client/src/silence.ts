import { setTimeout as pause } from "node:timers/promises";
import { within } from "./base/waiting.js";
import type { SwankClient } from "./client.js";
import { openConnection, type SecretOption } from "./handshake/handshake.js";
import { awaitedLock, unservedReason } from "./runtime/caller.js";
import { image } from "./swank/program.js";
import type { TransportOpener } from "./wire/transport.js";

const { defaultDirectory } = image;

/** Milliseconds that the image has to answer a small request, so that callers get an answer even if the image hangs. */
export const ANSWER_TIME = 3000;

/** Milliseconds until a request has reached the lock that it waits for. */
const REACHED_TIME = 200;

/**
 * The image's current directory, which evaluated code can change.
 *
 * @throws SwankError `REQUEST_TIMEOUT` when the image does not answer within 3 s, `CANCELLED`, or the reason of a closed connection.
 */
export function imageDirectory(client: SwankClient, signal: AbortSignal): Promise<string> {
  return client.lisp.with({ timeout: ANSWER_TIME, signal }).run(defaultDirectory);
}

/** The lock that requests of a client wait for, and its holder, in words; `undefined` if none is known. Never rejects. */
export async function awaitedLockOf(client: SwankClient) {
  // Requests that were not answered may have been ended. This one waits while the image is asked.
  const ending = new AbortController();
  imageDirectory(client, ending.signal).catch(() => undefined);
  await pause(REACHED_TIME);
  const lock = await awaitedLock(client.connection);
  ending.abort();
  return lock;
}

/** Milliseconds that a connection has to give a sign of life. */
const LIFE_TIME = 3000;

/** The same for a connection that is known to be silent, so that its users need not wait long. */
const KNOWN_TIME = 500;

/** Milliseconds until a second connection counts as not answered. The attempt continues after that. */
const SECOND_TIME = 4000;

/** The parts of a connection that its check needs. */
interface CheckedConnection {
  /** Where it leads, e.g. `127.0.0.1:4005`. */
  readonly address: string;
  readonly isOpen: boolean;
  /** Grows whenever something arrives. */
  readonly received: number;
  /** Asks for a sign of life. Whether anything arrives within `time` milliseconds. Never rejects. */
  answersWithin(time: number): Promise<boolean>;
  /**
   * Connects to the same address again, and closes that connection when Lisp has answered on it. Absent if there can be only one connection.
   *
   * @returns the lock that keeps the image from reading a connection, and its holder, in words; `undefined` if there is none.
   */
  connectAgain?: (() => Promise<string | undefined>) | undefined;
  /** Closes the connection because it is dead. Never rejects. */
  abandon(): Promise<void>;
}

/** What is known about a connection on which nothing arrives. */
export interface Silence {
  /** A sentence. */
  readonly text: string;
  /** Whether the image is known to wait for a lock, which the text names. */
  readonly isLocked: boolean;
}

/** A silence, and when it was found. */
interface FoundSilence extends Silence {
  /** The connection's `received` at that time. */
  readonly received: number;
}

/** How to check a connection. */
export interface CheckOptions extends Pick<CheckedConnection, "address" | "abandon"> {
  /** A way to connect to the same address again. Absent if there can be only one connection. */
  readonly again?: { readonly opener: TransportOpener; readonly secret?: SecretOption | undefined };
}

/** The check of a client's connection. It runs by itself when the connection is overdue. */
export function checkOf(client: SwankClient, { address, again, abandon }: CheckOptions): ConnectionCheck {
  const { connection } = client;
  const check = new ConnectionCheck({
    address,
    abandon,
    connectAgain: again && (() => connectBriefly(again, client.closed)),
    get isOpen() {
      return connection.isOpen;
    },
    get received() {
      return connection.received;
    },
    answersWithin: (time) => connection.answersWithin(time),
  });
  connection.on("answering", (isAnswering) => {
    if (!isAnswering) void check.run();
  });
  return check;
}

/** Longest time, in milliseconds, for which a second connection may stay unanswered. */
const SECOND_LIMIT = 600_000;

/**
 * Connects until Lisp has answered. A connection that is not answered stays open until its heartbeat or the first connection ends.
 *
 * @returns the lock that keeps Lisp from serving its other connections, if that is known
 */
async function connectBriefly(
  { opener, secret }: NonNullable<CheckOptions["again"]>,
  firstEnd: Promise<unknown>,
): Promise<string | undefined> {
  const ending = new AbortController();
  void firstEnd.then(() => ending.abort());
  const { connection } = await openConnection(opener, { secret, timeout: SECOND_LIMIT, signal: ending.signal });
  const lock = await unservedReason(connection);
  await connection.close();
  return lock;
}

/** How the attempt to connect a second time ended. */
type SecondEnd = { readonly failure: string } | { readonly lock: string | undefined };

/**
 * Tells a dead connection from an image that does not answer.
 *
 * Nothing arrives on a half-open connection, e.g. after a tunnel or a suspended laptop has lost its state. A second connection to the same
 * address shows the difference: if it is answered, the first one is closed, and its user can connect again. It stays open if the image waits for
 * a lock before it can read the next message: the connection and its stops then live on when the lock is released.
 */
export class ConnectionCheck {
  readonly #connection: CheckedConnection;
  #checking: Promise<Silence | undefined> | undefined;
  #silence: FoundSilence | undefined;
  #hasAbandoned = false;
  /** The attempt to connect a second time. There is never more than one. */
  #second: Promise<SecondEnd> | undefined;

  constructor(connection: CheckedConnection) {
    this.#connection = connection;
  }

  /** Whether a check has closed the connection because it was dead. */
  get hasAbandoned(): boolean {
    return this.#hasAbandoned;
  }

  /**
   * Asks for a sign of life, and connects a second time if there is none. Calls at the same time share one check. Never rejects.
   *
   * @returns the silence if neither connection is answered, or the image waits for a lock; `undefined` if the connection is answered or closed.
   */
  run(): Promise<Silence | undefined> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** The result of the last check if nothing has arrived since, after half a second at most. Begins another check. Never rejects. */
  async known(): Promise<Silence | undefined> {
    const silence = this.#silence;
    if (silence === undefined || !this.#isSilent(silence)) return undefined;
    if (await this.#connection.answersWithin(KNOWN_TIME)) return undefined;
    void this.run();
    return this.#connection.isOpen ? silence : undefined;
  }

  #isSilent({ received }: FoundSilence): boolean {
    return this.#connection.isOpen && this.#connection.received === received;
  }

  async #check(): Promise<Silence | undefined> {
    if (await this.#isAlive()) return this.#heard();
    if (this.#connection.connectAgain === undefined) {
      if (await this.#connection.answersWithin(SECOND_TIME)) return this.#heard();
      return this.#noteSilence("The image does not answer other requests either.");
    }
    this.#second ??= this.#connectAgain();
    const second = await within(this.#second, { timeout: SECOND_TIME });
    if (!this.#connection.isOpen) return undefined;
    const silent = `Nothing arrives on the connection to ${this.#connection.address}, and a second connection`;
    if (second === undefined) return this.#noteSilence(`${silent} is not answered either.`);
    if ("failure" in second) return this.#noteSilence(`${silent} failed: ${second.failure}`);
    // An image that was suspended answers both.
    if (await this.#isAlive()) return this.#heard();
    if (second.lock !== undefined) return this.#noteSilence(lockedText(second.lock), true);
    await this.#abandon();
    return this.#heard();
  }

  #noteSilence(text: string, isLocked = false): Silence | undefined {
    if (!this.#connection.isOpen) return undefined;
    const silence = { text, isLocked, received: this.#connection.received };
    this.#silence = silence;
    return silence;
  }

  async #isAlive(): Promise<boolean> {
    return !this.#connection.isOpen || (await this.#connection.answersWithin(LIFE_TIME));
  }

  #heard(): undefined {
    this.#silence = undefined;
    return undefined;
  }

  /** An attempt that is answered late checks the first connection again. */
  async #connectAgain(): Promise<SecondEnd> {
    try {
      const lock = await this.#connection.connectAgain?.();
      if (this.#silence !== undefined && lock === undefined) void this.#lateAnswer();
      return { lock };
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    } finally {
      this.#second = undefined;
    }
  }

  async #lateAnswer(): Promise<void> {
    if (!(await this.#isAlive())) await this.#abandon();
  }

  async #abandon(): Promise<void> {
    if (!this.#connection.isOpen) return;
    this.#hasAbandoned = true;
    await this.#connection.abandon();
  }
}

function lockedText(lock: string): string {
  return `The image answers a second connection, but reads nothing from this one: a thread of Swank that serves a connection waits for ${lock}.`;
}
