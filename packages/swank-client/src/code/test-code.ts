import { print, read, T } from "sexp-parser";
import { type TestResults, testResults } from "../calls/test-results.js";
import type { LispRunner } from "../lisp/lisp-runner.js";

/** Code that runs tests. It is evaluated as any other code, so that it can stop, print and be interrupted. */
export interface TestCode {
  /** Evaluate this with `valuesAs: "data"`. */
  readonly code: string;
  /**
   * The results in the printed first value.
   *
   * @throws DecodeError, ReadError if that is not a value of `code`.
   */
  results(value: string): TestResults;
}

/** Loads the module that runs tests, and returns code that calls it. */
export async function testCode(
  lisp: LispRunner,
  name: string,
  framework: string | undefined,
  stop: boolean,
  signal: AbortSignal | undefined,
): Promise<TestCode> {
  const operator = await lisp.loadedOperator("run-tests", "code", signal);
  const which = framework === undefined ? "nil" : print(framework);
  return {
    code: `(${operator} ${print(name)} ${which} ${stop ? print(T) : "nil"})`,
    results: (value) => testResults(read(value)),
  };
}
