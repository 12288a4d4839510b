import { type Decoder, read } from "sexp-parser";
import { checkFunction, checkOptions, checkSignal, checkTimeout, type OptionNames } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import type { ErrorSnapshot } from "../calls/condition.js";
import type { EvaluateOptions, EvaluationOf, StopOfTask } from "./evaluation.js";
import { LispError } from "./lisp-error.js";
import type { Aborted, OutcomeOf, Returned } from "./outcome.js";
import { isLimit } from "./outcome-slot.js";

/** How `eval` evaluates. */
export interface EvalOptions extends Omit<EvaluateOptions, "onError" | "valuesAs" | "conditions"> {
  /** Milliseconds after which the code is ended. Default: no limit. */
  readonly timeout?: number | undefined;
  /** When aborted, ends the code. */
  readonly signal?: AbortSignal | undefined;
}

/** How `eval` evaluates if its result is the first value as data. */
export interface DecodedEvalOptions<Value> extends EvalOptions {
  readonly decode: Decoder<Value>;
}

const EVAL_OPTIONS: OptionNames<DecodedEvalOptions<unknown>> = {
  package: true,
  stdin: true,
  onRead: true,
  policy: true,
  outputLimit: true,
  valueLimit: true,
  printLength: true,
  printLevel: true,
  onOutput: true,
  onProgress: true,
  timeout: true,
  signal: true,
  decode: true,
};

/** `Stop`, which is not imported here because it imports `evaluation.ts`. */
interface ReportedStop extends StopOfTask {
  readonly condition: ErrorSnapshot;
}

type Evaluation = EvaluationOf<ReportedStop>;

/** Starts an evaluation, as `SwankClient.evaluate` does. */
export type Evaluate = (code: string, options: EvaluateOptions) => Evaluation;

/**
 * Evaluates code to its end. Nothing of it stays in the image: what would stop is unwound.
 *
 * @returns the printed values of the last form.
 * @throws SwankError the errors of `SwankClient.eval`.
 */
export async function evaluateToEnd(
  evaluate: Evaluate,
  code: string,
  options: EvalOptions,
): Promise<readonly string[]> {
  checkOptions("eval", options, EVAL_OPTIONS);
  return (await returned(evaluate, code, options)).values;
}

/** The same, with the decoded first value. */
export async function evaluateToData<Value>(
  evaluate: Evaluate,
  code: string,
  options: DecodedEvalOptions<Value>,
): Promise<Value> {
  checkOptions("eval", options, EVAL_OPTIONS);
  const { decode, ...others } = options;
  checkFunction("decode", decode);
  const { values, cutValues } = await returned(evaluate, code, { ...others, valuesAs: "data" });
  const [first = "nil"] = values;
  if (cutValues.includes(0)) {
    throw new SwankError("REPLY_TOO_LARGE", `The value has more than ${first.length - 3} characters.`);
  }
  try {
    return decode(read(first));
  } catch (cause) {
    const shown = first.slice(0, 200);
    throw new SwankError("UNEXPECTED_REPLY", `The value ${shown} is not what \`decode\` accepts.`, { cause });
  }
}

async function returned(evaluate: Evaluate, code: string, { timeout, signal, ...options }: EvaluateOptions) {
  checkTimeout("timeout", timeout);
  checkSignal(signal);
  if (signal?.aborted) throw cancelled(signal);
  const evaluation = evaluate(code, { ...options, onError: "unwind" });
  const limits = new Limits(evaluation, timeout, signal);
  try {
    return await valuesOf(await Promise.race([evaluation.next(), limits.reached]), evaluation, limits);
  } finally {
    limits.release();
  }
}

async function valuesOf(outcome: OutcomeOf<ReportedStop>, evaluation: Evaluation, limits: Limits): Promise<Returned> {
  switch (outcome.status) {
    case "returned":
      return outcome;
    case "lost":
      throw outcome.cause;
    case "aborted":
      throw endOf(outcome, limits.error);
    case "stopped": {
      const error = new LispError(outcome.stop.condition, outcome);
      // If it does not end, the error is still the answer.
      await evaluation.abort().catch(() => undefined);
      throw error;
    }
  }
}

/** A limit is the reason even if a cleanup form failed then. */
function endOf(outcome: Aborted, limit: SwankError | undefined): SwankError {
  const error = outcome.error && new LispError(outcome.error, outcome);
  if (limit === undefined) return error ?? new SwankError("REQUEST_ABORTED", "The code was ended from outside.");
  return error === undefined ? limit : new SwankError(limit.code, limit.message, { cause: error });
}

function cancelled(signal: AbortSignal): SwankError {
  return new SwankError("CANCELLED", "The code was cancelled.", { cause: signal.reason });
}

/** Ends an evaluation when its time is over or its signal is aborted. */
class Limits {
  /** Rejects with `error` when an evaluation at its limit has ended, or cannot be ended; never resolves. */
  readonly reached: Promise<never>;
  /** The limit that was reached first. */
  error: SwankError | undefined;
  readonly release: () => void;

  constructor(evaluation: Evaluation, timeout: number | undefined, signal: AbortSignal | undefined) {
    let fail: (error: SwankError) => void = () => undefined;
    this.reached = new Promise((_, reject) => {
      fail = reject;
    });
    const end = (error: SwankError) => {
      this.error ??= error;
      evaluation.abort().then(
        () => fail(error),
        () => fail(new SwankError(error.code, `${error.message} It could not be ended, and continues.`)),
      );
    };
    const tooLong = () => end(new SwankError("EVALUATION_TIMEOUT", `The code took longer than ${timeout} ms.`));
    const timer = isLimit(timeout) ? setTimeout(tooLong, timeout) : undefined;
    const onAbort = () => signal !== undefined && end(cancelled(signal));
    signal?.addEventListener("abort", onAbort, { once: true });
    // A rejection after the evaluation has ended is nobody's.
    this.reached.catch(() => undefined);
    this.release = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
  }
}
