import { type Decoder, decode } from "sexp-parser";

const { integer, list, map, nullable, optional, plist, string, tagged, tuple } = decode;

/** Where tests may be looked for. `asdf`: the tests of a system, as `asdf:test-system` runs them. */
export const TEST_FRAMEWORKS = ["fiveam", "parachute", "rove", "lisp-unit2", "sb-rt", "asdf"] as const;

/** A failed check or, in a framework without checks, a failed test. */
export interface TestFailure {
  /** The name of the test, as code in the current package writes it. */
  readonly test: string;
  readonly form: string | undefined;
  /** The printed value or values, if the framework says them. */
  readonly expected: string | undefined;
  readonly actual: string | undefined;
  readonly reason: string | undefined;
  /** Type of the error that ended the test. */
  readonly condition: string | undefined;
  /** Relative to the image's directory if it is below that; absent if the test is found in no file. */
  readonly file?: string | undefined;
  /** Line and column of the test, from 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** The results of tests, or the answer that there are none of that name. */
export type TestResults =
  | {
      readonly status: "run";
      /** What was run, such as `System my-app`. */
      readonly target: string;
      /** The frameworks whose results were counted. If there is none, whether tests failed is not known. */
      readonly frameworks: readonly string[];
      readonly passed: number;
      readonly failed: number;
      readonly skipped: number;
      readonly milliseconds: number;
      /** The first 100, in the order in which the tests ran. */
      readonly failures: readonly TestFailure[];
      /** The error that ended the run. */
      readonly error: { readonly type: string; readonly message: string } | undefined;
    }
  | {
      readonly status: "not-found";
      readonly name: string;
      readonly similar: readonly string[];
      /** What is wrong with an invisible or look-alike character in the name, and what to write instead. */
      readonly oddCharacter?: string;
    };

/** `(:test NAME :form TEXT ...)` (lisp/code/run-tests.lisp). */
const failure: Decoder<TestFailure> = plist({
  test: string,
  form: nullable(string),
  expected: nullable(string),
  actual: nullable(string),
  reason: nullable(string),
  condition: nullable(string),
  file: optional(string),
  line: optional(integer),
  column: optional(integer),
});

const problem = map(tuple(string, string), ([type, message]) => ({ type, message }));

/** Decodes the value of `run-tests` (lisp/code/run-tests.lisp). */
export const testResults: Decoder<TestResults> = tagged({
  tests: map(
    tuple(string, list(string), integer, integer, integer, integer, list(failure), nullable(problem)),
    ([target, frameworks, passed, failed, skipped, milliseconds, failures, error]): TestResults => ({
      status: "run",
      target,
      frameworks,
      passed,
      failed,
      skipped,
      milliseconds,
      failures,
      error,
    }),
  ),
  "not-found": map(
    tuple(string, list(string), nullable(string)),
    ([name, similar, oddCharacter]): TestResults => ({
      status: "not-found",
      name,
      similar,
      ...(oddCharacter === undefined ? {} : { oddCharacter }),
    }),
  ),
});
