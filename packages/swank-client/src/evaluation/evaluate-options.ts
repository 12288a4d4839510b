import { scan } from "sexp-parser";
import { checkOptions, checkText, type OptionNames } from "../check-options.js";
import { SwankError } from "../errors.js";
import type { EvaluateCall } from "../runtime/runtime-calls.js";
import type { OutputChunk } from "./evaluation.js";

/** How to evaluate. */
export interface EvaluateOptions {
  /** Name of the package to read and evaluate in, for this evaluation only. Default: the session's, which follows `in-package`. */
  readonly package?: string | undefined;
  /** What the code reads from standard input, then end of file. Default: nothing. */
  readonly stdin?: string | undefined;
  /** What an error does: stop the thread where it is, or end the evaluation with a full report. Default: `stop`. */
  readonly onError?: "stop" | "unwind" | undefined;
  /** Compile so that all frames, variables and steps are there (`debug`), or as the image's policy says (`keep`). Default: `debug`. */
  readonly policy?: "debug" | "keep" | undefined;
  /** Characters of each of the two output streams that are sent; of what comes after them only the last 4,000. Default: 100,000. */
  readonly outputLimit?: number | undefined;
  /** Characters of each printed value that are sent; of all values together never more than 1,000,000. Default: 20,000. */
  readonly valueLimit?: number | undefined;
  /** Called with every piece of output as it comes, in the order of each stream. */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
}

const EVALUATE_OPTIONS: OptionNames<EvaluateOptions> = {
  package: true,
  stdin: true,
  onError: true,
  policy: true,
  outputLimit: true,
  valueLimit: true,
  onOutput: true,
};

const OUTPUT_LIMIT = 100_000;
const OUTPUT_TAIL = 4000;

/**
 * The call that the options mean.
 *
 * @throws SwankError `INVALID_ARGUMENT`
 */
export function evaluateCall(id: number, code: string, options: EvaluateOptions): EvaluateCall {
  checkOptions("evaluate", options, EVALUATE_OPTIONS);
  const {
    package: packageName,
    stdin,
    onError = "stop",
    policy = "debug",
    outputLimit = OUTPUT_LIMIT,
    valueLimit,
  } = options;
  checkText("code", code);
  if (packageName !== undefined) checkText("package", packageName);
  if (stdin !== undefined) checkText("stdin", stdin);
  if (valueLimit !== undefined) checkLimit("valueLimit", valueLimit);
  checkLimit("outputLimit", outputLimit);
  return {
    id,
    code,
    package: packageName,
    stdin,
    check: scan(code).kind !== "balanced",
    unwind: onError === "unwind",
    debug: policy === "debug",
    limit: outputLimit,
    tail: OUTPUT_TAIL,
    valueLimit,
  };
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkLimit(name: string, value: number): void {
  if (!(value >= 0)) throw new SwankError("INVALID_ARGUMENT", `${name} is a number of characters, not ${value}.`);
}
