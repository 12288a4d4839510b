import type {
  Breakpoint,
  DebuggedStop,
  ErrorSnapshot,
  Frame,
  FrameLocals,
  FramePage,
  Source,
  Variable,
} from "../image/lisp-port.js";
import { cutCall, cutName, cutText, cutTexts, firstOf, oneLine } from "../text/cut.js";
import type { JsonObject } from "../text/tool-answer.js";
import { relevantFrames } from "./frames.js";
import { methodTexts } from "./methods.js";
import { placeName } from "./stop-places.js";

/** Most characters of a value in a list of frames, and of all values of the list together. */
const MAX_VALUE = 200;
const MAX_VALUES = 30_000;
/** Most variables of one frame in a list of frames. */
const MAX_LOCALS = 20;
const MAX_CALL = 300;
/** Most characters of a frame's source form in a list of many frames, and of all such forms together. */
const MAX_FORM = 200;
const MAX_FORMS = 20_000;
const MAX_TAGS = 50;
const MAX_BREAKPOINTS = 100;
const MAX_CONDITION = 200;
/** Most characters of what one breakpoint has printed. */
const MAX_LOGGED = 4000;

const NOT_READ =
  "An interrupt, or the exhausted stack, stopped this function at an arbitrary instruction: its variable slots may hold garbage, and " +
  "reading them can crash the image. Its callers show their variables.";

/** The name of a stop, which every answer about it includes. */
export function placeData(stop: Pick<DebuggedStop, "thread" | "level">): JsonObject {
  return { thread: placeName(stop) };
}

/** The frames of a page that the report shows, too, or all; `internal_left_out` counts the others. */
export function framePageData(page: FramePage, error: ErrorSnapshot, internal: boolean): JsonObject {
  const kind = relevantFrames(error.frames)[0]?.kind;
  const shown = internal || kind === undefined ? page.frames : page.frames.filter((frame) => frame.kind === kind);
  const left = page.frames.length - shown.length;
  return {
    frames: frameListData(shown, page.directory),
    total_frames: page.totalFrames,
    ...(left > 0 ? { internal_left_out: left } : {}),
    ...(page.printedFrom === undefined ? {} : { printed_from: cutName(page.printedFrom) }),
  };
}

/** Frames with their variables. Variables that would make the list too long are counted in `locals_left_out`. */
function frameListData(frames: readonly Frame[], directory: string): JsonObject[] {
  let room = MAX_VALUES;
  const maxForm = Math.max(MAX_FORM, Math.floor(MAX_FORMS / frames.length));
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
export function variableData({ name, value, objectId, marks }: Variable, max = Number.POSITIVE_INFINITY) {
  const facts = Object.fromEntries(marks.map((mark) => [mark, true]));
  return { name: cutName(name), value: oneLine(value, max), object_id: objectId, ...facts };
}

/** Variables and catch tags of one frame. */
export function frameLocalsData({ locals, totalLocals, catchTags, unread }: FrameLocals): JsonObject {
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
export function breakpointListData(breakpoints: readonly Breakpoint[]): JsonObject {
  const { shown, left } = firstOf(breakpoints, MAX_BREAKPOINTS);
  return { breakpoints: shown.map(breakpointData), ...(left > 0 ? { breakpoints_left_out: left } : {}) };
}

/** A breakpoint; options that are not set are omitted. */
export function breakpointData(breakpoint: Breakpoint): JsonObject {
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

function sourceData(source: Source, maxForm: number, directory: string): JsonObject {
  return "form" in source
    ? { form: cutText(source.form, maxForm) }
    : { file: relativeTo(directory, source.file), line: source.line, column: source.column };
}

function relativeTo(directory: string, file: string): string {
  return file.startsWith(directory) ? file.slice(directory.length) : file;
}
