import { decode, keyword, NIL, quote, type Sexp, symbol, T } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

const { any, list, map, nullable, oneOf, real, string, symbolName } = decode;

const names = map(nullable(list(oneOf(string, symbolName))), (found): readonly string[] => found ?? []);

/** `(swank:toggle-profile-fdefinition "NAME")`: counts and times calls of a function, or no longer. => a sentence */
export const toggleProfileFdefinition = lispFunction({
  name: "swank:toggle-profile-fdefinition",
  encode: (name: string) => [name],
  decode: string,
});

/** `(swank:profile-by-substring "TEXT" "PACKAGE")`: profiles all functions whose name contains the text. => a sentence */
export const profileBySubstring = lispFunction({
  name: "swank:profile-by-substring",
  encode: (text: string, packageName?: string): readonly Sexp[] => [text, packageName ?? NIL],
  decode: oneOf(string, () => ""),
});

/** What else to profile of a package. */
export interface PackageProfile {
  /** Count the callers of each function, too. */
  readonly callers?: boolean;
  /** Profile the methods of generic functions, too. */
  readonly methods?: boolean;
}

/** `(swank:swank-profile-package "PACKAGE" CALLERS METHODS)`: profiles all functions of a package. */
export const swankProfilePackage = lispFunction({
  name: "swank:swank-profile-package",
  encode: (packageName: string, { callers = false, methods = false }: PackageProfile = {}): readonly Sexp[] => [
    packageName,
    callers ? T : NIL,
    methods ? T : NIL,
  ],
  decode: () => undefined,
});

/** `(swank:profile-report)`: writes the table of the profiled functions to the connection's output. */
export const profileReport = lispFunction({ name: "swank:profile-report", decode: () => undefined });

/** `(swank:profile-reset)`: sets all counts and times to zero. */
export const profileReset = lispFunction({ name: "swank:profile-reset", decode: () => undefined });

/** `(swank:unprofile-all)`: profiles nothing any more. */
export const unprofileAll = lispFunction({ name: "swank:unprofile-all", decode: () => undefined });

/** `(swank:profiled-functions)`: the names of the profiled functions. */
export const profiledFunctions = lispFunction({ name: "swank:profiled-functions", decode: names });

const SPROF = { contrib: "swank-sprof" } as const;

/** `(swank:swank-sprof-start :mode :MODE)`: starts SBCL's statistical profiler for all threads. */
export const swankSprofStart = lispFunction({
  ...SPROF,
  name: "swank:swank-sprof-start",
  encode: (mode: "cpu" | "alloc" | "time" = "cpu") => [keyword("mode"), keyword(mode)],
  decode: () => undefined,
});

/** `(swank:swank-sprof-stop)`: stops the profiler, and keeps what it has sampled. */
export const swankSprofStop = lispFunction({ ...SPROF, name: "swank:swank-sprof-stop", decode: () => undefined });

/** A function that the profiler found running. */
export interface SampledFunction {
  /** For `swankSprofDisassemble`; `undefined` for the row of everything else. */
  readonly index: number | undefined;
  readonly name: string;
  /** Percent of the samples in it, in it and what it calls, and in the rows up to this one. */
  readonly self: number | undefined;
  readonly total: number | undefined;
  readonly cumulated: number | undefined;
}

const percent = nullable(oneOf(real, map(string, Number)));

const sampled = map(
  decode.tupleRest([nullable(decode.integer), oneOf(string, symbolName), percent, percent, percent], any),
  ([index, name, self, total, cumulated]): SampledFunction => ({ index, name, self, total, cumulated }),
);

/**
 * `(swank:swank-sprof-get-call-graph :exclude-swank T :sort 'cumul)`: the sampled functions, by the samples in each and what it calls, the
 * most frequent first. Other orders exist only since 2.31.
 */
export const swankSprofGetCallGraph = lispFunction({
  ...SPROF,
  name: "swank:swank-sprof-get-call-graph",
  encode: (excludeSwank: boolean = true) => [
    keyword("exclude-swank"),
    excludeSwank ? T : NIL,
    // Since 2.31 the order is required; before, the argument is unknown.
    keyword("sort"),
    quote(symbol("swank-io-package::cumul")),
    keyword("allow-other-keys"),
    T,
  ],
  decode: map(nullable(list(sampled)), (rows): readonly SampledFunction[] => rows ?? []),
});

/** `(swank:swank-sprof-disassemble INDEX)`: the machine code of a sampled function. */
export const swankSprofDisassemble = lispFunction({
  ...SPROF,
  name: "swank:swank-sprof-disassemble",
  encode: (index: number) => [index],
  decode: string,
});
