import type { Sexp } from "sexp-parser";
import type { Reply } from "../protocol/wire/messages.js";

/** Options for sending a form to a place. */
export interface SendOptions {
  /** Names the operation in error messages. */
  readonly label: string;
  /** The form may make its thread leave the place. Leaving then means success. */
  readonly mayLeave: boolean;
  /** Milliseconds to wait for the reply. Default: the place's own. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Where a function runs: a thread of an image, or a way to start one. */
export interface Place {
  /** @throws SwankError if there is no reply: the form signalled an error, the wait ended, or the connection closed. */
  send(form: Sexp, options: SendOptions): Promise<Reply>;
}
