import type { DebuggerSession } from "../debugger/debugger-session.js";
import type { Outcome, Transcript } from "./outcome.js";
import type { WaitOptions } from "./outcome-slot.js";
import type { OutputStream } from "./transcript.js";

/** A piece of output, as it comes. */
export interface OutputChunk {
  readonly stream: OutputStream;
  readonly text: string;
}

/** One request to run code, from sending it to its final reply. `SwankClient.evaluate` makes them. */
export interface Evaluation {
  /** Id of the request. */
  readonly id: number;
  /** Swank's id of its thread, once that is known: after its first stop, or after it was to be interrupted or aborted. */
  readonly thread: number | undefined;
  /** The stop that it is in now, if it is stopped. */
  readonly stop: DebuggerSession | undefined;
  /** No outcome will come but the last one. */
  readonly isSettled: boolean;

  /**
   * How the evaluation goes on: its next outcome, or the one that is there and was not taken yet.
   *
   * After the last outcome (`returned`, `aborted`, `lost`) it gives that one again, with what threads that the code started have printed since.
   *
   * @throws SwankError `WAIT_TIMEOUT` when `timeout` passes, `CANCELLED` when `signal` is aborted (the evaluation goes on in both cases);
   * `NO_SUCH_PACKAGE`, `RUNTIME_FAILED`, `INVALID_ARGUMENT` or the reason of a closed connection when the code was never run.
   */
  next(options?: WaitOptions): Promise<Outcome>;

  /**
   * What has come since the last outcome was taken, while there is no other; the next outcome has what comes after it.
   */
  takeTranscript(): Transcript;

  /**
   * Stops it where it is: `next()` then gives a stop with the reason `interrupt`.
   *
   * @returns false if it is not running: stopped already, or settled.
   * @throws SwankError when the image cannot be asked.
   */
  interrupt(): Promise<boolean>;

  /**
   * Unwinds it to its end, stopped or running; by force if its cleanup forms do not come to an end.
   *
   * @returns Its last outcome, usually `aborted`.
   * @throws SwankError `WAIT_TIMEOUT` when not even force ended it (code that runs without interrupts); what `next` throws.
   */
  abort(): Promise<Outcome>;
}
