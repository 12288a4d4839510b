import { DecodeError, type Decoder, read, type Sexp } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check } from "../base/options.js";
import { fromLisp, type LispData } from "./data.js";
import { type EvaluateOptions, evaluateOptions, type Returned, type StopOfTask, type TaskOf } from "./evaluate.js";
import { EvaluationError, LispError } from "./task.js";

/** How `eval` and `call` evaluate. */
export interface EvalOptions extends Omit<EvaluateOptions, "onError" | "valuesAs" | "conditions"> {
  /** Milliseconds after which the code is ended. They begin when it is sent: loading the runtime does not count. Default: no limit. */
  readonly timeout?: number | undefined;
  /** When aborted, ends the code. */
  readonly signal?: AbortSignal | undefined;
  /** Decodes the first value, which is then the result: see `DecodedEvalOptions`. */
  readonly decode?: undefined;
}

/** How `eval` evaluates if its result is all values, as Lisp prints them for people. */
export interface TextEvalOptions extends EvalOptions {
  readonly as?: "text" | undefined;
}

/** How `eval` evaluates if its result is all values as data. */
export interface DataEvalOptions extends EvalOptions {
  readonly as: "data";
}

/** How `eval` and `call` evaluate if their result is the first value, decoded. */
export interface DecodedEvalOptions<Value> extends Omit<EvalOptions, "decode"> {
  readonly decode: Decoder<Value>;
}

/** Characters of a value that an error shows. */
const SHOWN_LENGTH = 200;

const { onError: _onError, valuesAs: _valuesAs, conditions: _conditions, ...evalOptions } = evaluateOptions;

const resultOptions = {
  as: check.choice(["text", "data"]),
  decode: check.function<Decoder<unknown>>(),
};

/** Starts an evaluation, as `SwankClient.evaluate` does. */
export type Evaluate = (code: string, options: EvaluateOptions) => TaskOf<StopOfTask, Returned>;

const checkEval = check.options({ ...evalOptions, ...resultOptions });

const checkCall = check.options({ ...evalOptions, decode: resultOptions.decode });

/**
 * Evaluates code to its end. Nothing of it stays in the image: what would stop is unwound.
 *
 * @returns the printed values of the last form, or what the options `as` and `decode` say.
 * @throws SwankError the errors of `SwankClient.eval`.
 */
export async function evaluateAs(evaluate: Evaluate, code: string, given: unknown = {}): Promise<unknown> {
  const { as, decode, ...options } = checkEval("eval", given);
  if (decode !== undefined) return evaluateAndDecode(evaluate, code, options, decode);
  if (as !== "data") return (await returned(evaluate, code, options)).values;
  const outcome = await returned(evaluate, code, { ...options, valuesAs: "data" });
  if (outcome.valueCount > outcome.values.length) {
    const message = `The code returned ${outcome.valueCount} values, of which ${outcome.values.length} are sent.`;
    throw new EvaluationError("REPLY_TOO_LARGE", message, outcome, { remedy: "Return a list." });
  }
  return outcome.values.map((_, index) => dataOf(datumOf(outcome, index), outcome));
}

/** The same for the first value, as data or decoded. */
export async function callForData(evaluate: Evaluate, code: string, given: unknown): Promise<unknown> {
  const { decode, ...options } = checkCall("call", given);
  return decode === undefined
    ? evaluateToData(evaluate, code, options)
    : evaluateAndDecode(evaluate, code, options, decode);
}

/** The same for the first value as data, which is `null` if there is none. */
export async function evaluateToData(
  evaluate: Evaluate,
  code: string,
  options: EvaluateOptions = {},
): Promise<LispData> {
  const outcome = await returned(evaluate, code, { ...options, valuesAs: "data" });
  return dataOf(datumOf(outcome, 0), outcome);
}

async function evaluateAndDecode(
  evaluate: Evaluate,
  code: string,
  options: EvaluateOptions,
  decode: Decoder<unknown>,
): Promise<unknown> {
  const outcome = await returned(evaluate, code, { ...options, valuesAs: "data" });
  const [first] = outcome.values;
  const datum = datumOf(outcome, 0);
  try {
    return decode(datum);
  } catch (cause) {
    const what =
      first === undefined
        ? "The code returned no value, and NIL in its place"
        : `The value ${first.slice(0, SHOWN_LENGTH)}`;
    const why = cause instanceof DecodeError ? `: ${cause.message}` : "";
    throw new EvaluationError("UNEXPECTED_REPLY", `${what} is not what \`decode\` accepts${why}.`, outcome, { cause });
  }
}

/** A value as data of `sexp-parser`; `NIL` if there is none. */
function datumOf(outcome: Returned, index: number): Sexp {
  const text = outcome.values[index] ?? "nil";
  if (outcome.cutValues.some((cut) => cut.index === index)) {
    throw new EvaluationError("REPLY_TOO_LARGE", `The value has more than ${text.length - 3} characters.`, outcome, {
      remedy: "Return less, or parts. A list that contains itself has no end.",
    });
  }
  try {
    return read(text);
  } catch (cause) {
    const message = `The value ${text.slice(0, SHOWN_LENGTH)} cannot be read.`;
    throw new EvaluationError("UNEXPECTED_REPLY", message, outcome, { cause });
  }
}

function dataOf(datum: Sexp, outcome: Returned): LispData {
  try {
    return fromLisp(datum);
  } catch (cause) {
    if (!(cause instanceof SwankError)) throw cause;
    throw new EvaluationError(cause.code, cause.message, outcome, { remedy: cause.remedy });
  }
}

async function returned(evaluate: Evaluate, code: string, options: EvaluateOptions): Promise<Returned> {
  const evaluation = evaluate(code, { ...options, onError: "unwind" });
  try {
    return await evaluation.result();
  } catch (error) {
    if (!(error instanceof EvaluationError && error.code === "EVALUATION_STOPPED")) throw error;
    // If it does not end, the error is still the answer.
    await evaluation.abort().catch(() => undefined);
    throw error.cause instanceof LispError ? error.cause : error;
  }
}
