import type { types } from "swank-client";
import type { JsonObject } from "../base/answer.js";
import type { ApartOutput } from "../session/apart-output.js";
import type { Conclusion, ConditionEnding, ValuesEnding } from "../session/conclusion.js";
import type { DebuggedStop } from "../session/lisp-port.js";
import { cutCall, cutName, cutText, cutTexts, firstOf, oneLine } from "../text/cut.js";
import { conditionsData, idleData, notedValues } from "./report.js";
import { methodTexts, placeName, REPORT_FRAMES, relevantFrames, restartsData } from "./stop.js";

export const OUTCOME_META = "swank-mcp/outcome";

type Concluded = Pick<Conclusion, "status" | "transcript" | "ending" | "apart">;

/** The facts of a report as data. Restarts count from 1, as in every answer. Like all data of `_meta`, they are cut when the answer is sent. */
export function outcomeData({ status, transcript, ending, apart = [] }: Concluded): JsonObject {
  return {
    status,
    ...(ending.kind === "values" ? valuesData(ending) : { values: [] }),
    stdout: transcript.stdout,
    stderr: transcript.stderr,
    ...(apart.length > 0 ? { output_apart: apart.map(apartData) } : {}),
    ...warningsData(transcript),
    ...redefinitionsData(transcript.redefinitions),
    ...conditionsData(transcript.conditions),
    package: transcript.package,
    ...(transcript.milliseconds === undefined ? {} : { milliseconds: Math.round(transcript.milliseconds) }),
    ...(ending.kind === "condition" ? conditionData(ending) : {}),
  };
}

/** Who wrote it, when, and how much; the text is in the answer. */
function apartData({ source, text, from, to }: ApartOutput): JsonObject {
  return {
    source: cutName(source),
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    characters: text.length,
  };
}

/** Printed values; Lisp sends only the first ones of many. Nothing for what is usual. */
function valuesData(ending: ValuesEnding): JsonObject {
  const { count, values, forms, idleBreakpoints = [] } = ending;
  const left = count - values.length;
  return {
    values: notedValues(ending),
    ...(left > 0 ? { values_left_out: left } : {}),
    ...(forms === undefined || forms.unshown.length === 0 ? {} : { forms_not_shown: forms.unshown }),
    ...idleData(idleBreakpoints),
  };
}

function warningsData({ warnings, warningsInFiles, warningsOmitted }: types.Transcript): JsonObject {
  return {
    // The files with most warnings come first: these are kept if the data are cut.
    warnings: warnings.map(({ type, message, file }) => ({
      type,
      message: message.trim(),
      ...(file === undefined ? {} : { file }),
    })),
    ...(warningsInFiles.length === 0
      ? {}
      : { warnings_in_files: [...warningsInFiles].sort((a, b) => b.count - a.count) }),
    ...(warningsOmitted > 0 ? { warnings_left_out: warningsOmitted } : {}),
  };
}

/** What was redefined, and what still uses the old definitions; nothing if nothing was redefined. */
function redefinitionsData({ count, files, stale, inside }: types.Redefinitions): JsonObject {
  if (count === 0) return {};
  return {
    redefined: files.map((redefined) => ({ ...redefined })),
    ...(stale.length > 0 ? { stale: stale.map(({ name, users }) => ({ name, users })) } : {}),
    ...(inside.length > 0
      ? { threads_inside_old: inside.map(({ name, count: threads, complete }) => ({ name, threads, complete })) }
      : {}),
  };
}

/** The error as data, with its innermost frames: as many as get-backtrace shows by default. */
function errorData(error: types.ErrorSnapshot): JsonObject {
  const { type, class: className, supertypes, message, slots, restarts, frames, totalFrames, printedFrom } = error;
  return {
    type,
    class: className,
    supertypes,
    message,
    ...(slots.length > 0 ? { slots: slots.map(({ name, value }) => ({ name, value })) } : {}),
    ...restartsData(restarts),
    frames: frames.slice(0, REPORT_FRAMES).map(({ index, call, place }) => ({
      index,
      call,
      ...(place === undefined ? {} : { place: { file: place.file, line: place.line } }),
    })),
    total_frames: totalFrames,
    ...(printedFrom === undefined ? {} : { printed_from: printedFrom }),
    timestamp: error.timestamp,
  };
}

export function errorMeta(error: types.ErrorSnapshot): JsonObject {
  return { [OUTCOME_META]: { error: errorData(error) } };
}

function conditionData({ error, stop, thread }: ConditionEnding): JsonObject {
  if (stop === undefined) return { ...(thread === undefined ? {} : { thread }), error: errorData(error) };
  const { level, reason, detail } = stop;
  return {
    thread: stop.thread,
    level,
    stop: { reason, ...detail },
    error: errorData(error),
  };
}

/** Most characters of a value in a list of frames, and of all values of the list together. */
const MAX_VALUE = 200;

const MAX_VALUES = 30_000;

const MAX_LOCALS = 20;

const MAX_CALL = 300;

/** Most characters of a frame's source form in a list of many frames, and of all such forms together. */
const MAX_STOP_FORM = 200;

const MAX_FORMS = 20_000;

const MAX_TAGS = 50;

const MAX_BREAKPOINTS = 100;

const MAX_CONDITION = 200;

const MAX_LOGGED = 4000;

const NOT_READ =
  "An interrupt, or the exhausted stack, stopped this function at an arbitrary instruction: its variable slots may hold garbage, and " +
  "reading them can crash the image. Its callers show their variables.";

/** The name of a stop, which every answer about it includes. */
export function placeData(stop: Pick<DebuggedStop, "thread" | "level">): JsonObject {
  return { thread: placeName(stop) };
}

/**
 * The frames of a page that the report shows, too, or all. `internal_left_out` counts the page's others, and `outside_page` the frames
 * before and after the page; with those shown, these are all of the stack.
 */
export function framePageData(page: types.FramePage, error: types.ErrorSnapshot, internal: boolean): JsonObject {
  const kind = relevantFrames(error.frames)[0]?.kind;
  const shown = internal || kind === undefined ? page.frames : page.frames.filter((frame) => frame.kind === kind);
  const left = page.frames.length - shown.length;
  const outside = page.totalFrames - page.frames.length;
  return {
    frames: frameListData(shown, page.directory),
    total_frames: page.totalFrames,
    ...(left > 0 ? { internal_left_out: left } : {}),
    ...(outside > 0 ? { outside_page: outside } : {}),
    ...(page.printedFrom === undefined ? {} : { printed_from: cutName(page.printedFrom) }),
  };
}

/** Frames with their variables. Variables that would make the list too long are counted in `locals_left_out`. */
function frameListData(frames: readonly types.Frame[], directory: string): JsonObject[] {
  let room = MAX_VALUES;
  const maxForm = Math.max(MAX_STOP_FORM, Math.floor(MAX_FORMS / frames.length));
  return frames.map((frame) => {
    const locals = frame.locals
      .slice(0, MAX_LOCALS)
      .map((local) => variableData(local, MAX_VALUE))
      .filter(({ value }) => {
        room -= value.length;
        return room > 0;
      });
    const left = frame.totalLocals - locals.length;
    return {
      index: frame.index,
      function: cutName(frame.function, MAX_CALL),
      call: cutCall(frame.call, MAX_CALL),
      ...(frame.source === undefined ? {} : { source: sourceData(frame.source, maxForm, directory) }),
      ...(frame.methods.length > 0 ? { methods: methodTexts(frame.methods) } : {}),
      locals,
      ...(left > 0 ? { locals_left_out: left } : {}),
    };
  });
}

/** A variable. Code refers to its object as `(swank-objects:ref object_id)`. */
function variableData({ name, value, objectId, marks }: types.Variable, max = Number.POSITIVE_INFINITY) {
  const facts = Object.fromEntries(marks.map((mark) => [mark, true]));
  return { name: cutName(name), value: oneLine(value, max), object_id: objectId, ...facts };
}

export function frameLocalsData({ locals, totalLocals, catchTags, unread }: types.FrameLocals): JsonObject {
  const left = totalLocals - locals.length;
  const tags = firstOf(catchTags, MAX_TAGS);
  return {
    locals: locals.map((local) => variableData(local)),
    ...(left > 0 ? { locals_left_out: left } : {}),
    ...(unread ? { locals_not_read: NOT_READ } : {}),
    catch_tags: [...tags.shown],
    ...(tags.left > 0 ? { catch_tags_left_out: tags.left } : {}),
  };
}

/** Breakpoints in the order in which they were set, and the number left out. */
export function breakpointListData(breakpoints: readonly types.Breakpoint[]): JsonObject {
  const { shown, left } = firstOf(breakpoints, MAX_BREAKPOINTS);
  return { breakpoints: shown.map(breakpointData), ...(left > 0 ? { breakpoints_left_out: left } : {}) };
}

export function breakpointData(breakpoint: types.Breakpoint): JsonObject {
  const { id, condition, log, hitCount, thread, hits, state, failure, lines } = breakpoint;
  return {
    id,
    function: cutName(breakpoint.function, MAX_CALL),
    condition: condition === undefined ? undefined : cutText(condition, MAX_CONDITION),
    log: log === undefined ? undefined : cutText(log, MAX_CONDITION),
    hit_count: hitCount,
    thread,
    hits,
    state,
    failure,
    ...(lines.length > 0 ? { logged: cutTexts(lines, MAX_LOGGED) } : {}),
  };
}

function sourceData(source: types.Source, maxForm: number, directory: string): JsonObject {
  return "form" in source
    ? { form: cutText(source.form, maxForm) }
    : { file: relativeTo(directory, source.file), line: source.line, column: source.column };
}

function relativeTo(directory: string, file: string): string {
  return file.startsWith(directory) ? file.slice(directory.length) : file;
}
