import type { types } from "swank-client";
import { loadCode } from "swank-client/internal";
import * as z from "zod";
import { answerWith, type ToolAnswer, type ToolGuide } from "../base/answer.js";
import { misused } from "../base/refusals.js";
import { answerPresented } from "../call/evaluate.js";
import { preparedWithin } from "../call/run-call.js";
import { defineTool, type ToolContext, timeoutInput } from "../call/tool.js";
import { missingFileAnswer } from "../report/names.js";
import { counts, noteTexts } from "../report/notes.js";
import { redefinitionLines } from "../report/report.js";
import type { Presenter } from "../session/agent.js";
import { fileName, firstOf, howMany, isSystemFile, more, oneLine } from "../text/cut.js";
import { oddCharacterHint } from "../text/visible.js";

const LOADED_META = "swank-mcp/loaded";

/** Most notes, systems and names of files shown. */
const MAX_NOTES = 20;

const MAX_SYSTEMS = 12;

const MAX_FILES = 10;

/** The answer of load-system. @param test - Whether the caller wanted the test systems, too. */
function loadAnswer(
  result: types.LoadResult,
  redefinitions: types.Redefinitions,
  test: boolean,
  guide: ToolGuide,
): ToolAnswer {
  if (result.status === "file-not-found") return missingFileAnswer(result, LOADED_META, guide);
  const { problem } = result;
  const lines = problem === undefined ? successLines(result, test) : [...partLines(result), ...problemLines(problem)];
  const remarks = redefinitionLines(redefinitions, guide);
  const blocks = [[lines.join("\n"), ...shownNotes(result)].join("\n\n"), remarks.join("\n")].filter(Boolean);
  return answerWith(blocks, LOADED_META, result, problem !== undefined);
}

/** What comes before the report of a loading that has stopped, or was aborted. */
function loadProgressBlocks(result: types.LoadResult | undefined): Pick<ToolAnswer, "blocks" | "meta"> {
  if (result?.status !== "loading") return { blocks: [] };
  return answerWith([[partLines(result).join("\n"), ...shownNotes(result)].join("\n\n")], LOADED_META, result);
}

function cancelledText(result: types.LoadResult | undefined): string | undefined {
  if (result?.status !== "loading" || sum(result.systems, "loaded") === 0) return undefined;
  return ["load-system was cancelled.", ...partLines(result)].join("\n");
}

/** The notes. Those about optimization are only counted if there is anything worse: they would hide it. */
function shownNotes(result: types.Loading): string[] {
  const { notes, problem, action } = result;
  const worse = notes.filter(({ severity }) => severity !== "note");
  const hidden = notes.length - worse.length;
  if (hidden === 0 || (worse.length === 0 && problem === undefined && action === undefined))
    return noteTexts(result, MAX_NOTES);
  const count = `Not shown: ${howMany(hidden, "note")} about optimization (compile-code with a file shows its notes)`;
  return [...noteTexts({ ...result, notes: worse }, MAX_NOTES), count];
}

function subject({ system, file = "" }: types.Loading): string {
  return system === undefined ? fileName(file) : `System ${fileName(system)}`;
}

function successLines(loading: types.Loading, test: boolean): string[] {
  const { systems, compiled, notes, leftOut, tests } = loading;
  const files = sum(systems, "loaded");
  const verdict =
    files === 0
      ? `${subject(loading)} was loaded before, and its code is up to date: no file was compiled or loaded.`
      : `${subject(loading)} is loaded: ${howMany(files, "file")}, ${compiledText(compiled, files)}.`;
  const said = notes.length + leftOut === 0 ? [] : [`The compiler: ${counts(loading)}.`];
  const found = tests.length === 0 ? "No test system was found." : `Its test systems are loaded: ${tests.join(", ")}.`;
  return [
    verdict,
    ...foundLine(loading),
    ...(test ? [found] : []),
    ...(systems.length > 1 ? [`Files: ${systemsText(systems)}`] : []),
    ...said,
  ];
}

function foundLine({ foundIn }: types.Loading): string[] {
  return foundIn === undefined
    ? []
    : [`ASDF did not find it: ${fileName(foundIn)} below the image's directory defines it.`];
}

function compiledText(compiled: number, files: number): string {
  if (compiled === 0) return "compiled before";
  return compiled === files ? "compiled now" : `${compiled} of them compiled now`;
}

function partLines(loading: types.Loading): string[] {
  const { systems, action, notes, leftOut } = loading;
  if (systems.length === 0)
    return [
      `${subject(loading)} is not loaded. Nothing was compiled or loaded.`,
      ...(action === undefined ? [] : [actionLine(action)]),
    ];
  const left = systems.flatMap((system) => system.left);
  const { shown } = firstOf(left, MAX_FILES);
  const count = sum(systems, "count") - sum(systems, "loaded");
  const others = count > shown.length ? [more(count - shown.length, "file")] : [];
  const loaded = sum(systems, "loaded");
  return [
    `${subject(loading)} is not loaded${loaded === 0 ? "" : " completely"}: ${loaded} of ${howMany(sum(systems, "count"), "file")}.`,
    ...foundLine(loading),
    ...(systems.length > 1 ? [`Files: ${systemsText(systems)}`] : []),
    ...(action === undefined ? [] : [actionLine(action)]),
    ...(count === 0 ? [] : [`Not loaded: ${[...shown.map((file) => fileName(file)), ...others].join(", ")}`]),
    ...(notes.length + leftOut === 0 ? [] : [`The compiler: ${counts(loading)}.`]),
  ];
}

function actionLine(action: NonNullable<types.Loading["action"]>): string {
  switch (action.kind) {
    case "compile":
      return `Not compiled to its end: ${fileName(action.file)}`;
    case "warned":
      return `Compiled with warnings, which ASDF takes for a failure: ${fileName(action.file)}`;
    case "load":
      return `Not loaded to its end: ${fileName(action.file)}. Its forms before the failed one have run.`;
    case "install":
      return `Not installed by Quicklisp to its end: ${fileName(action.system)}`;
  }
}

function sum(systems: readonly types.LoadedSystem[], key: "loaded" | "count"): number {
  return systems.reduce((total, system) => total + system[key], 0);
}

function systemsText(systems: readonly types.LoadedSystem[]): string {
  const systemText = ({ name = "", loaded, count }: types.LoadedSystem) =>
    `${fileName(name)} ${loaded === count ? count : `${loaded} of ${count}`}`;
  // The last ones are the wanted system, and those that it needs itself.
  const left = systems.length - MAX_SYSTEMS;
  const others = left > 0 ? [`${left} other systems`] : [];
  return [...others, ...systems.slice(-MAX_SYSTEMS).map(systemText)].join(", ");
}

function problemLines(problem: types.LoadProblem): string[] {
  switch (problem.kind) {
    case "missing":
      return missingLines(problem);
    case "circular":
      return [`These need each other: ${problem.names.map((name) => fileName(name)).join(" -> ")}`];
    case "no-system": {
      const { file, names } = problem;
      if (names.length === 0) return [`${fileName(file)} defines no system.`];
      return [
        `${fileName(file)} defines no system of its own name. Load one of these by its name: ${names.join(", ")}`,
      ];
    }
  }
}

function missingLines(problem: Extract<types.LoadProblem, { kind: "missing" }>): string[] {
  const { name, requiredBy, version, folders, programs, similar, files } = problem;
  const needed = requiredBy === undefined ? "" : `, which ${fileName(requiredBy)} needs`;
  if (version !== undefined) return [`ASDF finds ${fileName(name)}, but not version ${version}${needed}.`];
  const programTexts = programs.map(({ name: program, failure }) =>
    failure === undefined ? program : `${program} (it failed: ${oneLine(failure, 300)})`,
  );
  const others = programs.length === 0 ? [] : [`Not provided by: ${programTexts.join(", ")}`];
  return [
    `ASDF does not find a system ${fileName(name)}${needed}.`,
    ...oddCharacterHint(name),
    `It looked in: ${folders.length === 0 ? "no folder" : folders.join(", ")}`,
    ...others,
    ...(similar.length === 0 ? [] : [`Similar: ${similar.map((other) => fileName(other)).join(", ")}`]),
    ...(files.length === 0 ? [] : [`Not in these folders: ${files.join(", ")} (load-system takes it as "file")`]),
    "ASDF reads the folders once: (asdf:clear-source-registry) makes it find new .asd files.",
  ];
}

export const loadSystem = defineTool({
  name: "load-system",
  family: "code",
  needs: "runtime",
  effect: "evaluates",
  title: "Load a system",
  description:
    "Compile and load a system by ASDF (Quicklisp, ocicl), or a file: every error, warning and note with its place, what is loaded, and what is missing and where it was looked for. A failure stays stopped: correct the file, then RETRY, or LOAD-ANYWAY despite warnings.",
  input: (config) =>
    z.strictObject({
      system: z.string().min(1).optional().describe("Name of the system"),
      file: z.string().min(1).optional().describe("Instead: a .lisp file, or the .asd file of a system"),
      force: z.boolean().optional().describe("Compile all its files again (default false)"),
      test: z.boolean().optional().describe("Load its test systems, too (default false)"),
      timeout: timeoutInput(config),
    }),
  async run({ system, file, force, test, timeout }, context) {
    const source = sourceOf(system, file, test === true);
    const session = await context.session();
    const { signal, config } = context;
    const seconds = timeout ?? config.timeout;
    const loading = loadCode(session.client.lisp, source, { force, test, signal });
    const { code, result, progress } = await preparedWithin(seconds, loading);
    // Compiled files stay on the disk: they must be as the user's own programs compile them.
    const run = { session, code, valuesAs: "data", onError: config.onError, policy: "keep" } as const;
    const presenter: Presenter = {
      answer: (value, { redefinitions }) => loadAnswer(result(value), redefinitions, test === true, context.guide),
      unfinished: async () => loadProgressBlocks(await known(progress)),
      tellsWarnings: true,
    };
    return answerPresented(run, presenter, context, seconds).catch(async (error: unknown) => {
      await noticeOfRest(progress, context);
      throw error;
    });
  },
});

type Progress = () => Promise<types.LoadResult | undefined>;

async function known(progress: Progress): Promise<types.LoadResult | undefined> {
  return progress().catch(() => undefined);
}

/** A cancelled call has no answer, so the next answer says what it has loaded. */
async function noticeOfRest(progress: Progress, { cancelled, agent }: ToolContext): Promise<void> {
  if (!cancelled.aborted) return;
  const text = cancelledText(await known(progress));
  if (text !== undefined) agent.notices.add(text);
}

function sourceOf(system: string | undefined, file: string | undefined, test: boolean): types.LoadSource {
  if (system !== undefined && file === undefined) return { system };
  if (file !== undefined && system === undefined) {
    if (!test || isSystemFile(file)) return { file };
    throw misused("load-system", "Only a system has test systems, and this file is no .asd file.", TAKES);
  }
  throw misused("load-system", "Give either a system or a file.", TAKES);
}

const TAKES = "Correct this and call again. load-system takes the name of a system, or a .lisp or .asd file.";
