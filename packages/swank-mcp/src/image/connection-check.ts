import type { SwankClient } from "swank-client";
import { settledWithin } from "../process/settled-within.js";

/** Milliseconds that a connection has to give a sign of life. */
const LIFE_TIME = 3000;
/** The same for a connection that is known to be silent: calls on it are refused without a longer wait. */
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
  connectAgain?(): Promise<string | undefined>;
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

/** The check of a client's connection. It runs by itself when the connection is overdue. */
export function checkOf(
  { connection }: SwankClient,
  parts: Pick<CheckedConnection, "address" | "connectAgain" | "abandon">,
): ConnectionCheck {
  const check = new ConnectionCheck({
    ...parts,
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

/** How the attempt to connect a second time ended. */
type SecondEnd = { readonly failure: string } | { readonly lock: string | undefined };

/**
 * Tells a dead connection from an image that does not answer.
 *
 * Nothing arrives on a half-open connection, e.g. after a tunnel or a suspended laptop has lost its state. A second connection to the same
 * address shows the difference: if it is answered, the first one is closed, and the next call connects again. It stays open if the image waits for
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
    const second = (await settledWithin(SECOND_TIME, this.#second))?.value;
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
