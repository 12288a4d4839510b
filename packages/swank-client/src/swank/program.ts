import { type Decoded, decode, keyword, list as listForm, NIL, quote, symbol, T } from "sexp-parser";
import { connectionInfo } from "../handshake/handshake.js";
import { lispFunction } from "../runtime/function.js";
import { ownCode } from "../wire/sent.js";
import { call, callsWith, nothing, oneNumber, oneText } from "./call.js";
import { compilation } from "./code.js";
import { inspection } from "./inspector.js";

const { any, integer, list, map, nullable, record, string, tupleRest, boolean, oneOf, symbolName, real } = decode;

const threadInfo = record({
  /** Absent while a thread starts or ends if Swank uses the system's thread ids (since 2.30). SBCL 2.5 gives 0 instead of none. */
  id: map(nullable(integer), (number) => number || undefined),
  name: string,
  /** E.g. `Running`. */
  status: string,
});

/** A thread of the image. */
export interface ThreadInfo extends Decoded<typeof threadInfo> {}

/** The first row holds the column names. More columns may follow the first three, which are always present. */
const threads = map(tupleRest([any], list<ThreadInfo>(threadInfo)), ([, rows]) => rows);

/**
 * `(swank:list-threads)`: the image's threads, without the one that lists them. Replaces, for all clients, the list whose positions
 * `debug-nth-thread` and `kill-nth-thread` take.
 */
export const listThreads = lispFunction({ name: "swank:list-threads", decode: threads });

/**
 * The same, without replacing the list on which an Emacs's thread browser acts by position: `k` there could end another thread.
 * (swank.lisp, `*thread-list*`)
 */
export const threadsOfImage = lispFunction({
  name: "cl:let",
  encode: () => [listForm(listForm(symbol("swank::*thread-list*"))), listForm(symbol("swank:list-threads"))],
  decode: threads,
  label: () => "swank:list-threads",
});

const names = list(oneOf(string, symbolName));

const ofPackageFu = callsWith({ contrib: "swank-package-fu" });

const inPackage = (name: string, packageName: string) => [name, packageName];

/** Packages. */
export const packages = {
  /** `(swank:list-all-package-names NICKNAMES)`: the names of all packages. */
  listAllPackageNames: call("swank:list-all-package-names", list(string), (nicknames: boolean = false) => [
    nicknames ? T : NIL,
  ]),
  /** `(swank:swank-delete-package "NAME")`: deletes a package. It is an error if there is none. */
  swankDeletePackage: call("swank:swank-delete-package", nothing, oneText),
  /** `(swank:export-symbol-for-emacs "SYMBOL" "PACKAGE")`: exports a symbol. */
  exportSymbolForEmacs: ofPackageFu("swank:export-symbol-for-emacs", boolean, inPackage),
  /** `(swank:unexport-symbol-for-emacs "SYMBOL" "PACKAGE")`: exports a symbol no longer. */
  unexportSymbolForEmacs: ofPackageFu("swank:unexport-symbol-for-emacs", boolean, inPackage),
  /** `(swank:export-structure "NAME" "PACKAGE")`: exports a structure with its constructors, accessors and predicate. => the symbols */
  exportStructure: ofPackageFu("swank:export-structure", names, inPackage),
};

const ofAsdf = callsWith({
  contrib: "swank-asdf",
  instead: "`client.code.loadSystem` loads systems, and evaluated code can call ASDF.",
});

/** ASDF's and Quicklisp's systems. */
export const systems = {
  /** `(swank:list-asdf-systems)`: the systems that ASDF can find or has loaded. */
  listAsdfSystems: ofAsdf("swank:list-asdf-systems", list(string)),
  /** `(swank:list-all-systems-in-central-registry)`: the systems in the folders where ASDF looks, loaded or not. */
  listAllSystemsInCentralRegistry: ofAsdf("swank:list-all-systems-in-central-registry", list(string)),
  /** `(swank:operate-on-system-for-emacs "SYSTEM" 'OPERATION)`: `asdf:load-op`, `asdf:compile-op` or `asdf:test-op`, with the compiler's notes. */
  operateOnSystemForEmacs: ofAsdf(
    "swank:operate-on-system-for-emacs",
    compilation,
    (name: string, operation: string = "asdf:load-op") => [name, quote(symbol(operation))],
  ),
  /** `(swank:reload-system "SYSTEM")`: loads a system's own files again. */
  reloadSystem: ofAsdf("swank:reload-system", compilation, oneText),
  /** `(swank:asdf-system-files "SYSTEM")`: the paths of its source files. */
  asdfSystemFiles: ofAsdf("swank:asdf-system-files", names, oneText),
  /** `(swank:asdf-system-loaded-p "SYSTEM")`: whether ASDF has loaded it. */
  asdfSystemLoadedP: ofAsdf("swank:asdf-system-loaded-p", boolean, oneText),
  /** `(swank:asdf-system-directory "SYSTEM")`: its folder. */
  asdfSystemDirectory: ofAsdf("swank:asdf-system-directory", string, oneText),
  /** `(swank:asdf-determine-system "FILE" "PACKAGE")`: the system of a file or of a package; `undefined` if none is known. */
  asdfDetermineSystem: ofAsdf(
    "swank:asdf-determine-system",
    nullable(string),
    (file: string | undefined, packageName: string) => [file ?? NIL, packageName],
  ),
  /** `(swank:who-depends-on "SYSTEM")`: the systems that need it. */
  whoDependsOn: ofAsdf("swank:who-depends-on", list(string), oneText),
  /** `(swank:delete-system-fasls "SYSTEM")`: deletes its compiled files. => a sentence */
  deleteSystemFasls: ofAsdf("swank:delete-system-fasls", string, oneText),
  /** `(swank:list-quicklisp-systems)`: the systems that Quicklisp offers; an error where it is not loaded. */
  listQuicklispSystems: callsWith({ contrib: "swank-quicklisp", instead: "Evaluate (ql:system-list)." })(
    "swank:list-quicklisp-systems",
    list(string),
  ),
};

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

const ofSprof = callsWith({ contrib: "swank-sprof", instead: "`client.program.profile` profiles code." });

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

const ofDialog = callsWith({
  contrib: "swank-trace-dialog",
  instead: "`client.program.traceCalls` records calls.",
});

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

/** Fields up to and including the program's name. The name, in parentheses, may contain any character; see proc(5). */
const FIELDS_BEFORE = 2;

const START_FIELD = 22;

const PROCESS_STATE = ownCode(
  '(cl:ignore-errors (cl:with-open-file (stream "/proc/self/stat" :external-format :latin-1) (cl:read-line stream)))',
);

const startField = (line: string | undefined) =>
  line
    ?.slice(line.lastIndexOf(")") + 2)
    .split(" ")
    .at(START_FIELD - FIELDS_BEFORE - 1);

/** The image and its process. */
export const image = {
  connectionInfo,
  listThreads,
  /** `(swank:list-threads)` without replacing the list on which an Emacs's thread browser acts. */
  threads: threadsOfImage,
  /**
   * When the image's process started, in the system's clock ticks; `undefined` if the system does not say. Together with the process id it
   * identifies an image: images in different containers can have the same process id.
   */
  processStart: lispFunction({
    name: "cl:identity",
    label: () => "the start of the image's process",
    encode: () => [PROCESS_STATE],
    decode: map(nullable(string), startField),
  }),
  /**
   * `(swank:default-directory)`: the image's current directory, with a slash at the end; or, if it does not exist, the value of
   * `*default-pathname-defaults*`.
   */
  defaultDirectory: lispFunction({
    name: "cl:or",
    label: () => "swank:default-directory",
    encode: () => [
      listForm(symbol("cl:ignore-errors"), listForm(symbol("swank:default-directory"))),
      listForm(symbol("cl:namestring"), symbol("cl:*default-pathname-defaults*")),
    ],
    decode: string,
  }),
  /** `(swank:set-default-directory "FOLDER/")`: changes the image's current folder, for all clients. => the folder */
  setDefaultDirectory: call("swank:set-default-directory", string, oneText),
  /** `(swank:quit-lisp)`: ends the image. The reply is `:abort`, or none. */
  quitLisp: lispFunction({ name: "swank:quit-lisp", decode: nothing, unwound: nothing }),
  /** `(swank:update-indentation-information)`: has Swank send the indentation of all macros again, as `:indentation-update` events. */
  updateIndentationInformation: call("swank:update-indentation-information", nothing),
};
