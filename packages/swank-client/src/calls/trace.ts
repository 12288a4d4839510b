import { decode, quote, type Sexp } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { type Trace, traceData } from "./trace-data.js";
import { unwatchable } from "./unwatchable.js";

/** Milliseconds that the image has to find the functions of a package, or to print what a trace has recorded. */
const TRACE_TIME = 30_000;

const { integer, list, map, string, tagged, tuple } = decode;

/** What to prepare. */
export interface TraceWishes {
  readonly key: number;
  readonly names: readonly string[];
  readonly packageName: string | undefined;
  readonly condition: string | undefined;
  readonly threads: readonly number[];
  readonly limit: number;
}

/** Finds what to trace. The result says which calls are not recorded (lisp/trace/trace-calls.lisp). */
export const prepareTrace = lispFunction({
  name: "prepare-trace",
  module: "trace",
  encode: ({ key, names, packageName, condition, threads, limit }: TraceWishes): readonly Sexp[] => [
    key,
    quote(names),
    packageName ?? [],
    condition ?? [],
    quote(threads),
    limit,
  ],
  decode: tagged({ ready: map(tuple(integer, list(string)), ([count, missed]) => ({ count, missed })) }),
  refusals: { refused: () => unwatchable },
  timeout: TRACE_TIME,
  label: () => "preparing a trace",
});

/** Decodes the value of `trace-code` and `trace-seconds`. */
export const traceReply = tagged({ trace: traceData });

/** What the trace with a number has recorded (lisp/trace/trace-calls.lisp). */
export const traceProgress = lispFunction({
  name: "trace-progress",
  module: "trace",
  encode: (key: number) => [key],
  decode: tagged({
    trace: map(traceData, (trace): Trace | undefined => trace),
    unknown: map(tuple(), (): Trace | undefined => undefined),
  }),
  timeout: TRACE_TIME,
  label: () => "asking for the trace",
});
