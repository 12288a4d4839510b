import type { EvaluateOptions } from "swank-client";
import type { Evaluation, LispClient, OutputStream } from "../image/lisp-port.js";
import type { ToolAnswer } from "../text/tool-answer.js";

/** Receives output and its stream or, without a stream, a line that says what the evaluation is doing. */
type Listener = (text: string, stream?: OutputStream) => void;

/** Makes the blocks of an answer from the printed value of an evaluation. */
type Presenter = (value: string) => ToolAnswer;

/**
 * The evaluations that one agent has begun. An evaluation may outlast the call that began it; its output goes to the call that
 * waits for it now.
 */
export class OwnEvaluations {
  readonly #begun = new WeakSet<Evaluation>();
  readonly #listeners = new WeakMap<Evaluation, Listener>();
  readonly #presenters = new WeakMap<Evaluation, Presenter>();

  /** Starts an evaluation. `listen` sets the listener for its output. */
  begin(client: LispClient, code: string, options: EvaluateOptions): Evaluation {
    const tell: Listener = (text, stream) => this.#listeners.get(evaluation)?.(text, stream);
    const evaluation = client.evaluate(code, {
      ...options,
      onOutput: ({ text, stream }) => tell(text, stream),
      onProgress: (text) => tell(`${text}\n`),
    });
    this.#begun.add(evaluation);
    return evaluation;
  }

  /** Sends output and progress to `listener` from now on, instead of to the earlier listener. */
  listen(evaluation: Evaluation, listener: Listener): void {
    this.#listeners.set(evaluation, listener);
  }

  /** Answers with what `presenter` makes of the value, whichever call ends the evaluation. */
  present(evaluation: Evaluation, presenter: Presenter): void {
    this.#presenters.set(evaluation, presenter);
  }

  /** What makes the answer from the evaluation's value, if that is not shown as it is. */
  presenterOf(evaluation: Evaluation): Presenter | undefined {
    return this.#presenters.get(evaluation);
  }

  /** Whether this agent began the evaluation. */
  has(evaluation: Evaluation): boolean {
    return this.#begun.has(evaluation);
  }
}
