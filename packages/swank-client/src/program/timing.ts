import { type Decoded, decode, print, read } from "sexp-parser";
import { checkOptions, type OptionsOf } from "../base/options.js";
import { type RunCode, taskOptions } from "../evaluation/work.js";
import type { LispRunner } from "../runtime/runner.js";
import { checkBalanced } from "../source-text/balance.js";

const { integer, list, map, nullable, record, string, tagged } = decode;

/** `(REPEATS (NANOSECONDS ...) GC-NANOSECONDS BYTES)` */
const timedCode = record({
  /** Runs of the code in each round. */
  repeats: integer,
  /** Nanoseconds that one run took, by round. */
  times: list(integer),
  /** Nanoseconds of garbage collections, and bytes that all threads allocated, for one run. */
  gc: integer,
  bytes: integer,
});

const timing = record({ rounds: integer, code: timedCode, against: nullable(timedCode), values: list(string) });

/** The median of measured values, and the quartiles below and above it. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** What one run of code takes, in nanoseconds and bytes. */
export interface TimedCode extends Omit<Decoded<typeof timedCode>, "times"> {
  readonly time: Spread;
}

/** How long code takes, alone or against other code. */
export interface Timing {
  /** In each, the code ran `repeats` times, and then the other code. */
  readonly rounds: number;
  readonly code: TimedCode;
  readonly against: TimedCode | undefined;
  /** How many times as long the other code took, by round; `undefined` without other code. */
  readonly ratio: Spread | undefined;
  /** The first values of the code, printed. */
  readonly values: readonly string[];
}

/** What to time. Both are run again and again: give code that can be. */
export interface TimedSource {
  readonly code: string;
  /** Code to compare with. Default: none. */
  readonly against?: string | undefined;
}

/** Limits on timing code. */
export interface TimingOptions extends OptionsOf<typeof taskOptions> {}

const timingReply = tagged({
  time: map(timing, ({ code, against, ...facts }): Timing => {
    const ratios = against?.times.map((time, round) => time / Math.max(1, code.times[round] ?? 1));
    return {
      ...facts,
      code: spreadOut(code),
      against: against && spreadOut(against),
      ratio: ratios && spread(ratios),
    };
  }),
});

function spreadOut({ times, ...facts }: Decoded<typeof timedCode>): TimedCode {
  return { ...facts, time: spread(times) };
}

function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { median: at(0.5), low: at(0.25), high: at(0.75) };
}

/** Loads what times code, and returns code that does it for some seconds (lisp/observe/timing.lisp). */
export async function timeCode(
  lisp: LispRunner,
  source: TimedSource,
  options: TimingOptions,
): Promise<RunCode<Timing>> {
  checkOptions("timeCode", options, taskOptions);
  const { code, against } = source;
  checkBalanced("code", code);
  if (against !== undefined) checkBalanced("against", against);
  const operator = await lisp.loadedOperator("time-code", "observe", options.signal);
  return {
    code: `(${operator} ${print(code)} ${against === undefined ? "nil" : print(against)})`,
    result: (value) => timingReply(read(value)),
    progress: async () => undefined,
  };
}
