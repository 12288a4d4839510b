import type { ApprovalRequest } from "../agent/approval-request.js";
import type { DebuggedStop, StopAction } from "../image/lisp-port.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import type { AddressedStop } from "./stop-address.js";

/** The members of a stop that change nothing in the image. */
export type ReadOnlyStop = Omit<DebuggedStop, "evaluation" | StopAction>;

/** The request to the user. The runner adds the stop and its owner. */
export type StopRequest = Omit<ApprovalRequest, "stop" | "isForeign" | "owner" | "instead">;

/** A tool's planned action on a stop. */
export interface StopPlan {
  /**
   * `continue` resumes the thread: the user is asked only if that does more than resume, or if the thread belongs to another client or the
   * program. `impossible-elsewhere` is an action that is impossible on a stop in another client's debugger: it is refused without a
   * question.
   */
  readonly request: StopRequest | "continue" | "impossible-elsewhere";
  /** Whether the action only aborts the stop: the user is asked only about a stop that belongs to another client or the program. */
  readonly isAbort?: boolean;
  /** Called only if the user allows it. */
  act(found: AddressedStop): Promise<ToolAnswer>;
}
