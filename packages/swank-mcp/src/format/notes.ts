import type { Conclusion, Ending, ValuesEnding } from "../evaluation/conclusion.js";
import type { Redefinitions } from "../image/lisp-port.js";
import { cutName, fileName, firstOf } from "../text/cut.js";
import { idleLines } from "./idle-breakpoints.js";
import { conditionLines } from "./signalled-conditions.js";

/** Most names in a line, files in a line, and characters of a name. */
const MAX_NAMES = 12;
const MAX_FILES = 8;
const MAX_NAME = 100;
/** Most redefinitions by files that are named; more are counted by file. */
const FEW = 8;

/** Longest time in milliseconds that is not mentioned. */
const SHORT = 1000;

type Noted = Pick<Conclusion, "transcript" | "ending" | "processOutput">;

/** Lines for the second block of a report: facts about the evaluation that are neither output nor warnings. */
export function noteLines({ transcript, ending, processOutput }: Noted): string[] {
  return [
    ...redefinitionLines(transcript.redefinitions),
    ...(ending.kind === "values" ? [...unshownLines(ending), ...idleLines(ending.idleBreakpoints ?? [])] : []),
    ...conditionLines(transcript.conditions),
    ...processOutputLines(processOutput),
    ...timeLines(transcript.milliseconds, ending),
  ];
}

/** The forms whose values are not shown, and the variables in which Lisp keeps the latest of these values. */
function unshownLines({ forms: { count, unshown } = { count: 0, unshown: [] } }: ValuesEnding): string[] {
  if (unshown.length === 0) return [];
  const numbers = `form${unshown.length > 1 ? "s" : ""} ${listed(unshown.map(String), unshown.length)}`;
  const kept = ["//", "///"].flatMap((variable, index) => {
    const form = count - 1 - index;
    return unshown.includes(form) ? [`${variable} (form ${form})`] : [];
  });
  const where = kept.length === 0 ? "" : ` Kept for the next call: ${kept.join(", ")}.`;
  return [`Not shown: the values of ${numbers}.${where}`];
}

/** That the image's process has written to its own streams. Who wrote there is not known. */
export function processOutputLines(characters = 0): string[] {
  if (characters === 0) return [];
  const counted = `${characters} character${characters === 1 ? "" : "s"}`;
  return [
    `Not in this answer: ${counted} on the image's own stdout or stderr, where other threads, child processes and C code write. lisp-status shows the end as process_output.`,
  ];
}

/** The time of a long evaluation. The message of a timeout already says it. */
function timeLines(milliseconds: number | undefined, ending: Ending): string[] {
  if (milliseconds === undefined || milliseconds <= SHORT) return [];
  if (ending.kind === "condition" && ending.tag === "TIMEOUT") return [];
  return [`Time: ${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`];
}

/** What was redefined, and the code that still uses old macros and inline functions. */
export function redefinitionLines({ count, files, stale }: Redefinitions): string[] {
  if (count === 0 && stale.length === 0) return [];
  const [own, loaded] = [
    files.filter(({ file }) => file === undefined),
    files.filter(({ file }) => file !== undefined),
  ];
  const left = count - files.reduce((sum, each) => sum + each.count, 0);
  const inFiles = loaded.reduce((sum, each) => sum + each.count, left);
  return [
    ...own.map(({ names }) => `Redefined: ${listed(names, names.length)}`),
    ...(inFiles > FEW
      ? [`${inFiles} redefinitions: ${byFile(loaded)}`]
      : loaded.map(({ file, names }) => `Redefined by ${fileName(file)}: ${listed(names, names.length)}`)),
    ...stale.map(
      ({ name, count: users, users: names }) =>
        `Compiled with the old ${cutName(name, MAX_NAME)}: ${listed(names, users)} (evaluate their definitions again)`,
    ),
  ];
}

/** The files with their numbers, those with most redefinitions first. */
function byFile(files: Redefinitions["files"]): string {
  const { shown, left } = firstOf(
    [...files].sort((a, b) => b.count - a.count),
    MAX_FILES,
  );
  const others = left > 0 ? [`${left} other files`] : [];
  return [...shown.map(({ file, count }) => `${fileName(file)} ${count}`), ...others].join(", ");
}

/** The first names of `count`. */
function listed(names: readonly string[], count: number): string {
  const { shown } = firstOf(names, MAX_NAMES);
  const left = count - shown.length;
  return [...shown.map((name) => cutName(name, MAX_NAME)), ...(left > 0 ? [`${left} more`] : [])].join(", ");
}
