import { settledWithin } from "../process/settled-within.js";

/** Milliseconds that a connection has to give a sign of life. */
const LIFE_TIME = 3000;
/** The same for a connection that is known to be silent: calls on it are refused without a longer wait. */
const KNOWN_TIME = 500;
/** Milliseconds until a second connection counts as not answered. The attempt continues after that. */
const SECOND_TIME = 4000;

/** The parts of a connection that its check needs. */
export interface CheckedConnection {
  /** Where it leads, e.g. `127.0.0.1:4005`. */
  readonly address: string;
  readonly isOpen: boolean;
  /** Grows whenever something arrives. */
  readonly received: number;
  /** Asks for a sign of life. Whether anything arrives within `time` milliseconds. Never rejects. */
  answersWithin(time: number): Promise<boolean>;
  /** Connects to the same address again, and closes that connection when Lisp has answered on it. */
  connectAgain(): Promise<void>;
  /** Closes the connection because it is dead. Never rejects. */
  abandon(): Promise<void>;
}

/** What is known about a connection on which nothing arrives. */
interface Silence {
  /** A sentence. */
  readonly text: string;
  /** The connection's `received` at that time. */
  readonly received: number;
}

/**
 * Tells a dead connection from an image that does not answer.
 *
 * Nothing arrives on a half-open connection, e.g. after a tunnel or a suspended laptop has lost its state. A second connection to the same
 * address shows the difference: if it is answered, the first one is closed, and the next call connects again.
 */
export class ConnectionCheck {
  readonly #connection: CheckedConnection;
  #checking: Promise<string | undefined> | undefined;
  #silence: Silence | undefined;
  #hasAbandoned = false;
  /** The attempt to connect a second time; resolves with the reason if it fails. There is never more than one. */
  #second: Promise<string | undefined> | undefined;

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
   * @returns a sentence about the silence if neither connection is answered; `undefined` if the connection is answered or closed.
   */
  run(): Promise<string | undefined> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** The result of the last check if nothing has arrived since, after half a second at most. Begins another check. Never rejects. */
  async known(): Promise<string | undefined> {
    const silence = this.#silence;
    if (silence === undefined || !this.#isSilent(silence)) return undefined;
    if (await this.#connection.answersWithin(KNOWN_TIME)) return undefined;
    void this.run();
    return this.#connection.isOpen ? silence.text : undefined;
  }

  #isSilent({ received }: Silence): boolean {
    return this.#connection.isOpen && this.#connection.received === received;
  }

  async #check(): Promise<string | undefined> {
    if (await this.#isAlive()) return this.#heard();
    this.#second ??= this.#connectAgain();
    const second = await settledWithin(SECOND_TIME, this.#second);
    if (!this.#connection.isOpen) return undefined;
    if (second !== undefined && second.value === undefined) {
      // An image that was suspended answers both.
      if (!(await this.#isAlive())) await this.#abandon();
      return this.#heard();
    }
    const result =
      second?.value === undefined
        ? "a second connection is not answered either."
        : `a second connection failed: ${second.value}`;
    const text = `Nothing arrives on the connection to ${this.#connection.address}, and ${result}`;
    const silence = { text, received: this.#connection.received };
    this.#silence = silence;
    return text;
  }

  async #isAlive(): Promise<boolean> {
    return !this.#connection.isOpen || (await this.#connection.answersWithin(LIFE_TIME));
  }

  #heard(): undefined {
    this.#silence = undefined;
    return undefined;
  }

  /** An attempt that is answered late checks the first connection again. */
  async #connectAgain(): Promise<string | undefined> {
    try {
      await this.#connection.connectAgain();
      if (this.#silence !== undefined) void this.#lateAnswer();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
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
