import { type Decoded, type Decoder, decode, keyword, print, quote, read } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, checkOptions, type OptionsOf } from "../base/options.js";
import { type RunCode, taskOptions } from "../evaluation/work.js";
import { forms, keywordOf, lispFunction, nothing } from "../runtime/function.js";
import type { LispRunner } from "../runtime/runner.js";
import { checkBalanced } from "../source-text/balance.js";

const { boolean, integer, list, map, nullable, optional, plist, record, string, tagged, tuple } = decode;

/**
 * What a profile counts.
 *
 * - `cpu`: where the processor time is spent, by samples every 4 ms of it.
 * - `alloc`: where memory is allocated, by samples each time that a thread needs a new region of the heap.
 * - `calls`: how often functions and methods are called, exactly, and how long their calls take.
 */
export const PROFILE_MODES = ["cpu", "alloc", "calls"] as const;

const profileOptions = {
  ...taskOptions,
  /** Default: `cpu`. */
  mode: check.choice(PROFILE_MODES),
  /**
   * Name of the package whose functions count. Functions that they call count as part of them. In mode `calls`, all functions of the package
   * are counted, at most 2,000. Default: all functions; none in mode `calls`.
   */
  package: check.text,
  /** In mode `calls`: functions and methods to count, named as in {@link TraceOptions}. Default: none. */
  functions: check.texts,
  /** Also return the tree of calls, `stacks`. Not in mode `calls`. Default: false. */
  stacks: check.flag,
};

/** How to profile. */
export interface ProfileOptions extends OptionsOf<typeof profileOptions> {}

/** What to profile: code, or all threads except the one that waits, for some seconds, at most 3600. */
export type ProfileSource =
  | {
      readonly code: string;
      /** Code to compare with: both then run 3 to 15 times more, in turn. Default: none. */
      readonly against?: string | undefined;
    }
  | { readonly seconds: number };

/**
 * How a run has ended.
 *
 * - `returned`: the code has returned, or the seconds have passed.
 * - `unwound`: the code was left without a value.
 * - `stopped`: the code stopped in the debugger.
 * - `departed`: the client has disconnected, or the session was reset.
 * - `limit`: the limit was reached.
 * - `failed`: the condition signalled an error.
 * - `open`: it has not ended.
 */
export const RUN_ENDS = ["returned", "unwound", "stopped", "departed", "limit", "failed", "open"] as const;

/** `(REAL RUN GC BYTES)` */
const cost = record({
  /** Microseconds that have passed. */
  real: integer,
  /** Microseconds of processor time, of all threads of the image. */
  run: integer,
  /** Microseconds of garbage collections. */
  gc: integer,
  /** Bytes that all threads have allocated. */
  bytes: integer,
});

/** What code has cost. */
export interface Cost extends Decoded<typeof cost> {}

const profiledFunction = plist({
  name: string,
  /** Number of its calls. Only in mode `calls`. */
  calls: optional(integer),
  /**
   * Samples in which it was the innermost function, or the innermost one of the package that was asked for. In mode `calls`, the microseconds
   * of its finished calls without the counted calls that these made.
   */
  self: integer,
  /** Samples in which it was on the stack. In mode `calls`, the microseconds of its finished calls; those inside other calls of it add none. */
  cumulative: integer,
  /** Place of its definition; the file is relative to the image's directory if it is below that. Absent for functions of Lisp. */
  file: optional(string),
  line: optional(integer),
});

/** A function in a profile. */
export interface ProfiledFunction extends Decoded<typeof profiledFunction> {}

const stackNode = record({
  /** The number of its callers in the tree. Those that it called follow it, one level deeper. */
  depth: integer,
  name: string,
  /** Samples in which it was on the stack below these callers. A function that calls itself appears once. */
  samples: integer,
  /** Those in which it was the innermost function. */
  self: integer,
});

/** A function below certain callers. */
export interface StackNode extends Decoded<typeof stackNode> {}

/** `(ROWS LEFT)` */
const callTree = record({
  /** At most 500, those with the most samples; each before those that it called. */
  nodes: list<StackNode>(stackNode),
  /** Number of nodes that are left out. */
  omitted: integer,
});

/** The stacks of all samples as a tree of calls. */
export interface CallTree extends Decoded<typeof callTree> {}

/** `(FUNCTIONS CALLED MICROSECONDS (SENTENCE ...))` */
const counts = record({
  /** Number of functions and methods whose calls were counted. */
  functions: integer,
  /** Number of those that were called. */
  called: integer,
  /** Microseconds that counting has taken in the threads, estimated from what it takes for a function that does nothing. */
  looking: integer,
  /** Sentences that say which calls are not counted, because the compiler has replaced them. */
  missed: list(string),
});

/** What counting calls has found besides the functions. */
export interface CountedCalls extends Decoded<typeof counts> {}

/** Decodes the plist of `profile-facts` (lisp/observe/profile.lisp). */
export const profileData = plist({
  mode: keywordOf(PROFILE_MODES),
  end: keywordOf(RUN_ENDS),
  /** Number of samples of the wanted threads: that of the code and those that have begun since, or all. In mode `calls`, of counted calls. */
  samples: integer,
  /** Those in no function that counts. */
  outside: integer,
  /** Samples of other threads, by name. */
  elsewhere: list(record({ thread: string, samples: integer })),
  /** At most 20, those with the most samples of their own first, or in mode `calls` with the most calls. */
  functions: list<ProfiledFunction>(profiledFunction),
  /** The calls that most samples went through, outermost first. */
  path: list(record({ name: string, samples: integer })),
  /** The tree of calls, if `stacks` was wanted. */
  stacks: nullable<CallTree>(callTree),
  /** What the profiled time has cost. */
  cost,
  /** Microseconds that switching the profiler on and off has taken. */
  looking: integer,
  /** Microseconds of processor time between two samples; 0 in mode `calls`. */
  interval: integer,
  /** True if the limit of 20,000 samples was reached. */
  full: boolean,
  /** True if the program has started the profiler itself, so that the samples are lost. */
  replaced: boolean,
  /** What mode `calls` alone tells. */
  counts: nullable<CountedCalls>(counts),
  /** The first values of the code, printed. */
  values: list(string),
  /** The medians of the code and of the other code, which have run in turn without the profiler. */
  comparison: nullable(record({ rounds: integer, code: cost, against: cost })),
});

/** Where code, or the whole program, spends its time or allocates its memory. */
export interface Profile extends Decoded<typeof profileData> {}

/** Milliseconds that the image has to load the profiler, or to find the names and places of functions. */
const PROFILE_TIME = 30_000;

function busy(): SwankError {
  return new SwankError("WATCH_REFUSED", "The statistical profiler of SBCL is running already.", {
    remedy: "Wait until that profile ends. If the program started it, (sb-sprof:stop-profiling) ends it.",
  });
}

function samples(): SwankError {
  return new SwankError(
    "WATCH_REFUSED",
    "SBCL's statistical profiler has samples of the program, which a profile would replace.",
    { remedy: "Look at them with (sb-sprof:report), then let them go with (sb-sprof:reset)." },
  );
}

const REMEDIES = {
  name: "Write a name as code does: my-app:process, (setf name) or (method name (class)).",
  undefined: "Define the function first, or write its package, as in my-app:process.",
  macro: "Name a function that its expansion calls.",
  "used-by-lisp": "Name a function of the program that calls it.",
  package: "Name a package of the program, or single functions.",
  code: "Correct the condition: it must compile, as (> (first args) 3) does. args is the argument list.",
  thread: "List the threads.",
} as const;

const REFUSED_KINDS = [
  "name",
  "undefined",
  "macro",
  "used-by-lisp",
  "package",
  "code",
  "thread",
] as const satisfies (keyof typeof REMEDIES)[];

function alike(similar: readonly string[]): string {
  return similar.length === 0 ? "" : ` Similar: ${similar.join(", ")}.`;
}

/** Decodes the refusal of a function or package whose calls cannot be recorded or counted: `(NAME REASON KIND (SIMILAR ...))`. */
export const unwatchable = map(
  tuple(string, string, keywordOf(REFUSED_KINDS), list(string)),
  ([name, reason, kind, similar]) =>
    new SwankError("WATCH_REFUSED", `${name}: ${reason}${alike(similar)}`, { remedy: REMEDIES[kind] }),
);

/** Loads what profiling needs, or finds the functions whose calls are counted (lisp/observe/profile.lisp). */
const prepareProfile = lispFunction({
  name: "prepare-profile",
  module: "observe",
  encode: (key: number, { mode = "cpu", package: packageName, functions = [] }: ProfileOptions) =>
    forms(key, keyword(mode), packageName, quote(functions)),
  decode: tagged({ ready: nothing(() => undefined) }),
  refusals: {
    missing: () =>
      map(
        tuple(string),
        ([what]) => new SwankError("WATCH_REFUSED", `This SBCL lacks ${what}.`, { remedy: "Install SBCL's contribs." }),
      ),
    busy: () => nothing(busy),
    samples: () => nothing(samples),
    refused: () => unwatchable,
    "no-package": () =>
      map(
        tuple(string, list(string)),
        ([name, similar]) => new SwankError("NO_SUCH_PACKAGE", `There is no package ${name}.${alike(similar)}`),
      ),
  },
  timeout: PROFILE_TIME,
  label: () => "loading the profiler",
});

/** Decodes the value of `profile-code` and `profile-seconds`. The error is `WATCH_REFUSED`. */
const profileReply: Decoder<Profile | SwankError> = tagged({
  profile: profileData,
  busy: nothing(busy),
  samples: nothing(samples),
});

const unfinished = nothing(() => undefined);

/** What the profile with a number has found (lisp/observe/profile.lisp). */
const profileProgress = lispFunction({
  name: "profile-progress",
  module: "observe",
  encode: (key: number) => [key],
  decode: tagged({ profile: profileData, unknown: unfinished, busy: unfinished, samples: unfinished }),
  timeout: PROFILE_TIME,
  label: () => "asking for the profile",
});

/** The number of code that was made last. Each run is asked for with its own number. */
let lastKey = 0;

/** A number for new code. */
export function newKey(): number {
  lastKey += 1;
  return lastKey;
}

/** Loads what profiles, and returns code that profiles. */
export async function profileCode(
  lisp: LispRunner,
  source: ProfileSource,
  options: ProfileOptions,
): Promise<RunCode<Profile>> {
  checkOptions("profile", options, profileOptions);
  checkCounted(options);
  const { mode = "cpu", package: packageName, stacks = false, signal } = options;
  const [operator, operands] = callOf(source);
  const key = newKey();
  await lisp.with({ signal }).run(prepareProfile, key, options);
  const what = [key, keyword(mode), packageName ?? [], stacks ? keyword("stacks") : [], ...operands]
    .map((item) => print(item))
    .join(" ");
  return {
    code: `(${await lisp.loadedOperator(operator, "observe", signal)} ${what})`,
    result(value) {
      const reply = profileReply(read(value));
      if (reply instanceof SwankError) throw reply;
      return reply;
    },
    progress: (limits = {}) => lisp.with({ signal: limits.signal }).run(profileProgress, key),
  };
}

function checkCounted({ mode, package: packageName, functions = [], stacks = false }: ProfileOptions): void {
  const isCounted = functions.length > 0 || packageName !== undefined;
  if (mode === "calls" && !isCounted) {
    throw new SwankError("INVALID_ARGUMENT", "Nothing is named whose calls are counted.", {
      remedy: "Name functions, or the package whose functions are counted.",
    });
  }
  if (mode === "calls" && stacks) {
    throw new SwankError("INVALID_ARGUMENT", "The mode calls has no stacks.", {
      remedy: 'Leave out stacks, or set the mode to "cpu" or "alloc".',
    });
  }
  if (mode !== "calls" && functions.length > 0) {
    throw new SwankError("INVALID_ARGUMENT", "Only the mode calls takes functions.", {
      remedy: 'Set the mode to "calls", or name a package whose functions count.',
    });
  }
}

function callOf(source: ProfileSource): readonly [operator: string, operands: readonly (string | number | [])[]] {
  if ("seconds" in source) return ["profile-seconds", [millisecondsOf(source.seconds)]];
  const { code, against } = source;
  checkBalanced("code", code);
  if (against !== undefined) checkBalanced("against", against);
  return ["profile-code", [code, against ?? []]];
}

/** Most seconds for which the whole program is watched. */
const MOST_SECONDS = 3600;

const checkSeconds = check.number(
  `a number of seconds, at most ${MOST_SECONDS}`,
  (seconds) => seconds > 0 && seconds <= MOST_SECONDS,
);

/**
 * The time to watch the whole program, in milliseconds.
 *
 * @throws SwankError `INVALID_ARGUMENT`
 */
export function millisecondsOf(seconds: number): number {
  return Math.ceil(checkSeconds("seconds", seconds) * 1000);
}
