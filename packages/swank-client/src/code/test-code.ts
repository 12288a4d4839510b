import { print, read, T } from "sexp-parser";
import { checkChoice, checkOptions, checkText } from "../base/check-arguments.js";
import { TEST_FRAMEWORKS, type TestResults, testResults } from "../calls/test-results.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { TEST_OPTIONS, type TestOptions } from "./code-options.js";

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
export async function testCode(lisp: LispRunner, name: string, options: TestOptions): Promise<TestCode> {
  checkOptions("tests", options, TEST_OPTIONS);
  checkText("name", name);
  const { framework, stopOnFailure = false, signal } = options;
  if (framework !== undefined) checkChoice("framework", framework, TEST_FRAMEWORKS);
  const operator = await lisp.loadedOperator("run-tests", "code", signal);
  const which = framework === undefined ? "nil" : print(framework);
  return {
    code: `(${operator} ${print(name)} ${which} ${stopOnFailure === true ? print(T) : "nil"})`,
    results: (value) => testResults(read(value)),
  };
}
