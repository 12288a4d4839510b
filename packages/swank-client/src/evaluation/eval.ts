import { type Decoder, read } from "sexp-parser";
import { SwankError, type SwankErrorCode, type SwankErrorOptions } from "../base/errors.js";
import { check, checkOptions } from "../base/options.js";
import {
  type Aborted,
  type EvaluateOptions,
  type EvaluationOf,
  evaluateOptions,
  type OutcomeOf,
  type Returned,
  type StopOfTask,
  type Transcript,
} from "./evaluate.js";
import type { ErrorSnapshot } from "./report.js";
import type { AtLimit } from "./task.js";

/** An error of `eval` after its code was sent: the code signalled an error, took too long, was cancelled, or its image was lost. */
export class EvaluationError extends SwankError {
  override readonly name: string = "EvaluationError";
  /** The output and the warnings up to the error. */
  readonly transcript: Transcript;

  constructor(code: SwankErrorCode, message: string, transcript: Transcript, options: SwankErrorOptions = {}) {
    super(code, message, options);
    this.transcript = transcript;
  }
}

/** An error in Lisp code that `eval` ran, with code `LISP_ERROR`. Its message is the condition's type and report. */
export class LispError extends EvaluationError {
  override readonly name = "LispError";
  /** The condition with its restarts, slots and frames, as they were before the stack was unwound. */
  readonly report: ErrorSnapshot;

  constructor(report: ErrorSnapshot, transcript: Transcript) {
    super("LISP_ERROR", `${report.type}: ${report.message}`, transcript);
    this.report = report;
  }
}

/** How `eval` evaluates. */
export interface EvalOptions extends Omit<EvaluateOptions, "onError" | "valuesAs" | "conditions"> {
  /** Milliseconds after which the code is ended. They begin when it is sent: loading the runtime does not count. Default: no limit. */
  readonly timeout?: number | undefined;
  /** When aborted, ends the code. */
  readonly signal?: AbortSignal | undefined;
}

/** How `eval` evaluates if its result is the first value as data. */
export interface DecodedEvalOptions<Value> extends EvalOptions {
  readonly decode: Decoder<Value>;
}

/** Characters of a value that an error shows. */
const SHOWN_LENGTH = 200;

const checkDecoder = check.function<Decoder<unknown>>();

const { onError: _onError, valuesAs: _valuesAs, conditions: _conditions, ...evalOptions } = evaluateOptions;

/** `Stop`, which is not imported here because it imports `evaluation.ts`. */
interface ReportedStop extends StopOfTask {
  readonly condition: ErrorSnapshot;
}

type Evaluation = EvaluationOf<ReportedStop>;

/** Starts an evaluation, as `SwankClient.evaluate` does. */
export type Evaluate = (code: string, options: EvaluateOptions, atLimit: AtLimit) => Evaluation;

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
  checkOptions("eval", options, evalOptions);
  return (await returned(evaluate, code, options)).values;
}

/** The same, with the decoded first value, which is `NIL` if there is none. */
export async function evaluateToData<Value>(
  evaluate: Evaluate,
  code: string,
  options: DecodedEvalOptions<Value>,
): Promise<Value> {
  checkOptions("eval", options, { ...evalOptions, decode: checkDecoder });
  const { decode, ...others } = options;
  checkDecoder("decode", decode);
  const outcome = await returned(evaluate, code, { ...others, valuesAs: "data" });
  const [first] = outcome.values;
  if (first !== undefined && outcome.cutValues.some(({ index }) => index === 0)) {
    throw new EvaluationError("REPLY_TOO_LARGE", `The value has more than ${first.length - 3} characters.`, outcome);
  }
  try {
    return decode(read(first ?? "nil"));
  } catch (cause) {
    const what =
      first === undefined
        ? "The code returned no value, and NIL in its place"
        : `The value ${first.slice(0, SHOWN_LENGTH)}`;
    throw new EvaluationError("UNEXPECTED_REPLY", `${what} is not what \`decode\` accepts.`, outcome, { cause });
  }
}

async function returned(evaluate: Evaluate, code: string, options: EvaluateOptions): Promise<Returned> {
  const ending = new Ending(options);
  const evaluation = evaluate(code, { ...options, onError: "unwind" }, ending.atLimit);
  return valuesOf(await Promise.race([evaluation.next(), ending.failed]), evaluation, ending);
}

async function valuesOf(outcome: OutcomeOf<ReportedStop>, evaluation: Evaluation, ending: Ending): Promise<Returned> {
  switch (outcome.status) {
    case "returned":
      return outcome;
    case "lost":
      throw withTranscript(outcome.cause, outcome);
    case "aborted":
      throw endOf(outcome, ending.reason);
    case "stopped": {
      const error = new LispError(outcome.stop.condition, outcome);
      // If it does not end, the error is still the answer.
      await evaluation.abort().catch(() => undefined);
      throw error;
    }
  }
}

/** A limit is the reason even if a cleanup form failed then. */
function endOf(outcome: Aborted, limit: SwankError | undefined): EvaluationError {
  const error = outcome.error && new LispError(outcome.error, outcome);
  if (limit === undefined) {
    return error ?? new EvaluationError("REQUEST_ABORTED", "The code was ended from outside.", outcome);
  }
  return withTranscript(limit, outcome, error ?? limit.cause);
}

function withTranscript(error: SwankError, transcript: Transcript, cause = error.cause): EvaluationError {
  const { code, message, remedy, details } = error;
  return new EvaluationError(code, message, transcript, { remedy, details, cause });
}

/** Ends the code of `eval` at its limits. */
class Ending {
  /** The limit that was reached first. */
  reason: SwankError | undefined;
  /** Rejects if the code cannot be ended; never resolves. */
  readonly failed: Promise<never>;
  readonly atLimit: AtLimit;

  constructor({ timeout, signal }: EvaluateOptions) {
    let fail: (error: SwankError) => void = () => undefined;
    this.failed = new Promise((_, reject) => {
      fail = reject;
    });
    this.atLimit = (task, limit) => {
      const reason =
        limit === "signal"
          ? new SwankError("CANCELLED", "The code was cancelled.", { cause: signal?.reason })
          : new SwankError("EVALUATION_TIMEOUT", `The code took longer than ${timeout} ms.`);
      this.reason ??= reason;
      task.abort().catch(() => {
        if (task.isSettled) return;
        const error = new SwankError(reason.code, `${reason.message} It could not be ended, and continues.`);
        fail(withTranscript(error, task.takeTranscript(), reason.cause));
      });
    };
  }
}
