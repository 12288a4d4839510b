import { checkId, checkText } from "../base/check-arguments.js";
import { noteAnswer, noteQuestion, noteRefusal, type RefusedCall } from "../calls/agent-notes.js";
import { type RunningCall, runningCalls } from "../calls/running-calls.js";
import type { LispRunner } from "../lisp/lisp-runner.js";

/**
 * The image's record of what agents do, which Emacs shows. It records the calls of clients with an `agentName` by itself; the methods that
 * note something add what no request shows, and do nothing for other clients.
 */
export class AgentActivity {
  readonly #lisp: LispRunner;
  readonly #isNamed: boolean;

  constructor(lisp: LispRunner, isNamed: boolean) {
    this.#lisp = lisp;
    this.#isNamed = isNamed;
  }

  /** Whether the image records what this client does. */
  get isRecorded(): boolean {
    return this.#isNamed;
  }

  /**
   * What agents do in the image now, including those of other clients and versions, oldest first. Loads nothing into the image.
   *
   * @throws SwankError the errors of `LispRunner.run`.
   */
  async running(): Promise<readonly RunningCall[]> {
    return this.#lisp.run(runningCalls);
  }

  /**
   * Records that the agent's user is being asked.
   *
   * @param text - The question as Lisp code and comments.
   * @returns the number of the question, for `noteAnswer`; `undefined` if the image records nothing of this client.
   * @throws SwankError `INVALID_ARGUMENT`, and the errors of `LispRunner.run`.
   */
  async noteQuestion(text: string): Promise<number | undefined> {
    checkText("text", text);
    return this.#isNamed ? this.#lisp.run(noteQuestion, text) : undefined;
  }

  /**
   * Records the answer to a question.
   *
   * @param text - Who has answered, and how.
   * @throws SwankError as for `noteQuestion`.
   */
  async noteAnswer(question: number, isAllowed: boolean, text: string): Promise<void> {
    checkId("question", question);
    checkText("text", text);
    if (this.#isNamed) await this.#lisp.run(noteAnswer, question, isAllowed, text);
  }

  /**
   * Records a call that was refused before the image got it.
   *
   * @throws SwankError as for `noteQuestion`.
   */
  async noteRefusal(call: RefusedCall): Promise<void> {
    if (this.#isNamed) await this.#lisp.run(noteRefusal, call);
  }
}
