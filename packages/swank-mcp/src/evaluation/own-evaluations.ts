import type { EvaluateOptions } from "swank-client";
import type { Evaluation, LispClient, OutputStream, Transcript } from "../image/lisp-port.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import type { Ending } from "./conclusion.js";

/** Receives output and its stream or, without a stream, a line that says what the evaluation is doing. */
type Listener = (text: string, stream?: OutputStream) => void;

/** Makes the answer about an evaluation, instead of showing its values. */
export interface Presenter {
  /** The answer from the printed first value. */
  answer(value: string, transcript: Transcript): ToolAnswer | Promise<ToolAnswer>;
  /** What comes before the report of an evaluation that has stopped, or has ended without a value. */
  unfinished?(ending: Ending): Promise<Pick<ToolAnswer, "blocks" | "meta">>;
  /** Whether both say what the compiler has said, so that the report need not list its warnings. */
  readonly tellsWarnings?: boolean;
}

/** The code of an evaluation, and when it began, in milliseconds since the epoch. */
export interface BegunCode {
  readonly code: string;
  readonly since: number;
}

type Listeners = Pick<EvaluateOptions, "onOutput" | "onProgress">;

interface Begun extends BegunCode {
  listener: Listener | undefined;
  presenter: Presenter | undefined;
}

/**
 * The evaluations that one agent has begun. An evaluation may outlast the call that began it; its output goes to the call that
 * waits for it now.
 */
export class OwnEvaluations {
  readonly #begun = new WeakMap<Evaluation, Begun>();

  /** Starts an evaluation. `listen` sets the listener for its output. */
  begin(client: LispClient, code: string, options: Omit<EvaluateOptions, keyof Listeners>): Evaluation {
    const begun: Begun = { code, since: Date.now(), listener: undefined, presenter: undefined };
    const listeners: Listeners = {
      onOutput: ({ text, stream }) => begun.listener?.(text, stream),
      onProgress: (text) => begun.listener?.(`${text}\n`),
    };
    const evaluation = client.evaluate(code, Object.assign(listeners, options));
    this.#begun.set(evaluation, begun);
    return evaluation;
  }

  /** Sends output and progress to `listener` from now on, instead of to the earlier listener. */
  listen(evaluation: Evaluation, listener: Listener): void {
    const begun = this.#begun.get(evaluation);
    if (begun !== undefined) begun.listener = listener;
  }

  /** Answers as `presenter` says, whichever call ends the evaluation. */
  present(evaluation: Evaluation, presenter: Presenter): void {
    const begun = this.#begun.get(evaluation);
    if (begun !== undefined) begun.presenter = presenter;
  }

  /** What makes the answer about the evaluation, if that is not the usual report. */
  presenterOf(evaluation: Evaluation): Presenter | undefined {
    return this.#begun.get(evaluation)?.presenter;
  }

  /** What the evaluation evaluates; `undefined` if this agent did not begin it. */
  codeOf(evaluation: Evaluation): BegunCode | undefined {
    return this.#begun.get(evaluation);
  }

  /** Whether this agent began the evaluation. */
  has(evaluation: Evaluation): boolean {
    return this.#begun.has(evaluation);
  }
}
