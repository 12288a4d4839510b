import { print, read } from "sexp-parser";
import { checkNumber, checkOptions, checkText, checkTexts } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { prepareTrace, traceProgress, traceReply } from "../calls/trace.js";
import type { Trace } from "../calls/trace-data.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { checkBalanced } from "./check-balanced.js";
import { TRACE_OPTIONS, type TraceOptions, type TraceSource } from "./program-options.js";
import { millisecondsOf, newKey, type RunCode } from "./run-code.js";

/** Most calls that a trace records, and how many by default. */
const MOST_CALLS = 100_000;
const USUAL_CALLS = 10_000;

/** Code that traces, with what is known before. */
export interface TraceCode extends RunCode<Trace> {
  /** Number of functions and methods that are traced. */
  readonly count: number;
  /** Sentences that say which calls are not recorded, because the compiler has replaced them. */
  readonly missed: readonly string[];
}

/** Finds what to trace, and returns code that traces it. */
export async function traceCode(lisp: LispRunner, source: TraceSource, options: TraceOptions): Promise<TraceCode> {
  checkOptions("traceCalls", options, TRACE_OPTIONS);
  const { functions = [], package: packageName, condition, threads = [], limit = USUAL_CALLS, signal } = options;
  checkTexts("functions", functions);
  if (packageName !== undefined) checkText("package", packageName);
  if (functions.length === 0 && packageName === undefined) {
    throw new SwankError("INVALID_ARGUMENT", "Nothing is named to be traced.", {
      remedy: "Name functions, or the package whose functions are traced.",
    });
  }
  if (condition !== undefined) checkText("condition", condition);
  for (const thread of threads) checkNumber("threads", thread, "a list of thread ids", Number.isSafeInteger(thread));
  const isCount = Number.isInteger(limit) && limit >= 1 && limit <= MOST_CALLS;
  checkNumber("limit", limit, `a whole number from 1 to ${MOST_CALLS}`, isCount);
  const [operator, operand] = callOf(source);
  const key = newKey();
  const wishes = { key, names: functions, packageName, condition, threads, limit };
  const { count, missed } = await lisp.with({ signal }).run(prepareTrace, wishes);
  return {
    count,
    missed,
    code: `(${await lisp.loadedOperator(operator, "trace", signal)} ${key} ${print(operand)})`,
    result: (value) => traceReply(read(value)),
    progress: (limits = {}) => lisp.with({ signal: limits.signal }).run(traceProgress, key),
  };
}

function callOf(source: TraceSource): readonly [operator: string, operand: string | number] {
  if ("seconds" in source) return ["trace-seconds", millisecondsOf(source.seconds)];
  checkBalanced("code", source.code);
  return ["trace-code", source.code];
}
