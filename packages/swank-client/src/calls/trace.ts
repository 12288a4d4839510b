import { decode, quote, type Sexp } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { keywordOf } from "../lisp/decoders.js";
import { lispFunction } from "../lisp/descriptor.js";
import { type Trace, traceData } from "./trace-data.js";

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

const REMEDIES = {
  name: "Write a name as code does: my-app:process, (setf name) or (method name (class)).",
  undefined: "Define the function first, or write its package, as in my-app:process.",
  macro: "Trace a function that its expansion calls.",
  "used-by-lisp": "Trace a function of the program that calls it.",
  package: "Name a package of the program, or single functions.",
  code: "Correct the condition: it must compile, as (> (first args) 3) does. args is the argument list.",
  thread: "List the threads.",
} as const;

const KINDS = [
  "name",
  "undefined",
  "macro",
  "used-by-lisp",
  "package",
  "code",
  "thread",
] as const satisfies (keyof typeof REMEDIES)[];

const refusal = map(tuple(string, string, keywordOf(KINDS), list(string)), ([name, reason, kind, similar]) => {
  const hint = similar.length === 0 ? "" : ` Similar: ${similar.join(", ")}.`;
  return new SwankError("WATCH_REFUSED", `${name}: ${reason}${hint}`, { remedy: REMEDIES[kind] });
});

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
  refusals: { refused: () => refusal },
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
