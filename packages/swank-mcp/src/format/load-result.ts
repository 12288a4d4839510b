import type {
  InstallingProgram,
  LoadedSystem,
  Loading,
  LoadProblem,
  LoadResult,
  Redefinitions,
} from "../image/lisp-port.js";
import { fileName, firstOf, more, oneLine } from "../text/cut.js";
import type { JsonObject, ToolAnswer } from "../text/tool-answer.js";
import type { ToolGuide } from "../text/tool-guide.js";
import { counts, notesData, noteTexts } from "./compiled-code.js";
import { missingFileAnswer } from "./not-found.js";
import { redefinitionLines } from "./notes.js";

/** Key of a result's `_meta` under which programs find the result as data. */
const LOADED_META = "swank-mcp/loaded";

/** Most notes, systems and names of files shown. */
const MAX_NOTES = 20;
const MAX_SYSTEMS = 12;
const MAX_FILES = 10;

/** The answer of load-system. @param test - Whether the caller wanted the test systems, too. */
export function loadAnswer(
  result: LoadResult,
  redefinitions: Redefinitions,
  test: boolean,
  guide: ToolGuide,
): ToolAnswer {
  if (result.status === "file-not-found") return missingFileAnswer(result, LOADED_META, guide);
  const { problem } = result;
  const lines = problem === undefined ? successLines(result, test) : [...partLines(result), ...problemLines(problem)];
  const remarks = redefinitionLines(redefinitions);
  return {
    blocks: [
      [lines.join("\n"), ...shownNotes(result)].join("\n\n"),
      ...(remarks.length === 0 ? [] : [remarks.join("\n")]),
    ],
    isError: problem !== undefined,
    meta: data(loadingData(result)),
  };
}

/** What comes before the report of a loading that has stopped, or was aborted. */
export function loadProgressBlocks(result: LoadResult | undefined): Pick<ToolAnswer, "blocks" | "meta"> {
  if (result?.status !== "loading") return { blocks: [] };
  const lines = partLines(result);
  return {
    blocks: [[lines.join("\n"), ...shownNotes(result)].join("\n\n")],
    meta: data(loadingData(result)),
  };
}

/** What a cancelled call has loaded; `undefined` if that is nothing. */
export function cancelledText(result: LoadResult | undefined): string | undefined {
  if (result?.status !== "loading" || sum(result.systems, "loaded") === 0) return undefined;
  return ["load-system was cancelled.", ...partLines(result)].join("\n");
}

/** The notes. Those about optimization are only counted if there is anything worse: they would hide it. */
function shownNotes(result: Loading): string[] {
  const { notes, problem, action } = result;
  const worse = notes.filter(({ severity }) => severity !== "note");
  const hidden = notes.length - worse.length;
  if (hidden === 0 || (worse.length === 0 && problem === undefined && action === undefined))
    return noteTexts(result, MAX_NOTES);
  const count = `Not shown: ${hidden} note${hidden === 1 ? "" : "s"} about optimization (compile-code with a file shows its notes)`;
  return [...noteTexts({ ...result, notes: worse }, MAX_NOTES), count];
}

function data(facts: JsonObject): JsonObject {
  return { [LOADED_META]: facts };
}

function loadingData({ systems, notes, action, problem, ...facts }: Loading): JsonObject {
  return {
    ...facts,
    systems: systems.map((system) => ({ ...system })),
    notes: notesData(notes),
    action: action && { ...action },
    problem: problem && problemData(problem),
  };
}

function problemData(problem: LoadProblem): JsonObject {
  if (problem.kind !== "missing") return { ...problem };
  return { ...problem, programs: problem.programs.map((program) => ({ ...program })) };
}

/** What was to load, as the subject of a sentence. */
function subject({ system, file = "" }: Loading): string {
  return system === undefined ? fileName(file) : `System ${fileName(system)}`;
}

function successLines(loading: Loading, test: boolean): string[] {
  const { systems, compiled, notes, leftOut, tests } = loading;
  const files = sum(systems, "loaded");
  const verdict =
    files === 0
      ? `${subject(loading)} was loaded before, and is up to date: no file was compiled or loaded.`
      : `${subject(loading)} is loaded: ${filesText(files)}, ${compiledText(compiled, files)}.`;
  const said = notes.length + leftOut === 0 ? [] : [`The compiler: ${counts(loading)}.`];
  const found = tests.length === 0 ? "No test system was found." : `Its test systems are loaded: ${tests.join(", ")}.`;
  return [
    verdict,
    ...(test ? [found] : []),
    ...(systems.length > 1 ? [`Files: ${systemsText(systems)}`] : []),
    ...said,
  ];
}

function compiledText(compiled: number, files: number): string {
  if (compiled === 0) return "compiled before";
  return compiled === files ? "compiled now" : `${compiled} of them compiled now`;
}

/** What is loaded of a system that is not loaded completely. */
function partLines(loading: Loading): string[] {
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
    `${subject(loading)} is not loaded${loaded === 0 ? "" : " completely"}: ${loaded} of ${filesText(sum(systems, "count"))}.`,
    ...(systems.length > 1 ? [`Files: ${systemsText(systems)}`] : []),
    ...(action === undefined ? [] : [actionLine(action)]),
    ...(count === 0 ? [] : [`Not loaded: ${[...shown.map((file) => fileName(file)), ...others].join(", ")}`]),
    ...(notes.length + leftOut === 0 ? [] : [`The compiler: ${counts(loading)}.`]),
  ];
}

function actionLine(action: NonNullable<Loading["action"]>): string {
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

function filesText(count: number): string {
  return `${count} file${count === 1 ? "" : "s"}`;
}

function sum(systems: readonly LoadedSystem[], key: "loaded" | "count"): number {
  return systems.reduce((total, system) => total + system[key], 0);
}

/** The numbers of files by system. */
function systemsText(systems: readonly LoadedSystem[]): string {
  const { shown, left } = firstOf(systems, MAX_SYSTEMS);
  const texts = shown.map(({ name = "", loaded, count }) => {
    const number = loaded === count ? String(count) : `${loaded} of ${count}`;
    return `${fileName(name)} ${number}`;
  });
  return [...texts, ...(left > 0 ? [`${left} other systems`] : [])].join(", ");
}

function problemLines(problem: LoadProblem): string[] {
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

function programText({ name, failure }: InstallingProgram): string {
  return failure === undefined ? name : `${name} (it failed: ${oneLine(failure, 300)})`;
}

function missingLines(problem: Extract<LoadProblem, { kind: "missing" }>): string[] {
  const { name, requiredBy, version, folders, programs, similar, files } = problem;
  const needed = requiredBy === undefined ? "" : `, which ${fileName(requiredBy)} needs`;
  if (version !== undefined) return [`ASDF finds ${fileName(name)}, but not version ${version}${needed}.`];
  const others = programs.length === 0 ? [] : [`Not provided by: ${programs.map(programText).join(", ")}`];
  return [
    `ASDF does not find a system ${fileName(name)}${needed}.`,
    `It looked in: ${folders.length === 0 ? "no folder" : folders.join(", ")}`,
    ...others,
    ...(similar.length === 0 ? [] : [`Similar: ${similar.map((other) => fileName(other)).join(", ")}`]),
    ...(files.length === 0 ? [] : [`Not in these folders: ${files.join(", ")} (load-system takes it as "file")`]),
    "ASDF reads the folders once: (asdf:clear-source-registry) makes it find new .asd files.",
  ];
}
