import type { LispClient, UserAnswer } from "../image/lisp-port.js";
import { visibleLine, visibleText } from "../text/visible.js";
import { type ApprovalRequest, actionText } from "./approval-request.js";

export interface AskInEmacsOptions {
  /** Seconds that the user has. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** Called before the question is sent to an Emacs. */
  onAsked(): void;
}

/** Asks the user in Emacs. Never rejects: `nobody` if the question reached no Emacs that asks. */
export type AskInEmacs = (request: ApprovalRequest, options: AskInEmacsOptions) => Promise<UserAnswer>;

/** Asks through the image, in each Emacs that is connected to it and has swank-mcp.el. */
export function askThroughImage(client: Pick<LispClient, "askUser" | "canAskUser">): AskInEmacs {
  return async (request, { seconds, signal, onAsked }) => {
    const { particulars, circumstances = [], stop } = request;
    const question = {
      action: actionText(request),
      particulars: particulars.map(([label, text]) => [visibleLine(label), visibleText(text)] as const),
      circumstances: circumstances.map(visibleLine),
      stop: stop && { thread: stop.thread, level: stop.level },
      seconds,
    };
    if (!(await client.canAskUser().catch(() => false))) return "nobody";
    onAsked();
    return client.askUser(question, { signal }).catch(() => "nobody");
  };
}
