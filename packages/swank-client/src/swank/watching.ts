import { type Decoded, decode, keyword, NIL, quote, symbol, T } from "sexp-parser";
import { call, callsWith, nothing, oneNumber, oneText } from "./call.js";
import { inspection } from "./inspecting.js";

const { any, integer, list, map, nullable, oneOf, real, record, string, symbolName } = decode;

/** What else to profile of a package. */
export interface PackageProfile {
  /** Count the callers of each function, too. */
  readonly callers?: boolean;
  /** Profile the methods of generic functions, too. */
  readonly methods?: boolean;
}

const percent = nullable(oneOf(real, map(string, Number)));

const sampledFunction = record({
  /** For `swankSprofDisassemble`; `undefined` for the row of everything else. */
  index: nullable(integer),
  name: oneOf(string, symbolName),
  /** Percent of the samples in it, in it and what it calls, and in the rows up to this one. */
  self: percent,
  total: percent,
  cumulated: percent,
});

/** A function that the profiler found running. */
export interface SampledFunction extends Decoded<typeof sampledFunction> {}

const ofSprof = callsWith({ contrib: "swank-sprof" });

/** Profiling: counting and timing calls, and SBCL's statistical profiler. */
export const profiling = {
  /** `(swank:toggle-profile-fdefinition "NAME")`: counts and times calls of a function, or no longer. => a sentence */
  toggleProfileFdefinition: call("swank:toggle-profile-fdefinition", string, oneText),
  /** `(swank:profile-by-substring "TEXT" "PACKAGE")`: profiles all functions whose name contains the text. => a sentence */
  profileBySubstring: call(
    "swank:profile-by-substring",
    oneOf(string, () => ""),
    (text: string, packageName?: string) => [text, packageName ?? NIL],
  ),
  /** `(swank:swank-profile-package "PACKAGE" CALLERS METHODS)`: profiles all functions of a package. */
  swankProfilePackage: call(
    "swank:swank-profile-package",
    nothing,
    (packageName: string, { callers = false, methods = false }: PackageProfile = {}) => [
      packageName,
      callers ? T : NIL,
      methods ? T : NIL,
    ],
  ),
  /** `(swank:profile-report)`: writes the table of the profiled functions to the connection's output. */
  profileReport: call("swank:profile-report", nothing),
  /** `(swank:profile-reset)`: sets all counts and times to zero. */
  profileReset: call("swank:profile-reset", nothing),
  /** `(swank:unprofile-all)`: profiles nothing any more. */
  unprofileAll: call("swank:unprofile-all", nothing),
  /** `(swank:profiled-functions)`: the names of the profiled functions. */
  profiledFunctions: call("swank:profiled-functions", list(oneOf(string, symbolName))),
  /** `(swank:swank-sprof-start :mode :MODE)`: starts SBCL's statistical profiler for all threads. */
  swankSprofStart: ofSprof("swank:swank-sprof-start", nothing, (mode: "cpu" | "alloc" | "time" = "cpu") => [
    keyword("mode"),
    keyword(mode),
  ]),
  /** `(swank:swank-sprof-stop)`: stops the profiler, and keeps what it has sampled. */
  swankSprofStop: ofSprof("swank:swank-sprof-stop", nothing),
  /**
   * `(swank:swank-sprof-get-call-graph :exclude-swank T :sort 'cumul)`: the sampled functions, by the samples in each and what it calls, the
   * most frequent first. Other orders exist only since 2.31.
   */
  swankSprofGetCallGraph: ofSprof(
    "swank:swank-sprof-get-call-graph",
    list<SampledFunction>(sampledFunction),
    (excludeSwank: boolean = true) => [
      keyword("exclude-swank"),
      excludeSwank ? T : NIL,
      // Since 2.31 the order is required; before, the argument is unknown.
      keyword("sort"),
      quote(symbol("swank-io-package::cumul")),
      keyword("allow-other-keys"),
      T,
    ],
  ),
  /** `(swank:swank-sprof-disassemble INDEX)`: the machine code of a sampled function. */
  swankSprofDisassemble: ofSprof("swank:swank-sprof-disassemble", string, oneNumber),
};

const tracedValue = record({
  /** Its position, for `inspectTracePart`. */
  position: integer,
  text: string,
});

/** An argument or a value of a recorded call. */
export interface TracedValue extends Decoded<typeof tracedValue> {}

const tracedCall = record({
  id: integer,
  /** The recorded call that made this one; `undefined` for an outermost one. */
  parent: nullable(integer),
  /** The function, as Lisp data. */
  spec: any,
  args: list<TracedValue>(tracedValue),
  /** Empty while the call runs, and for a call that did not return. */
  values: list<TracedValue>(tracedValue),
});

/** A recorded call. */
export interface TracedCall extends Decoded<typeof tracedCall> {}

const traceReport = record({
  /** In the order of their beginning. */
  calls: list<TracedCall>(tracedCall),
  /** How many further calls there are; call again with the same key. */
  remaining: integer,
});

/** Recorded calls. */
export interface TraceReport extends Decoded<typeof traceReport> {}

const ofDialog = callsWith({ contrib: "swank-trace-dialog" });

/** Tracing, to `*trace-output*`, and for the trace dialog, which records calls. */
export const tracing = {
  /** `(swank:swank-toggle-trace "SPEC")`: traces a function, or no longer. => a sentence. The trace goes to `*trace-output*`. */
  swankToggleTrace: call("swank:swank-toggle-trace", string, oneText),
  /** `(swank:untrace-all)`: traces nothing any more. */
  untraceAll: call("swank:untrace-all", nothing),
  /** `(swank-trace-dialog:dialog-toggle-trace 'NAME)`: records calls of a function, or no longer. => a sentence */
  dialogToggleTrace: ofDialog("swank-trace-dialog:dialog-toggle-trace", string, (name: string) => [
    [symbol("swank::from-string"), name],
  ]),
  /** `(swank-trace-dialog:dialog-untrace-all)`: records no calls any more. */
  dialogUntraceAll: ofDialog("swank-trace-dialog:dialog-untrace-all", nothing),
  /** `(swank-trace-dialog:report-specs)`: the functions whose calls are recorded, as Lisp data. */
  reportSpecs: ofDialog("swank-trace-dialog:report-specs", list(any)),
  /** `(swank-trace-dialog:report-total)`: the number of recorded calls. */
  reportTotal: ofDialog("swank-trace-dialog:report-total", integer),
  /** `(swank-trace-dialog:clear-trace-tree)`: forgets the recorded calls. */
  clearTraceTree: ofDialog("swank-trace-dialog:clear-trace-tree", nothing),
  /** `(swank-trace-dialog:report-partial-tree 'KEY)`: the next calls that this key has not seen yet. */
  reportPartialTree: ofDialog<[key: string], TraceReport>(
    "swank-trace-dialog:report-partial-tree",
    traceReport,
    (key) => [quote(symbol(key))],
  ),
  /** `(swank-trace-dialog:report-trace-detail ID)`: one recorded call; `undefined` if there is none with this id. */
  reportTraceDetail: ofDialog("swank-trace-dialog:report-trace-detail", nullable<TracedCall>(tracedCall), oneNumber),
  /** `(swank-trace-dialog:inspect-trace-part ID POSITION :KIND)`: inspects an argument or a value of a recorded call. */
  inspectTracePart: ofDialog(
    "swank-trace-dialog:inspect-trace-part",
    inspection,
    (id: number, position: number, kind: "arg" | "retval") => [id, position, keyword(kind)],
  ),
};
