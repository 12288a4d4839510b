import type { Conclusion, ConditionEnding } from "../evaluation/conclusion.js";
import type { ErrorSnapshot, FrameSummary, Redefinitions, Transcript, WarningCount } from "../image/lisp-port.js";
import { cutName, cutText, cutTexts, firstOf, valuesCost } from "../text/cut.js";
import type { JsonObject } from "../text/tool-answer.js";
import { REPORT_FRAMES } from "./backtrace.js";
import { idleData } from "./idle-breakpoints.js";
import { restartsData } from "./restarts.js";
import { cutWarnings } from "./sections.js";
import { conditionsData } from "./signalled-conditions.js";
import { notedValues } from "./value-cuts.js";

/** Key of a result's `_meta` under which programs find {@link outcomeData}. */
export const OUTCOME_META = "swank-mcp/outcome";

/** Most superclasses of a condition's class. */
const MAX_SUPERTYPES = 50;
/** Longest form of a step. */
const MAX_FORM = 2000;
/** Most numbers of warnings by file and type, and of forms. */
const MAX_COUNTS = 50;
/** Most files with redefinitions. */
const MAX_FILES = 20;
/** Most characters of a list of names. */
const MAX_NAMES = 4000;

/** The parts of a conclusion that are shown as data. */
type Concluded = Pick<Conclusion, "status" | "transcript" | "ending" | "processOutput">;

/** The facts of a report as data, each text cut as in the report. Restarts count from 1, as in every answer. */
export function outcomeData(
  { status, transcript, ending, processOutput = 0 }: Concluded,
  maxValue?: number,
): JsonObject {
  return {
    status,
    ...(ending.kind === "values" ? valuesData(notedValues(ending), ending.count, maxValue) : { values: [] }),
    ...(ending.kind === "values" ? unshownData(ending.forms?.unshown ?? []) : {}),
    ...(ending.kind === "values" ? idleData(ending.idleBreakpoints ?? []) : {}),
    stdout: transcript.stdout,
    stderr: transcript.stderr,
    ...(processOutput > 0 ? { process_output: processOutput } : {}),
    ...warningsData(transcript),
    ...redefinitionsData(transcript.redefinitions),
    ...conditionsData(transcript.conditions),
    package: cutName(transcript.package),
    ...(transcript.milliseconds === undefined ? {} : { milliseconds: Math.round(transcript.milliseconds) }),
    ...(ending.kind === "condition" ? conditionData(ending) : {}),
  };
}

/** Printed values, cut as in a report. `count` is the number of values that were returned. */
function valuesData(values: readonly string[], count: number, maxValue?: number): JsonObject {
  const left = count - values.length;
  return { values: cutTexts(values, valuesCost(maxValue)), ...(left > 0 ? { values_left_out: left } : {}) };
}

/** The numbers of the forms whose values are not shown; nothing if there are none. */
function unshownData(forms: readonly number[]): JsonObject {
  if (forms.length === 0) return {};
  const { shown, left } = firstOf(forms, MAX_COUNTS);
  return { forms_not_shown: shown, ...(left > 0 ? { forms_not_shown_left_out: left } : {}) };
}

function warningsData({ warnings, warningsInFiles, warningsOmitted }: Transcript): JsonObject {
  return {
    warnings: cutWarnings(warnings),
    ...countsData(warningsInFiles),
    ...(warningsOmitted > 0 ? { warnings_left_out: warningsOmitted } : {}),
  };
}

/** The numbers of warnings by file and type, those of the files with most warnings; nothing if there are none. */
function countsData(counts: readonly WarningCount[]): JsonObject {
  if (counts.length === 0) return {};
  const { shown, left } = firstOf(
    [...counts].sort((a, b) => b.count - a.count),
    MAX_COUNTS,
  );
  return {
    warnings_in_files: shown.map(({ file, ...count }) => ({ file: cutName(file), ...count })),
    ...(left > 0 ? { warnings_in_files_left_out: left } : {}),
  };
}

/** What was redefined, and what still uses the old definitions; nothing if nothing was redefined. */
function redefinitionsData({ count, files, stale }: Redefinitions): JsonObject {
  if (count === 0) return {};
  const { shown, left } = firstOf(files, MAX_FILES);
  return {
    redefined: shown.map(({ file, count: number, names }) => ({
      ...(file === undefined ? {} : { file: cutName(file) }),
      count: number,
      names: cutTexts(names, MAX_NAMES),
    })),
    ...(left > 0 ? { redefined_files_left_out: left } : {}),
    ...(stale.length > 0
      ? { stale: stale.map(({ name, users }) => ({ name, users: cutTexts(users, MAX_NAMES) })) }
      : {}),
  };
}

/** The error as data, with its innermost frames: as many as get-backtrace shows by default. */
function errorData(error: ErrorSnapshot): JsonObject {
  const { slots, restarts, frames, totalFrames, supertypes, ...rest } = error;
  return {
    type: cutName(rest.type),
    class: cutName(rest.class),
    supertypes: firstOf(supertypes, MAX_SUPERTYPES).shown.map((name) => cutName(name)),
    message: cutText(rest.message),
    ...(slots.length > 0 ? { slots: slots.map(({ name, value }) => ({ name: cutName(name), value })) } : {}),
    ...restartsData(restarts),
    frames: frames
      .slice(0, REPORT_FRAMES)
      .map(({ index, call, place }) => ({ index, call, ...(place === undefined ? {} : { place: placeData(place) }) })),
    total_frames: totalFrames,
    ...(rest.printedFrom === undefined ? {} : { printed_from: cutName(rest.printedFrom) }),
    timestamp: rest.timestamp,
  };
}

function placeData({ file, line }: NonNullable<FrameSummary["place"]>): JsonObject {
  return { file: cutName(file), line };
}

/** The last error as a result's `_meta`. */
export function errorMeta(error: ErrorSnapshot): JsonObject {
  return { [OUTCOME_META]: { error: errorData(error) } };
}

function conditionData({ error, stop, thread }: ConditionEnding): JsonObject {
  if (stop === undefined) return { ...(thread === undefined ? {} : { thread }), error: errorData(error) };
  const { level, reason, detail } = stop;
  return {
    thread: stop.thread,
    level,
    stop: { reason, ...detail, ...(detail.form === undefined ? {} : { form: cutText(detail.form, MAX_FORM) }) },
    error: errorData(error),
  };
}
