import type { Breakpoint, DebuggedStop, Frame, Restart, Source, Variable } from "../lisp-port.js";
import type { JsonObject } from "../tool-answer.js";
import { cutCall, oneLine } from "./cut.js";

/** Longest value in a list of frames, and all values of such a list together; in characters. */
const MAX_VALUE = 200;
const MAX_VALUES = 30_000;
/** Most variables of one frame in a list of frames. */
const MAX_LOCALS = 20;
const MAX_CALL = 300;

/** Where a stop is, as every answer about it says. */
export function placeData({ thread, level }: DebuggedStop): JsonObject {
  return { thread, level };
}

/** Frames of a stop with their variables; those that would make the list too long are only counted, as `locals_left_out`. */
export function frameListData(frames: readonly Frame[]): JsonObject[] {
  let room = MAX_VALUES;
  return frames.map((frame) => {
    const all = frame.locals.map((local) => variableData(local, MAX_VALUE));
    const locals = all.slice(0, MAX_LOCALS).filter(({ value }) => {
      room -= value.length;
      return room > 0;
    });
    const left = all.length - locals.length;
    return {
      index: frame.index,
      function: frame.function,
      call: cutCall(frame.call, MAX_CALL),
      ...(frame.source === undefined ? {} : { source: sourceData(frame.source) }),
      locals,
      ...(left > 0 ? { locals_left_out: left } : {}),
    };
  });
}

/** A variable; its object is what `(swank-objects:ref object_id)` gives. */
export function variableData({ name, value, objectId }: Variable, max = Number.POSITIVE_INFINITY) {
  return { name, value: oneLine(value, max), object_id: objectId };
}

/** Restarts count from 1, as everywhere that an agent looks. */
export function restartData({ index, name, description }: Restart): JsonObject {
  return { index: index + 1, name, description };
}

/** What is not set is left out. */
export function breakpointData(breakpoint: Breakpoint): JsonObject {
  const { id, condition, hitCount, thread, hits, state, failure } = breakpoint;
  return { id, function: breakpoint.function, condition, hit_count: hitCount, thread, hits, state, failure };
}

function sourceData(source: Source): JsonObject {
  return "form" in source ? { form: source.form } : { file: source.file, line: source.line, column: source.column };
}
