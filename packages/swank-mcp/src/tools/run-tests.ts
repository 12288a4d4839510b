import type { types } from "swank-client";
import { testCode } from "swank-client/internal";
import * as z from "zod";
import { answerWith, type ToolAnswer, type ToolGuide } from "../base/answer.js";
import { answerPresented } from "../call/evaluate.js";
import { preparedWithin } from "../call/run-call.js";
import { defineTool, timeoutInput } from "../call/tool.js";
import { missingAnswer, oddHint } from "../report/names.js";
import { redefinitionLines } from "../report/report.js";
import type { Presenter } from "../session/agent.js";
import { cutName, cutText, fileName, firstOf, firstTexts, more, oneLine } from "../text/cut.js";

const TESTS_META = "swank-mcp/tests";

/** Most failures shown, and characters of each of their texts. */
const MAX_FAILURES = 30;

const MAX_TEXT = 600;

/** Most files whose coverage is shown, ranges of lines of each, and names in a refusal. */
const MAX_FILES = 30;

const MAX_RANGES = 15;

const MAX_NAMES = 10;

type Unknown = Extract<types.TestResults, { status: "not-found" }>;

type Run = Extract<types.TestResults, { status: "run" }>;

type Refused = Extract<types.TestResults, { status: "refused" }>;

/** What the report of a stop says first. */
const STILL_COVERED =
  "The system's files stay compiled for coverage until this run ends; then they are loaded as before.";

/** The answer of run-tests. @param wasStopped - True if the run was stopped meanwhile, so that its time has that of the stop. */
function testsAnswer(
  results: types.TestResults,
  redefinitions: types.Redefinitions,
  framework: string | undefined,
  wasStopped: boolean,
  guide: ToolGuide,
): ToolAnswer {
  if (results.status === "not-found") {
    const blocks = [missingText(results, framework), ...oddHint(results), ...hints(results, framework)];
    return missingAnswer({ what: "test", blocks, meta: { [TESTS_META]: results } }, guide);
  }
  if (results.status === "refused") return answerWith([refusedText(results)], TESTS_META, results, true);
  const { failures, failed, error, coverage } = results;
  const files = redefinitions.files.filter(({ file }) => file !== undefined);
  const count = files.reduce((sum, each) => sum + each.count, 0);
  const loaded = redefinitionLines({ count, files, stale: [], inside: [] }, guide).join("\n");
  const { shown } = firstOf(failures, MAX_FAILURES);
  const left = failed - shown.length;
  const rest = left > 0 ? [more(left, "failure")] : [];
  const isError = failed > 0 || error !== undefined;
  const blocks = [
    [heading(results, wasStopped), ...problem(results), ...shown.map(failureText), ...rest].join("\n\n"),
    ...(coverage === undefined ? [] : [coverageText(coverage, isError)]),
    ...(loaded === "" ? [] : [loaded]),
  ];
  return answerWith(blocks, TESTS_META, results, isError);
}

/** Why the tests were not run with coverage, and what to do. */
function refusedText({ reason, names }: Refused): string {
  const listed = firstTexts(names, MAX_NAMES, cutName, "name").join(", ");
  switch (reason) {
    case "no-system":
      return `coverage needs the name of a system.${listed === "" ? "" : ` Similar: ${listed}`}`;
    case "unsaved":
      return `No test was run: coverage loads the system's files, which would replace definitions that are not saved in them: ${listed}. Save them by save-changes, or load the files by load-system with force.`;
    case "instrumented":
      return `No test was run: the program itself has loaded files for sb-cover: ${listed}. Load them without, and call sb-cover:clear-coverage.`;
    case "no-files":
      return "No test was run: ASDF compiles no file of this system. Name the system whose lines are to be counted.";
    case "busy":
      return "No test was run: another thread runs tests with coverage, or has stopped in one.";
  }
}

/** Why tests can fail with coverage that pass without. */
function reinitializedText(names: readonly string[]): string {
  const listed = firstTexts(names, MAX_NAMES, cutName, "name").join(", ");
  return `While the tests ran, these variables had the values of their definitions, without what other files or calls had put there: ${listed}. They have their earlier values again.`;
}

/** The total, what of each file did not run, and where the LCOV file is. */
function coverageText({ files, lcov, unrestored, reinitialized }: types.TestCoverage, hasFailed: boolean): string {
  const ran = files.reduce((sum, file) => sum + file.ran, 0);
  const expressions = files.reduce((sum, file) => sum + file.expressions, 0);
  return [
    `Coverage: ${shareText({ ran, expressions })}`,
    ...firstTexts(files, MAX_FILES, coveredText, "file").map((line) => `  ${line}`),
    `LCOV: ${lcov}`,
    ...unrestored.map(
      ({ file, message }) =>
        `${fileName(file)} could not be loaded again: ${oneLine(message, MAX_TEXT)}. What it defines is still compiled for coverage.`,
    ),
    ...(hasFailed && reinitialized.length > 0 ? [reinitializedText(reinitialized)] : []),
  ].join("\n");
}

function coveredText({ file, missed, partly, ...counts }: types.CoveredFile): string {
  const parts = { "did not run": missed, "ran in part": partly };
  const lines = Object.entries(parts).flatMap(([what, ranges]) =>
    ranges.length === 0 ? [] : [`; ${what}: ${rangesText(ranges)}`],
  );
  return [fileName(file), " ", shareText(counts), ...lines].join("");
}

/** The share is rounded down: only all of it is 100%. */
function shareText({ ran, expressions }: Pick<types.CoveredFile, "ran" | "expressions">): string {
  const share = expressions === 0 ? 100 : Math.floor((100 * ran) / expressions);
  return `${share}% (${ran} of ${expressions} expressions)`;
}

function rangesText(ranges: readonly types.LineRange[]): string {
  const text = ({ first, last }: types.LineRange) => (first === last ? `${first}` : `${first}-${last}`);
  return firstTexts(ranges, MAX_RANGES, text, "range").join(", ");
}

function missingText({ name }: Unknown, framework: string | undefined): string {
  if (framework === undefined) return `There is no system, and no loaded suite or test, named ${cutName(name)}.`;
  if (framework === "asdf") return `There is no system named ${cutName(name)}.`;
  return `${framework} has no loaded suite, test or package of tests named ${cutName(name)}.`;
}

function hints({ name, similar }: Unknown, framework: string | undefined): readonly string[] {
  const same = similar.find((other) => other.toLowerCase() === name.toLowerCase());
  if (framework !== undefined && same !== undefined)
    return [
      `Another framework, or ASDF as a system, has ${cutName(same)}. Call run-tests without framework to run that.`,
    ];
  return similar.length === 0 ? [] : [`Similar: ${similar.map((other) => cutName(other)).join(", ")}`];
}

function heading(
  { target, frameworks, passed, failed, skipped, milliseconds, error }: Run,
  wasStopped: boolean,
): string {
  const seconds = `${(milliseconds / 1000).toFixed(2)} s${wasStopped ? ", with the time that it was stopped" : ""}`;
  const name = cutName(target);
  if (frameworks.length > 0 && passed + failed + skipped === 0 && error === undefined)
    return `${name}: ${frameworks.join(", ")} ran in ${seconds}, but found no check: there are no tests, or they check nothing. Load the files that define them, or name another system, suite or test.`;
  if (frameworks.length > 0)
    return `${name}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds} (${frameworks.join(", ")}).`;
  if (error !== undefined) return `${name}: no test was counted in ${seconds}.`;
  return `${name}: asdf:test-system returned after ${seconds}, but no test of a known framework ran in it, so none was counted. It returns T even if tests fail, or there are none: read what it printed. Tests are often in a system of their own, such as NAME/tests: name that.`;
}

function problem({ error, failed }: Run): readonly string[] {
  // By a plain error, the test-op of a system says that tests failed. Any other one may have kept tests from running.
  const isKnown = failed > 0 && error?.type === "SIMPLE-ERROR";
  return error === undefined || isKnown
    ? []
    : [`The run ended with ${cutName(error.type)}:\n${cutText(error.message)}${adviceOn(error.type)}`];
}

/** What to do about an error of the type, on a line of its own. */
function adviceOn(type: string): string {
  return type === "UIOP/LISP-BUILD:COMPILE-FILE-ERROR"
    ? "\nload-system shows what the compiler found, and offers to load the file despite that. Then run the tests again."
    : "";
}

function failureText({
  test,
  form,
  expected,
  actual,
  reason,
  condition,
  file,
  line,
  column,
}: types.TestFailure): string {
  const place = file === undefined ? "" : `${[fileName(file), line, column].join(":")}: `;
  const verdict = condition === undefined ? "failed" : `was ended by ${cutName(condition)}`;
  const facts = { form, expected, actual, reason };
  const lines = Object.entries(facts).flatMap(([name, text]) =>
    text === undefined ? [] : [`  ${name}: ${oneLine(text, MAX_TEXT)}`],
  );
  return [`${place}${cutName(test)} ${verdict}`, ...lines].join("\n");
}

export const runTests = defineTool({
  name: "run-tests",
  family: "code",
  needs: "runtime",
  effect: "evaluates",
  title: "Run tests",
  description:
    "Run the tests of a system (loaded first), or a suite, test or package of tests (FiveAM, Parachute, Rove, lisp-unit2, sb-rt): counts, and each failure with form, values and place. Other frameworks: only what they print.",
  input: (config) =>
    z.strictObject({
      name: z.string().min(1).describe("System, suite (tag), test or package"),
      framework: z
        .enum(["fiveam", "parachute", "rove", "lisp-unit2", "sb-rt", "asdf"])
        .optional()
        .describe("Where to find it (asdf: a system)"),
      "stop-on-failure": z.boolean().optional().describe("Stop in the first failure (default false)"),
      coverage: z.boolean().optional().describe("Also say which lines did not run"),
      timeout: timeoutInput(config),
    }),
  async run({ name, framework, coverage, timeout, ...args }, context) {
    const session = await context.session();
    // What is measured is compiled as the user compiles it.
    const policy = coverage === true ? "keep" : context.config.policy;
    const stopOnFailure = args["stop-on-failure"] === true;
    const { signal } = context;
    const seconds = timeout ?? context.config.timeout;
    const tests = testCode(session.client.lisp, name, { framework, stopOnFailure, coverage, signal });
    const { code, result } = await preparedWithin(seconds, tests);
    const onError = stopOnFailure ? "stop" : context.config.onError;
    let wasStopped = false;
    const presenter: Presenter = {
      answer: (value, { redefinitions }) =>
        testsAnswer(result(value), redefinitions, framework, wasStopped, context.guide),
      unfinished: ({ kind }) => {
        wasStopped ||= kind === "condition";
        return Promise.resolve({ blocks: coverage === true && kind === "condition" ? [STILL_COVERED] : [] });
      },
    };
    return answerPresented({ session, code, valuesAs: "data", onError, policy }, presenter, context, seconds);
  },
});
