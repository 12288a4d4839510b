import { DecodeError, SexpError } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import type { OptionsOf, QuestionOptions } from "../base/options.js";
import { type EvaluateOptions, evaluateOptions, type Returned } from "./evaluate.js";
import type { Work } from "./runner.js";
import type { Task } from "./stop.js";
import { EvaluationError, withTranscript } from "./task.js";

const {
  package: _package,
  policy: _policy,
  valueLimit: _valueLimit,
  printLength: _printLength,
  printLevel: _printLevel,
  valuesAs: _valuesAs,
  conditions: _conditions,
  ...options
} = evaluateOptions;

/** Options of every function that starts a task. */
export const taskOptions = options;

/** How to run a task: what an evaluation can do with its input, output and errors. */
export interface TaskOptions extends OptionsOf<typeof taskOptions> {}

/** A task that knows what it has found or done before it ends. */
export interface ProgressTask<Result> extends Task<Result> {
  /**
   * What it has found or done so far, also if its code has stopped or was aborted.
   *
   * @returns `undefined` before its code was sent, and if the image does not know that.
   * @throws SwankError the errors of `LispRunner.run`.
   */
  soFar(options?: QuestionOptions): Promise<Result | undefined>;
}

/** Code of the runtime, and what its value means. */
export interface PreparedCode<Result> {
  /** Evaluated with `valuesAs: "data"`. */
  readonly code: string;
  /**
   * The result in the printed first value.
   *
   * @throws SwankError if the value means a refusal; DecodeError, SexpError if it is not a value of `code`.
   */
  result(value: string): Result;
  /** Called once, when the code has returned, before its task ends. Must not throw. */
  onReturned?(): void;
}

/** The same, and what its latest evaluation has found or done so far. */
export interface RunCode<Result> extends PreparedCode<Result> {
  /**
   * @returns `undefined` if there is nothing yet, or there were many others since.
   * @throws SwankError the errors of `LispRunner.run`.
   */
  progress(options?: QuestionOptions): Promise<Result | undefined>;
}

/** Starts a task, as the client's runner does. */
export type StartTask = <Result>(work: Work<Result>, options: EvaluateOptions) => Task<Result>;

/** How prepared code is evaluated. */
interface Way {
  /** Default: `debug`. `keep` for code whose compiled files or speed must be the user's own. */
  readonly policy?: EvaluateOptions["policy"];
}

/** Starts a task that runs prepared code. */
export function startPrepared<Result>(
  start: StartTask,
  prepare: (signal: AbortSignal | undefined) => Promise<PreparedCode<Result | Promise<Result>>>,
  given: TaskOptions,
  { policy }: Way = {},
): Task<Result> {
  let run: PreparedCode<Result | Promise<Result>> | undefined;
  const work: Work<Result> = {
    async prepare(signal) {
      run = await prepare(signal);
      return run.code;
    },
    resultOf: (outcome) => resultIn(outcome, run),
    onReturned: () => run?.onReturned?.(),
  };
  const { stdin, onRead, onError, outputLimit, timeout, signal, onOutput, onProgress } = given ?? {};
  const common = { stdin, onRead, onError, outputLimit, timeout, signal, onOutput, onProgress };
  return start(work, { ...common, policy, valuesAs: "data" });
}

/** The same for code that knows what it has found or done so far. */
export function startRun<Result>(
  start: StartTask,
  prepare: (signal: AbortSignal | undefined) => Promise<RunCode<Result>>,
  given: TaskOptions,
  way: Way = {},
): ProgressTask<Result> {
  let run: RunCode<Result> | undefined;
  const prepared = async (signal: AbortSignal | undefined) => {
    run = await prepare(signal);
    return run;
  };
  const task = startPrepared(start, prepared, given, way);
  return Object.assign(task, { soFar: async (limits?: QuestionOptions) => run?.progress(limits) });
}

async function resultIn<Result>(
  outcome: Returned,
  run: PreparedCode<Result | Promise<Result>> | undefined,
): Promise<Result> {
  const [value] = outcome.values;
  if (run === undefined || value === undefined) {
    throw new EvaluationError("REQUEST_ABORTED", "The code was left without a value.", outcome);
  }
  if (outcome.cutValues.length > 0) {
    throw new EvaluationError("REPLY_TOO_LARGE", "The result has more than 1,000,000 characters.", outcome);
  }
  try {
    return await run.result(value);
  } catch (cause) {
    if (cause instanceof SwankError) throw withTranscript(cause, outcome);
    if (!(cause instanceof DecodeError || cause instanceof SexpError)) throw cause;
    throw new EvaluationError("UNEXPECTED_REPLY", cause.message, outcome, { cause });
  }
}
