import type { StartFile } from "../refusals/explain-unlaunched.js";
import type { ConnectionCheck } from "./connection-check.js";
import type { LispClient } from "./lisp-port.js";
import type { SharedAt } from "./sharing.js";

/** How the server got a session's image. */
export type ImageOrigin = OwnOrigin | AttachedOrigin;

/** An image that this server launched. */
export interface OwnOrigin {
  readonly kind: "own";
  /** Where other clients can connect to it; absent without `--share`. */
  readonly shared?: SharedAt | undefined;
}

/** An image that this server did not start. */
export interface AttachedOrigin {
  readonly kind: "attached";
  readonly address: string;
  /** Why the connection is unsafe, if it is. */
  readonly warning?: string;
}

/**
 * What an image's process has written to its own stdout and stderr. Other threads, child processes and C code write there; the output of
 * evaluations does not come this way.
 */
export interface ProcessOutput {
  /** The number of characters so far. */
  readonly length: number;
  /** The end of the output. */
  readonly tail: string;
}

/** The parts of a session. */
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
  /** The image's current directory; rejects within a few seconds if the image does not answer. */
  directory(signal: AbortSignal): Promise<string>;
  /** Why the connection was lost, in detail. Call it only after the loss; it settles soon. */
  explainLoss(): Promise<string>;
  /** Ends the evaluations, the connection and a launched image. Never rejects. */
  close(): Promise<void>;
}

/** A connection to an image, from the first tool that needs it to the end of the image or the server. */
export class LispSession {
  readonly client: LispClient;
  readonly origin: ImageOrigin;
  readonly identity: string;
  readonly remarks: readonly string[];
  readonly isPartlyLoaded: boolean;
  readonly notes: readonly string[];
  readonly check: ConnectionCheck | undefined;
  readonly processOutput: ProcessOutput | undefined;
  /** Characters that the process had written when the session was opened. */
  readonly outputAtStart: number;
  readonly #parts: SessionParts;
  #packageName: string;
  #isRetired = false;
  #resets = 0;

  constructor(parts: SessionParts) {
    this.client = parts.client;
    this.origin = parts.origin;
    this.identity = parts.identity;
    this.remarks = parts.remarks ?? [];
    this.isPartlyLoaded = parts.isPartlyLoaded ?? false;
    this.notes = parts.notes ?? [];
    this.check = parts.check;
    this.processOutput = parts.processOutput;
    this.outputAtStart = parts.processOutput?.length ?? 0;
    this.#parts = parts;
    this.#packageName = parts.client.info.package.name;
  }

  /** The current package, as the latest evaluation left it. */
  get packageName(): string {
    return this.#packageName;
  }

  /** Sets the current package after an evaluation has ended or stopped. */
  follow(packageName: string): void {
    this.#packageName = packageName;
  }

  /** True once the session is being replaced: its loss is then intended. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** Marks the session as being replaced, before it is closed. */
  retire(): void {
    this.#isRetired = true;
    this.noteReset();
  }

  /** Number of resets. If it changes during an evaluation, a reset may have ended the evaluation. */
  get resets(): number {
    return this.#resets;
  }

  /** Counts a reset, which is about to abort the session's evaluations. */
  noteReset(): void {
    this.#resets += 1;
  }

  /**
   * The image's current directory. This small request also shows whether the image answers.
   *
   * @throws SwankError `REQUEST_TIMEOUT` after a few seconds, `CANCELLED`, or the reason of a closed connection.
   */
  directory(signal: AbortSignal): Promise<string> {
    return this.#parts.directory(signal);
  }

  /** Why the connection was lost, in detail. Call it only after the loss; it settles soon. */
  explainLoss(): Promise<string> {
    return this.#parts.explainLoss();
  }

  /** Ends the evaluations, the connection and a launched image. Never rejects. */
  close(): Promise<void> {
    return this.#parts.close();
  }
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

/** Called before a file of the user is loaded into a new image. */
export type OnFile = (file: StartFile) => void;
