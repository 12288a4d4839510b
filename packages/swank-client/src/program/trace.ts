import { type Decoded, decode, print, quote, read } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, checkOptions, type OptionsOf } from "../base/options.js";
import { type RunCode, taskOptions } from "../evaluation/work.js";
import { forms, keywordOf, lispFunction, nothing } from "../runtime/function.js";
import type { LispRunner } from "../runtime/runner.js";
import { checkBalanced } from "../source-text/balance.js";
import { millisecondsOf, newKey, RUN_ENDS, unwatchable } from "./profile.js";

const { boolean, from, integer, list, nullable, plist, record, string, tagged } = decode;

/** Most calls that a trace records, and how many by default. */
const MOST_CALLS = 100_000;

const USUAL_CALLS = 10_000;

const traceOptions = {
  ...taskOptions,
  /** Names as code writes them: `my-app:process`, `(setf name)`, `(method name (class))`. Default: none. */
  functions: check.texts,
  /** Name of a package all of whose functions are traced, at most 2,000. Default: none. */
  package: check.text,
  /**
   * Lisp code; calls for which it is false are not recorded. It can use the functions' parameters by their names, and the argument list as
   * `args`. Default: all calls.
   */
  condition: check.text,
  /** Swank's ids of the threads. Default: that of the code, and those that it starts; with `seconds` all. */
  threads: check.ids,
  /** Number of calls, at most 100,000, after which the trace ends by itself. Default: 10,000. */
  limit: check.count(1, MOST_CALLS),
};

/** What to trace. */
export interface TraceOptions extends OptionsOf<typeof traceOptions> {}

/** While what to trace: code, or all threads for some seconds, at most 3600. */
export type TraceSource = { readonly code: string } | { readonly seconds: number };

/** `open`: it has not ended. `returned`: it returned. `left`: it was left without a value, by a `throw` or a handler. */
export const CALL_EXITS = ["open", "returned", "left"] as const;

/**
 * The role of a method in a call. `value`: the call returned its value, which may be that of the next method. `ran`. `applicable`: it is not
 * known whether it ran; methods before it may not have called the next one.
 */
export const METHOD_ROLES = ["value", "ran", "applicable"] as const;

const calledMethod = record({
  /** Qualifiers and specializers, `:AROUND (APP:ITEM)`. */
  text: string,
  role: keywordOf(METHOD_ROLES),
  /** The system of the method, if the generic function and the classes come from others. */
  system: nullable(string),
});

/** A method of a traced call. */
export interface CalledMethod extends Decoded<typeof calledMethod> {}

const call = record(
  {
    /** The number of recorded calls that it is inside of. Those that it made follow it, one level deeper. */
    depth: integer,
    /** The function and its arguments, cut; of folded calls with different arguments, `(NAME ...)`. */
    text: string,
    /** The values, cut; absent if there are none, or if they differ. */
    values: nullable(string),
    exit: keywordOf(CALL_EXITS),
    count: integer,
    /** Those of the calls that were left without a value. */
    left: integer,
    /** Microseconds of all calls together, with what they called. */
    total: integer,
    /** The same without the recorded calls in them. */
    self: integer,
    /** Of a call of a generic function, the methods that apply, in the order in which they begin. */
    methods: list<CalledMethod>(calledMethod),
  },
  { kind: "call" },
);

/** A call, or several calls of one function that are folded. */
export interface RecordedCall extends Decoded<typeof call> {}

const condition = record(
  {
    depth: integer,
    type: string,
    /** The report of the first one, if it could be printed later. */
    message: nullable(string),
    /** The type in the clause of the handler that took them; absent if none did. */
    clause: nullable(string),
    /** The function that the clause is in. */
    handler: nullable(string),
    count: integer,
  },
  { kind: "condition" },
);

/** Conditions that were signalled in a call. */
export interface RecordedCondition extends Decoded<typeof condition> {}

const thread = plist({
  name: from("thread", string),
  /** Swank's id. */
  id: integer,
  /** True for the thread that ran the code. */
  isOwn: from("own", boolean),
  rows: list<RecordedCall | RecordedCondition>(tagged({ call, condition })),
  /** Number of rows that were left out. */
  omitted: from("left", integer),
});

/** The calls of one thread, each before what it called. */
export interface RecordedThread extends Decoded<typeof thread> {}

/** Decodes the plist of `trace-facts` (lisp/observe/trace.lisp). */
export const traceData = plist({
  end: keywordOf(RUN_ENDS),
  /** Number of calls that were made. */
  calls: integer,
  /** Number of calls after which the trace ends. */
  limit: integer,
  /** Microseconds for which it was on. */
  duration: from("microseconds", integer),
  /** Microseconds that recording has taken in the threads that made the calls. */
  looking: integer,
  /** Microseconds that switching it on and off has taken. */
  switching: integer,
  /** The error in the condition that ended it. */
  failure: nullable(string),
  /** The first values of the code, printed. */
  values: list(string),
  threads: list<RecordedThread>(thread),
});

/** The calls of traced functions. */
export interface Trace extends Decoded<typeof traceData> {}

/** Milliseconds that the image has to find the functions of a package, or to print what a trace has recorded. */
const TRACE_TIME = 30_000;

const prepared = record({
  /** Number of functions and methods that are traced. */
  count: integer,
  /** Sentences that say which calls are not recorded, because the compiler has replaced them. */
  missed: list(string),
});

/** Finds what to trace (lisp/observe/trace.lisp). */
const prepareTrace = lispFunction({
  name: "prepare-trace",
  module: "observe",
  encode: (key: number, options: TraceOptions) => {
    const { functions = [], package: packageName, condition, threads = [], limit = USUAL_CALLS } = options;
    return forms(key, quote(functions), packageName, condition, quote(threads), limit);
  },
  decode: tagged({ ready: prepared }),
  refusals: { refused: () => unwatchable },
  timeout: TRACE_TIME,
  label: () => "preparing a trace",
});

/** Decodes the value of `trace-code` and `trace-seconds`. */
const traceReply = tagged({ trace: traceData });

/** What the trace with a number has recorded (lisp/observe/trace.lisp). */
const traceProgress = lispFunction({
  name: "trace-progress",
  module: "observe",
  encode: (key: number) => [key],
  decode: tagged({ trace: traceData, unknown: nothing(() => undefined) }),
  timeout: TRACE_TIME,
  label: () => "asking for the trace",
});

/** What is known of a trace before its code runs. */
type Prepared = Decoded<typeof prepared>;

/** Code that traces. */
export interface TraceCode extends RunCode<Trace>, Prepared {}

/** The calls of traced functions, and which calls are not recorded. */
export interface CompleteTrace extends Trace, Prepared {}

/** The same, with a result that says which calls are not recorded. */
export async function completeTraceCode(
  lisp: LispRunner,
  source: TraceSource,
  options: TraceOptions,
): Promise<RunCode<CompleteTrace>> {
  const { count, missed, code, result, progress } = await traceCode(lisp, source, options);
  const complete = (trace: Trace): CompleteTrace => ({ ...trace, count, missed });
  return {
    code,
    result: (value) => complete(result(value)),
    async progress(limits) {
      const trace = await progress(limits);
      return trace && complete(trace);
    },
  };
}

/** Finds what to trace, and returns code that traces it. */
export async function traceCode(lisp: LispRunner, source: TraceSource, options: TraceOptions): Promise<TraceCode> {
  checkOptions("traceCalls", options, traceOptions);
  const { functions = [], package: packageName, signal } = options;
  if (functions.length === 0 && packageName === undefined) {
    throw new SwankError("INVALID_ARGUMENT", "Nothing is named to be traced.", {
      remedy: "Name functions, or the package whose functions are traced.",
    });
  }
  const [operator, operand] = callOf(source);
  const key = newKey();
  const known = await lisp.with({ signal }).run(prepareTrace, key, options);
  return {
    ...known,
    code: `(${await lisp.loadedOperator(operator, "observe", signal)} ${key} ${print(operand)})`,
    result: (value) => traceReply(read(value)),
    progress: (limits = {}) => lisp.with({ signal: limits.signal }).run(traceProgress, key),
  };
}

function callOf(source: TraceSource): readonly [operator: string, operand: string | number] {
  if ("seconds" in source) return ["trace-seconds", millisecondsOf(source.seconds)];
  checkBalanced("code", source.code);
  return ["trace-code", source.code];
}
