import type { EvaluateOptions } from "swank-client";
import type { OutputChunk } from "swank-client/types";
import type { Evaluation, LispClient } from "../image/lisp-port.js";

type Listener = (chunk: OutputChunk) => void;

/**
 * The evaluations that one agent has begun. An evaluation may outlast the call that began it; its output goes to the call that
 * waits for it now.
 */
export class OwnEvaluations {
  readonly #begun = new WeakSet<Evaluation>();
  readonly #listeners = new WeakMap<Evaluation, Listener>();

  /** Starts an evaluation. `listen` sets the listener for its output. */
  begin(client: LispClient, code: string, options: EvaluateOptions): Evaluation {
    const onOutput = (chunk: OutputChunk) => this.#listeners.get(evaluation)?.(chunk);
    const evaluation = client.evaluate(code, { ...options, onOutput });
    this.#begun.add(evaluation);
    return evaluation;
  }

  /** Sends output to `listener` from now on, instead of to the earlier listener. */
  listen(evaluation: Evaluation, listener: Listener): void {
    this.#listeners.set(evaluation, listener);
  }

  /** Whether this agent began the evaluation. */
  has(evaluation: Evaluation): boolean {
    return this.#begun.has(evaluation);
  }
}
