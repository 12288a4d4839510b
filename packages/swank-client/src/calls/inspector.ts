import { type Decoder, decode, NIL } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { lispFunction } from "../lisp/descriptor.js";
import { noSuchPackage } from "./stop-refusals.js";
import { part } from "./swank-inspection.js";

/** Milliseconds that the image has to answer; inspecting an object may call the user's methods. */
const ANSWER_TIME = 30_000;

const { boolean, integer, list, map, string, tagged, tuple } = decode;

/** An object that the image keeps for this client. */
export interface Inspected {
  readonly id: number;
  /** As Lisp prints it, within limits, on one line. */
  readonly title: string;
  /** The name of its class, with its package. */
  readonly class: string;
}

/** `(:inspector ID TITLE CLASS)` (lisp/inspect/inspections.lisp, `open-inspection`) */
const inspected: Decoder<Inspected> = tagged({
  inspector: map(tuple(integer, string, string), ([id, title, className]) => ({ id, title, class: className })),
});

/** The error of a call after the inspector was closed. */
export function inspectorClosed(): SwankError {
  return new SwankError("INSPECTOR_CLOSED", "The inspector is closed.");
}

/** `(:closed)` */
const closed = { closed: () => map(tuple(), inspectorClosed) };

/** `(:no-part)` */
const noPart = (kind: string, index: number): Decoder<SwankError> =>
  map(tuple(), () => new SwankError("INVALID_ARGUMENT", `The parts that were read have no ${kind} ${index}.`));

const common = { module: "inspect", timeout: ANSWER_TIME } as const;

/** Evaluates an expression, and keeps its value for an inspector (lisp/inspect/inspect.lisp). */
export const inspectValue = lispFunction({
  name: "inspect-value",
  module: "inspect",
  encode: (expression: string, packageName: string | undefined) => [expression, packageName ?? NIL],
  decode: inspected,
  refusals: { "no-such-package": (_expression: string, packageName = "") => noSuchPackage(packageName) },
  label: () => "inspecting a value",
});

/** Keeps a part of an inspected object for an inspector. */
export const inspectPart = lispFunction({
  ...common,
  name: "inspect-part",
  encode: (id: number, index: number) => [id, index],
  decode: inspected,
  refusals: { ...closed, "no-part": (_id: number, index: number) => noPart("value", index) },
  label: () => "inspecting a part",
});

/** `(:parts (PIECE ...) COUNT MORE)` */
const parts = tagged({
  parts: map(tuple(list(part), integer, boolean), ([pieces, count, hasMore]) => ({ parts: pieces, count, hasMore })),
});

/** Reads the parts of an inspected object: the entries from `start` to `end`, at most 500. */
export const inspectedParts = lispFunction({
  ...common,
  name: "inspected-parts",
  encode: (id: number, start: number, end: number) => [id, start, end],
  decode: parts,
  refusals: closed,
  label: () => "reading the parts of an object",
});

/** Does an action of an inspected object. => whether its parts have been read again */
export const callInspectorAction = lispFunction({
  ...common,
  name: "call-action",
  encode: (id: number, index: number) => [id, index],
  decode: boolean,
  refusals: { ...closed, "no-part": (_id: number, index: number) => noPart("action", index) },
  label: () => "doing an action of an object",
});

/** Reads the parts of an inspected object again. */
export const refreshInspector = lispFunction({
  ...common,
  name: "refresh-inspector",
  encode: (id: number) => [id],
  decode: decode.any,
  refusals: closed,
  label: () => "inspecting an object again",
});

/** What `describe` prints for an inspected object. */
export const describeInspected = lispFunction({
  ...common,
  name: "describe-inspected",
  encode: (id: number) => [id],
  decode: string,
  refusals: closed,
  label: () => "describing an object",
});

/** Releases an inspected object. */
export const closeInspector = lispFunction({
  ...common,
  name: "close-inspector",
  encode: (id: number) => [id],
  decode: decode.any,
  label: () => "closing an inspector",
});
