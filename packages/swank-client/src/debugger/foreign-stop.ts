import type { ErrorSnapshot } from "../evaluation/outcome.js";
import type { DebuggerSession } from "./debugger-session.js";
import type { StopOwner } from "./stop-owner.js";

/** What is known of a stop without asking its thread. */
export interface ForeignStopReport {
  /** The image's number for it; no other stop gets the same. */
  readonly number: number;
  /** Swank's id of the thread. */
  readonly thread: number;
  readonly level: number;
  readonly threadName: string;
  readonly condition: Pick<ErrorSnapshot, "type" | "class" | "message" | "restarts">;
  readonly owner: StopOwner;
}

/** A thread that is stopped in another client's debugger, as it was found. */
export interface ForeignStop extends ForeignStopReport {
  /** False once it is known that the thread went on: asking for it is what finds out. */
  readonly isLive: boolean;
  /**
   * Looks at it more closely, which its owner does not notice. What the session then changes, the owner sees as if a person had done it there.
   *
   * @returns The same session each time.
   * @throws SwankError `STALE_SESSION`; `REQUEST_TIMEOUT` when the thread does not answer, which leaves nothing behind in it.
   */
  open(): Promise<DebuggerSession>;
}
