import type { EvaluateOptions, OutputChunk } from "swank-client";
import type { Evaluation, LispClient } from "./lisp-port.js";

type Listener = (chunk: OutputChunk) => void;

/** Brings what an evaluation prints to the call that waits for it now: it may outlast the call that began it. */
export class OutputRelay {
  readonly #listeners = new WeakMap<Evaluation, Listener>();

  /** Starts an evaluation whose output can be listened to. */
  evaluate(client: LispClient, code: string, options: EvaluateOptions): Evaluation {
    const onOutput = (chunk: OutputChunk) => this.#listeners.get(evaluation)?.(chunk);
    const evaluation = client.evaluate(code, { ...options, onOutput });
    return evaluation;
  }

  /** Output goes to `listener` from now on, and to nobody else. */
  listen(evaluation: Evaluation, listener: Listener): void {
    this.#listeners.set(evaluation, listener);
  }
}
