import type { AgentSession } from "../agent/agent-session.js";
import type { ApprovalRequest } from "../agent/approval-request.js";
import type { Config } from "../cli/config.js";
import type { OutputStream } from "../image/lisp-port.js";
import type { LispSession } from "../image/lisp-session.js";
import type { ToolGuide } from "../text/tool-guide.js";

/** Everything that a running tool may use. */
export interface ToolContext {
  /** Aborted when the client cancels the call or disconnects, and when the user interrupts it: every wait then ends. */
  readonly signal: AbortSignal;
  /** Aborted only when the client cancels the call or disconnects. An interrupted evaluation pauses instead, to be inspected. */
  readonly cancelled: AbortSignal;
  readonly config: Config;
  /** The state of the calling client. */
  readonly agent: AgentSession;
  /** Knows the client's tools: hints must name no others. */
  readonly guide: ToolGuide;
  /**
   * The session; connects to the image, or launches it, if there is none yet.
   *
   * @param options - `evenIfHung`: also a session that is known to hang.
   * @throws Refusal `LISP_UNREACHABLE`, `IMAGE_HANGS`, SwankError - when the image cannot be reached or launched.
   */
  session(options?: { readonly evenIfHung?: boolean }): Promise<LispSession>;
  /** The session, if there is one. */
  currentSession(): Promise<LispSession | undefined>;
  /** Why the last session was lost, a sentence; `undefined` once another session has replaced it. */
  lastLoss(): Promise<string | undefined>;
  /**
   * Ends the session and its image, and returns a new session.
   *
   * @throws as `session` does; the old session has ended even then.
   */
  renew(session: LispSession): Promise<LispSession>;
  /** Sends the client new output of the evaluation and its stream or, without a stream, a text about the current wait. */
  progress(text: string, stream?: OutputStream): void;
}

/**
 * Resolves when the user allows the request, or need not be asked. Only a tool's runner has it: a tool itself cannot ask for approval or
 * skip it.
 *
 * @throws Refusal `APPROVAL_DENIED`, `CANCELLED`, `STALE_STOP`
 */
export type Approve = (request: ApprovalRequest) => Promise<void>;
