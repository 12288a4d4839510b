import * as z from "zod";
import type { Config } from "../cli/config.js";
import type { ImageHost } from "../image/image-host.js";
import type { LispClient } from "../image/lisp-port.js";
import type { Refusal } from "../refusals/refusal.js";
import { cutName, cutText, oneLine } from "../text/cut.js";
import { type ApprovalRequest, actionText } from "./approval-request.js";
import type { ApprovalAnswer, ApprovalWatch, AskedIn } from "./approval-watch.js";

/** Most characters of a tool's name. */
const MAX_NAME = 100;
/** Most characters of code that are sent to the image, which keeps fewer. */
const MAX_CODE = 100_000;

/** Records approvals and refused calls in the image's own record, which the user's Emacs shows. Nothing waits for it, and its failures change nothing. */
export class ImageRecord implements ApprovalWatch {
  readonly #host: ImageHost;
  readonly #mayConnect: boolean;

  constructor(host: ImageHost, { attach, share }: Pick<Config, "attach" | "share">) {
    this.#host = host;
    // Nobody else sees any other image.
    this.#mayConnect = attach !== undefined || share !== undefined;
  }

  /** Records a call that this server refused, also if nothing has needed the image yet. */
  refused(tool: unknown, args: unknown, { message }: Refusal): void {
    if (!this.#mayConnect) return;
    this.#host.start();
    const call = { tool: oneLine(String(tool), MAX_NAME), ...sentCode(args), reason: `Refused: ${message}` };
    void this.#note(({ activity }) => activity.noteRefusal(call));
  }

  asked(request: ApprovalRequest, where: AskedIn): (answer: ApprovalAnswer) => void {
    // The image asks in Emacs, and records that itself.
    return where === "emacs" ? () => {} : this.#noteQuestion(request);
  }

  #noteQuestion(request: ApprovalRequest): (answer: ApprovalAnswer) => void {
    const asking = this.#note(({ activity }) => activity.noteQuestion(questionText(request)));
    return (answer) =>
      void asking.then((number) => {
        if (number !== undefined)
          void this.#note(({ activity }) => activity.noteAnswer(number, answer.isAllowed, answerText(answer)));
      });
  }

  decided(request: ApprovalRequest, answer: ApprovalAnswer): void {
    // What is allowed without a question is recorded as the agent's next action.
    if (!answer.isAllowed) this.#noteQuestion(request)(answer);
  }

  /** @returns `undefined` if there is no image that records anything, or it does not answer. */
  async #note<T>(note: (client: LispClient) => Promise<T>): Promise<T | undefined> {
    const client = (await this.#host.current())?.client;
    return client?.activity.isRecorded === true ? note(client).catch(() => undefined) : undefined;
  }
}

const sentArguments = z.looseObject({
  code: z.string().optional().catch(undefined),
  object: z.string().optional().catch(undefined),
  package: z.string().optional().catch(undefined),
});

/** The code in arguments that nothing has checked, or else the arguments as a comment. */
function sentCode(args: unknown): { readonly code: string; readonly package: string | undefined } {
  const { code, object, package: packageName } = sentArguments.safeParse(args).data ?? {};
  const text = code ?? object ?? comment(JSON.stringify(args ?? {}));
  return { code: cutText(text, MAX_CODE), package: packageName === undefined ? undefined : cutName(packageName) };
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
