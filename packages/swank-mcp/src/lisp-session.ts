import type { LispClient } from "./lisp-port.js";

/** Which image a session is in. */
export type ImageOrigin = { readonly kind: "own" } | { readonly kind: "attached"; readonly address: string };

/** A connection to an image, from the first tool that needs it to the image's or the server's end. */
export interface LispSession {
  readonly client: LispClient;
  readonly origin: ImageOrigin;
  /** What the user should know of how it came about, sentences; most often nothing. */
  readonly remarks: readonly string[];
  /** Why the connection is gone, in as much detail as there is; settles soon after it is. Only to be asked then. */
  explainLoss(): Promise<string>;
  /** Ends the evaluations, the connection and an image of our own. Never rejects. */
  close(): Promise<void>;
}

/**
 * Makes a session.
 *
 * @param signal - Aborted when the server shuts down.
 */
export type OpenSession = (signal: AbortSignal) => Promise<LispSession>;
