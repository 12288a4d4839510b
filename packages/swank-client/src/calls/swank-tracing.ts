import { type Decoder, decode, keyword, quote, type Sexp, symbol } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { inspection } from "./swank-inspection.js";

const { any, integer, list, map, nullable, string, tuple } = decode;

const DIALOG = { contrib: "swank-trace-dialog" } as const;

/** `(swank:swank-toggle-trace "SPEC")`: traces a function, or no longer. => a sentence. The trace goes to `*trace-output*`. */
export const swankToggleTrace = lispFunction({
  name: "swank:swank-toggle-trace",
  encode: (spec: string) => [spec],
  decode: string,
});

/** `(swank:untrace-all)`: traces nothing any more. */
export const untraceAll = lispFunction({ name: "swank:untrace-all", decode: () => undefined });

/** A function by name, read in Lisp. */
const named = (name: string): Sexp => [symbol("swank::from-string"), name];

/** `(swank-trace-dialog:dialog-toggle-trace 'NAME)`: records calls of a function, or no longer. => a sentence */
export const dialogToggleTrace = lispFunction({
  ...DIALOG,
  name: "swank-trace-dialog:dialog-toggle-trace",
  encode: (name: string) => [named(name)],
  decode: string,
});

/** `(swank-trace-dialog:dialog-untrace-all)`: records no calls any more. */
export const dialogUntraceAll = lispFunction({
  ...DIALOG,
  name: "swank-trace-dialog:dialog-untrace-all",
  decode: () => undefined,
});

/** `(swank-trace-dialog:report-specs)`: the functions whose calls are recorded, as Lisp data. */
export const reportSpecs = lispFunction({
  ...DIALOG,
  name: "swank-trace-dialog:report-specs",
  decode: map(nullable(list(any)), (specs): readonly Sexp[] => specs ?? []),
});

/** `(swank-trace-dialog:report-total)`: the number of recorded calls. */
export const reportTotal = lispFunction({ ...DIALOG, name: "swank-trace-dialog:report-total", decode: integer });

/** `(swank-trace-dialog:clear-trace-tree)`: forgets the recorded calls. */
export const clearTraceTree = lispFunction({
  ...DIALOG,
  name: "swank-trace-dialog:clear-trace-tree",
  decode: () => undefined,
});

/** An argument or a value of a recorded call. */
export interface TracedValue {
  /** Its position, for `inspectTracePart`. */
  readonly position: number;
  readonly text: string;
}

/** A recorded call. */
export interface TracedCall {
  readonly id: number;
  /** The recorded call that made this one; `undefined` for an outermost one. */
  readonly parent: number | undefined;
  /** The function, as Lisp data. */
  readonly spec: Sexp;
  readonly args: readonly TracedValue[];
  /** Empty while the call runs, and for a call that did not return. */
  readonly values: readonly TracedValue[];
}

const traced: Decoder<readonly TracedValue[]> = map(
  nullable(list(map(tuple(integer, string), ([position, text]) => ({ position, text })))),
  (values = []) => values,
);

const tracedCall: Decoder<TracedCall> = map(
  decode.tupleRest([integer, nullable(integer), any, traced, traced], any),
  ([id, parent, spec, args, values]) => ({ id, parent, spec, args, values }),
);

/** Recorded calls, in the order of their beginning. */
export interface TraceReport {
  readonly calls: readonly TracedCall[];
  /** How many further calls there are; call again with the same key. */
  readonly remaining: number;
}

/** `(swank-trace-dialog:report-partial-tree 'KEY)`: the next calls that this key has not seen yet. */
export const reportPartialTree = lispFunction({
  ...DIALOG,
  name: "swank-trace-dialog:report-partial-tree",
  encode: (key: string) => [quote(symbol(key))],
  decode: map(
    decode.tupleRest([nullable(list(tracedCall)), integer], any),
    ([calls = [], remaining]): TraceReport => ({ calls, remaining }),
  ),
});

/** `(swank-trace-dialog:report-trace-detail ID)`: one recorded call; `undefined` if there is none with this id. */
export const reportTraceDetail = lispFunction({
  ...DIALOG,
  name: "swank-trace-dialog:report-trace-detail",
  encode: (id: number) => [id],
  decode: nullable(tracedCall),
});

/** `(swank-trace-dialog:inspect-trace-part ID POSITION :KIND)`: inspects an argument or a value of a recorded call. */
export const inspectTracePart = lispFunction({
  ...DIALOG,
  name: "swank-trace-dialog:inspect-trace-part",
  encode: (id: number, position: number, kind: "arg" | "retval") => [id, position, keyword(kind)],
  decode: nullable(inspection),
});
