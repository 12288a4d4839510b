import type { ImageHost } from "../image/image-host.js";
import type { LispClient } from "../image/lisp-port.js";
import { type ApprovalRequest, actionText } from "./approval-request.js";
import type { ApprovalAnswer, ApprovalWatch } from "./approval-watch.js";

/** Records approvals in the image's own record, which the user's Emacs shows. Nothing waits for it, and its failures change nothing. */
export class ImageRecord implements ApprovalWatch {
  readonly #host: ImageHost;

  constructor(host: ImageHost) {
    this.#host = host;
  }

  asked(request: ApprovalRequest): (answer: ApprovalAnswer) => void {
    const asking = this.#note(({ activity }) => activity.noteQuestion(questionText(request)));
    return (answer) =>
      void asking.then((number) => {
        if (number !== undefined)
          void this.#note(({ activity }) => activity.noteAnswer(number, answer.isAllowed, answerText(answer)));
      });
  }

  decided(request: ApprovalRequest, answer: ApprovalAnswer): void {
    // What is allowed without a question is recorded as the agent's next action.
    if (!answer.isAllowed) this.asked(request)(answer);
  }

  /** @returns `undefined` if there is no image that records anything, or it does not answer. */
  async #note<T>(note: (client: LispClient) => Promise<T>): Promise<T | undefined> {
    const client = (await this.#host.current())?.client;
    return client?.activity.isRecorded === true ? note(client).catch(() => undefined) : undefined;
  }
}

/** The question as Lisp code with comments. */
function questionText(request: ApprovalRequest): string {
  const { particulars, circumstances = [] } = request;
  const lines = particulars.map(([label, text]) => (label === "Code" ? text : comment(`${label}: ${text}`)));
  return [comment(`${actionText(request)}?`), ...lines, ...circumstances.map(comment)].join("\n");
}

function comment(text: string): string {
  return text.replace(/^/gm, ";; ");
}

const PLACES = { client: " in the agent's client", emacs: " in Emacs", server: "" } as const;

function answerText({ isAllowed, by, how }: ApprovalAnswer): string {
  return `${isAllowed ? "Allowed" : "Not allowed"}${PLACES[by]}: ${how}`;
}
