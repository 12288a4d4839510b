import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";

/**
 * What a profile counts.
 *
 * - `cpu`: where the processor time is spent, by samples every 4 ms of it.
 * - `alloc`: where memory is allocated, by samples each time that a thread needs a new region of the heap.
 * - `calls`: how often functions and methods are called, exactly, and how long their calls take.
 */
export const PROFILE_MODES = ["cpu", "alloc", "calls"] as const;

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

/** What code has cost. */
export interface Cost {
  /** Microseconds that have passed. */
  readonly real: number;
  /** Microseconds of processor time, of all threads of the image. */
  readonly run: number;
  /** Microseconds of garbage collections. */
  readonly gc: number;
  /** Bytes that all threads have allocated. */
  readonly bytes: number;
}

/** A function in a profile. */
export interface ProfiledFunction {
  readonly name: string;
  /** Number of its calls. Only in mode `calls`. */
  readonly calls?: number | undefined;
  /**
   * Samples in which it was the innermost function, or the innermost one of the package that was asked for. In mode `calls`, the microseconds
   * of its finished calls without the counted calls that these made.
   */
  readonly self: number;
  /** Samples in which it was on the stack. In mode `calls`, the microseconds of its finished calls; those inside other calls of it add none. */
  readonly cumulative: number;
  /** Place of its definition; the file is relative to the image's directory if it is below that. Absent for functions of Lisp. */
  readonly file?: string | undefined;
  readonly line?: number | undefined;
}

/** What counting calls has found besides the functions. */
export interface CountedCalls {
  /** Number of functions and methods whose calls were counted. */
  readonly functions: number;
  /** Number of those that were called. */
  readonly called: number;
  /** Microseconds that counting has taken in the threads, estimated from what it takes for a function that does nothing. */
  readonly looking: number;
  /** Sentences that say which calls are not counted, because the compiler has replaced them. */
  readonly missed: readonly string[];
}

/** Where code, or the whole program, spends its time or allocates its memory. */
export interface Profile {
  readonly mode: (typeof PROFILE_MODES)[number];
  readonly end: (typeof RUN_ENDS)[number];
  /** Number of samples of the wanted threads: that of the code and those that have begun since, or all. In mode `calls`, of counted calls. */
  readonly samples: number;
  /** Those in no function that counts. */
  readonly outside: number;
  /** Samples of other threads, by name. */
  readonly elsewhere: readonly { readonly thread: string; readonly samples: number }[];
  /** At most 20, those with the most samples of their own first, or in mode `calls` with the most calls. */
  readonly functions: readonly ProfiledFunction[];
  /** The calls that most samples went through, outermost first. */
  readonly path: readonly { readonly name: string; readonly samples: number }[];
  /** What the profiled time has cost. */
  readonly cost: Cost;
  /** Microseconds that switching the profiler on and off has taken. */
  readonly looking: number;
  /** Microseconds of processor time between two samples; 0 in mode `calls`. */
  readonly interval: number;
  /** True if the limit of 20,000 samples was reached. */
  readonly full: boolean;
  /** True if the program has started the profiler itself, so that the samples are lost. */
  readonly replaced: boolean;
  /** What mode `calls` alone tells. */
  readonly counts: CountedCalls | undefined;
  /** The first values of the code, printed. */
  readonly values: readonly string[];
  /** The medians of the code and of the other code, which have run in turn without the profiler. */
  readonly comparison: { readonly rounds: number; readonly code: Cost; readonly against: Cost } | undefined;
}

const { boolean, integer, list, map, nullable, optional, plist, string, tuple } = decode;

/** `(REAL RUN GC BYTES)` */
const cost: Decoder<Cost> = map(tuple(integer, integer, integer, integer), ([real, run, gc, bytes]) => ({
  real,
  run,
  gc,
  bytes,
}));

const comparison = map(tuple(integer, cost, cost), ([rounds, code, against]) => ({ rounds, code, against }));

/** `(FUNCTIONS CALLED MICROSECONDS (SENTENCE ...))` */
const counts: Decoder<CountedCalls> = map(
  tuple(integer, integer, integer, list(string)),
  ([functions, called, looking, missed]) => ({ functions, called, looking, missed }),
);

/** Decodes the plist of `profile-facts` (lisp/profile/profile.lisp). */
export const profileData: Decoder<Profile> = plist({
  mode: keywordOf(PROFILE_MODES),
  end: keywordOf(RUN_ENDS),
  samples: integer,
  outside: integer,
  elsewhere: list(map(tuple(string, integer), ([thread, samples]) => ({ thread, samples }))),
  functions: list(
    plist({
      name: string,
      calls: optional(integer),
      self: integer,
      cumulative: integer,
      file: optional(string),
      line: optional(integer),
    }),
  ),
  path: list(map(tuple(string, integer), ([name, samples]) => ({ name, samples }))),
  cost,
  looking: integer,
  interval: integer,
  full: boolean,
  replaced: boolean,
  counts: nullable(counts),
  values: list(string),
  comparison: nullable(comparison),
});
