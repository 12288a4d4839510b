import type { LispClient } from "./lisp-port.js";
import type { SharedAt } from "./sharing.js";

/** Which image a session is in. */
export type ImageOrigin = OwnOrigin | AttachedOrigin;

/** An image that this server launched. */
export interface OwnOrigin {
  readonly kind: "own";
  /** Where others can connect to it, if that was wanted. */
  readonly shared?: SharedAt | undefined;
}

/** An image that somebody else started. */
export interface AttachedOrigin {
  readonly kind: "attached";
  readonly address: string;
  /** What is unsafe about the way to it. */
  readonly warning?: string;
}

/** What a session is made of. */
export interface SessionParts {
  readonly client: LispClient;
  readonly origin: ImageOrigin;
  /** The same for every connection to the same image, and another for every other image. */
  readonly identity: string;
  /** What the user should know of how it came about, sentences; most often nothing. */
  readonly remarks?: readonly string[];
  /** What is odd about how it was launched, sentences; most often nothing. */
  readonly notes?: readonly string[];
  /** The image's current directory; rejects soon when the image does not answer. */
  directory(signal: AbortSignal): Promise<string>;
  /** Why the connection is gone, in as much detail as there is; settles soon after it is. Only to be asked then. */
  explainLoss(): Promise<string>;
  /** Ends the evaluations, the connection and an image of our own. Never rejects. */
  close(): Promise<void>;
}

/** A connection to an image, from the first tool that needs it to the image's or the server's end. */
export class LispSession {
  readonly client: LispClient;
  readonly origin: ImageOrigin;
  readonly identity: string;
  readonly remarks: readonly string[];
  readonly notes: readonly string[];
  readonly #parts: SessionParts;
  #packageName: string;
  #isRetired = false;
  #resets = 0;

  constructor(parts: SessionParts) {
    this.client = parts.client;
    this.origin = parts.origin;
    this.identity = parts.identity;
    this.remarks = parts.remarks ?? [];
    this.notes = parts.notes ?? [];
    this.#parts = parts;
    this.#packageName = parts.client.info.package.name;
  }

  /** The package that code is read in, as the latest evaluation left it. */
  get packageName(): string {
    return this.#packageName;
  }

  /** An evaluation has ended or stopped in this package. */
  follow(packageName: string): void {
    this.#packageName = packageName;
  }

  /** True once it is being replaced: what is lost with it is lost on purpose. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** It is about to be closed, and another will take its place. */
  retire(): void {
    this.#isRetired = true;
    this.noteReset();
  }

  /** How often it was begun anew: what ends from one count to the next may have been ended by that. */
  get resets(): number {
    return this.#resets;
  }

  /** Its evaluations are about to be ended. */
  noteReset(): void {
    this.#resets += 1;
  }

  /**
   * The image's current directory; a small question that also shows whether the image answers.
   *
   * @throws SwankError `REQUEST_TIMEOUT` after a few seconds, `CANCELLED`, or the reason of a closed connection.
   */
  directory(signal: AbortSignal): Promise<string> {
    return this.#parts.directory(signal);
  }

  /** Why the connection is gone, in as much detail as there is; settles soon after it is. Only to be asked then. */
  explainLoss(): Promise<string> {
    return this.#parts.explainLoss();
  }

  /** Ends the evaluations, the connection and an image of our own. Never rejects. */
  close(): Promise<void> {
    return this.#parts.close();
  }
}

/**
 * Makes a session.
 *
 * @param signal - Aborted when the server shuts down.
 */
export type OpenSession = (signal: AbortSignal) => Promise<LispSession>;
