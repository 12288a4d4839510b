import { type Decoded, type Decoder, decode, print, read, T } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, checkOptions, type OptionsOf } from "../base/options.js";
import { type PreparedCode, type RunCode, taskOptions } from "../evaluation/work.js";
import { keywordOf, lispFunction } from "../runtime/function.js";
import type { LispRunner } from "../runtime/runner.js";
import { type CodeNote, codeNote, locatedNotes } from "./compile.js";
import { CODE_TIME, type FileNotFound, fileNotFound, formPlace, misspelling } from "./found.js";

const { boolean, integer, list, map, nullable, plist, record, string, tagged, tuple } = decode;

const loadOptions = {
  ...taskOptions,
  /** True to compile all files of the system, even those that have not changed. Default: false. */
  force: check.flag,
  /** True to load the systems of its tests, too. Default: false. */
  test: check.flag,
};

/** How to load a system or a file. */
export interface LoadOptions extends OptionsOf<typeof loadOptions> {}

const loadedSystem = record({
  /** Absent for a file that was loaded by its name. */
  name: nullable(string),
  loaded: integer,
  count: integer,
  /** False if the system is loaded only in part. */
  isComplete: boolean,
  /** The first files that are not loaded. */
  left: list(string),
});

/** The files of one system that were to load. Those that were loaded before and are up to date are not among them. */
export interface LoadedSystem extends Decoded<typeof loadedSystem> {}

const installingProgram = record({
  name: string,
  /** Why it could not look for the system. */
  failure: nullable(string),
});

/** A program that installs systems. */
export interface InstallingProgram extends Decoded<typeof installingProgram> {}

const loadProblem = tagged({
  missing: record(
    {
      name: string,
      /** The system or component that needs it; absent if it was asked for. */
      requiredBy: nullable(string),
      /** The version that is needed, if there is another one. */
      version: nullable(string),
      /** Where ASDF looked. `**` stands for all folders below. */
      folders: list(string),
      /** The programs, such as Quicklisp, that do not provide it either. */
      programs: list<InstallingProgram>(installingProgram),
      similar: list(string),
      /** Files of its name that ASDF does not look at. */
      files: list(string),
    },
    { kind: "missing" },
  ),
  circular: record({ names: list(string) }, { kind: "circular" }),
  "no-system": record({ file: string, names: list(string) }, { kind: "no-system" }),
});

/**
 * Why a system was not loaded, or not completely. `circular`: components need each other, as a circle. `no-system`: the file defines none of
 * its own name, and not only one.
 */
export type LoadProblem = Decoded<typeof loadProblem>;

const loadAction = tagged({
  compile: record({ file: string }, { kind: "compile" }),
  warned: record({ file: string }, { kind: "warned" }),
  load: record({ file: string }, { kind: "load" }),
  install: record({ system: string }, { kind: "install" }),
});

/** A file that is compiled or loaded, or was compiled with warnings that keep ASDF from loading it (`warned`), or a system that Quicklisp installs. */
export type LoadAction = Decoded<typeof loadAction>;

const loadingReply = record(
  {
    /** The system, as it was asked for or as the file names it; absent for a file with source code. */
    system: nullable(string),
    /** The file, if one was asked for. */
    file: nullable(string),
    systems: list<LoadedSystem>(loadedSystem),
    /** Number of compiled files. */
    compiled: integer,
    /** In the order in which the compiler gave them. */
    notes: list<CodeNote>(codeNote),
    /** Number of further notes. */
    leftOut: integer,
    /** A file that cannot be read to its end. */
    unreadable: nullable(record({ file: string, text: string })),
    /** What is done now, or has failed. */
    action: nullable(loadAction),
    /** The test systems that are loaded, if they were asked for. */
    tests: list(string),
    /** The file that defines the system, below the image's directory, if ASDF would not have found it. */
    foundIn: nullable(string),
    problem: nullable<LoadProblem>(loadProblem),
  },
  { status: "loading" },
);

/** What loading a system or a file has done, at its end or so far. */
export interface Loading extends Omit<Decoded<typeof loadingReply>, "unreadable"> {}

/** What loading a system or a file has done, or that there is no such file. */
export type LoadResult = Loading | FileNotFound;

const loading: Decoder<Loading> = map(loadingReply, ({ unreadable, ...result }) => {
  if (unreadable === undefined) return result;
  const { file, text } = unreadable;
  return { ...result, notes: locatedNotes(result.notes, text, (note) => note.file === file) };
});

/** Decodes the value of `load-code` (lisp/build/load-code.lisp). */
const loadResult: Decoder<LoadResult> = tagged({ loading, ...fileNotFound });

/** What the loading with a number has done so far (lisp/build/loading.lisp); `undefined` if the image does not know the loading. */
const loadProgress = lispFunction({
  name: "load-progress",
  module: "build",
  encode: (key: number) => [key],
  decode: tagged({ loading, unknown: () => undefined }),
  timeout: CODE_TIME,
  label: () => "asking what is loaded",
});

/** What to load: a system, by its name, or a file, relative to the image's directory: source code, or the definition of a system. */
export type LoadSource = string | { readonly system: string } | { readonly file: string };

/** The number of code that was made last. Each evaluation's progress is asked for with its own number. */
let lastKey = 0;

/** Loads the module that loads systems, and returns code that calls it. */
export async function loadCode(
  lisp: LispRunner,
  given: LoadSource,
  options: LoadOptions,
): Promise<RunCode<LoadResult>> {
  checkOptions("loadSystem", options, loadOptions);
  const source = typeof given === "string" ? { system: given } : given;
  const isSystem = "system" in source;
  const name = isSystem ? check.text("system", source.system) : check.text("file", source?.file);
  const { force, test, signal } = options;
  const operator = await lisp.loadedOperator("load-code", "build", signal);
  lastKey += 1;
  const key = lastKey;
  return {
    code: `(${operator} ${key} ${flag(isSystem)} ${print(name)} ${flag(force)} ${flag(test)})`,
    result: (value) => loadResult(read(value)),
    progress: (limits = {}) => lisp.with({ signal: limits.signal }).run(loadProgress, key),
  };
}

function flag(value: boolean | undefined): string {
  return value ? print(T) : "nil";
}

/** Where tests may be looked for. `asdf`: the tests of a system, as `asdf:test-system` runs them. */
const TEST_FRAMEWORKS = ["fiveam", "parachute", "rove", "lisp-unit2", "sb-rt", "asdf"] as const;

const testOptions = {
  ...taskOptions,
  /** Where to look for the name. Default: the systems, then the tests of each framework, then packages. */
  framework: check.choice(TEST_FRAMEWORKS),
  /** True if the first failure enters the debugger. Default: false. */
  stopOnFailure: check.flag,
  /**
   * True to find out what of a system's own files does not run, by SBCL's sb-cover. They are compiled to a temporary folder and loaded for the
   * tests, and afterwards loaded as they were compiled before, also if the tests are aborted; the thread of a stopped test does that when it
   * ends. Both times, their variables of `defparameter` get their values again. Default: false.
   */
  coverage: check.flag,
};

/** Which tests to run, and how. */
export interface TestOptions extends OptionsOf<typeof testOptions> {}

/** `(:test NAME :form TEXT ...)` (lisp/testing/run-tests.lisp). */
const failure = plist({
  /** The name of the test, as code in the current package writes it. */
  test: string,
  form: nullable(string),
  /** The printed value or values, if the framework says them. */
  expected: nullable(string),
  actual: nullable(string),
  reason: nullable(string),
  /** Type of the error that ended the test. */
  condition: nullable(string),
  ...formPlace,
});

/** A failed check or, in a framework without checks, a failed test. The place is that of the test, and absent if the test is found in no file. */
export interface TestFailure extends Decoded<typeof failure> {}

/** The first and the last line. */
const lines = map(tuple(integer, integer), ([first, last]) => ({ first, last }));

/** Lines of a file, from 1. */
export interface LineRange extends Decoded<typeof lines> {}

const coveredFile = record({
  file: string,
  /** Number of expressions that ran. */
  ran: integer,
  /** Number of expressions. Those of macros, which run when code is compiled, do not count. */
  expressions: integer,
  /** The first 500 ranges of lines in which nothing ran. */
  missed: list<LineRange>(lines),
  /** The first 500 ranges of lines in which an expression ran, and another one did not. */
  partly: list<LineRange>(lines),
});

/** What of a file ran. */
export interface CoveredFile extends Decoded<typeof coveredFile> {}

const coverage = record({
  /** The system's own files, the least covered first. */
  files: list<CoveredFile>(coveredFile),
  /** A file in the format of LCOV on the image's machine, in a folder that only its user can read. The next run of the system replaces it. */
  lcov: string,
  /** Files that could not be loaded again. What they define is still compiled for coverage. */
  unrestored: list(record({ file: string, message: string })),
  /** Variables that had the values of their definitions while the tests ran, because the files were loaded again. They have their earlier values again. */
  reinitialized: list(string),
});

/** What of a system's files its tests ran. */
export interface TestCoverage extends Decoded<typeof coverage> {}

/**
 * Why tests were not run with coverage. `no-system`: the name is none of a system. `unsaved`: evaluated definitions differ from the files, which
 * would replace them. `no-files`: ASDF compiles no file of the system. `instrumented`: the program itself has loaded the files for
 * coverage. `busy`: another thread runs tests with it, or has stopped in one.
 */
const COVERAGE_REFUSALS = ["no-system", "unsaved", "no-files", "instrumented", "busy"] as const;

/** Decodes the value of `run-tests` (lisp/testing/run-tests.lisp), or of `run-covered` (lisp/covering/run-covered.lisp). */
const testResults = tagged({
  tests: record(
    {
      /** What was run, such as `System my-app`. */
      target: string,
      /** The frameworks whose results were counted. If there is none, whether tests failed is not known. */
      frameworks: list(string),
      /** Numbers of checks, such as FiveAM's `is`, or of tests in a framework without checks. */
      passed: integer,
      failed: integer,
      skipped: integer,
      milliseconds: integer,
      /** The first 100, in the order in which the tests ran. */
      failures: list<TestFailure>(failure),
      /** The error that ended the run. */
      error: nullable(record({ type: string, message: string })),
      /** Absent if it was not asked for, and if the run ended before the tests began. */
      coverage: nullable<TestCoverage>(coverage),
    },
    { status: "run" },
  ),
  refused: record(
    {
      reason: keywordOf(COVERAGE_REFUSALS),
      /** Systems with similar names, the unsaved definitions, or the instrumented files. */
      names: list(string),
    },
    { status: "refused" },
  ),
  missing: map(tuple(string), ([what]) => {
    throw new SwankError("NOT_SUPPORTED", `Coverage: this SBCL lacks ${what}.`, { remedy: "Install SBCL's contribs." });
  }),
  "not-found": record({ name: string, similar: list(string), ...misspelling }, { status: "not-found" }),
});

/** The results of tests, why they were not run with coverage, or the answer that there are none of that name. */
export type TestResults = Decoded<typeof testResults>;

/** Loads the module that runs tests, and returns code that calls it. */
export async function testCode(
  lisp: LispRunner,
  name: string,
  options: TestOptions,
): Promise<PreparedCode<TestResults>> {
  checkOptions("runTests", options, testOptions);
  check.text("name", name);
  const { framework, stopOnFailure, coverage: isCovered, signal } = options;
  const operator = isCovered
    ? await lisp.loadedOperator("run-covered", "covering", signal)
    : await lisp.loadedOperator("run-tests", "testing", signal);
  const which = framework === undefined ? "nil" : print(framework);
  return {
    code: `(${operator} ${print(name)} ${which} ${flag(stopOnFailure)})`,
    result: (value) => testResults(read(value)),
  };
}
