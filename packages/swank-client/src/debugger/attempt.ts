import { randomUUID } from "node:crypto";
import { checkChoice, checkLimit, checkOptions, checkText, type OptionNames } from "../base/check-arguments.js";
import { asSwankError, SwankError } from "../base/errors.js";
import type { FrameEvaluationOptions } from "../evaluation/evaluation.js";
import { checkWaitOptions, OutcomeSlot, WAIT_OPTIONS, type WaitOptions } from "../evaluation/outcome-slot.js";

/** Default timeout of expressions, in milliseconds. */
const ATTEMPT_TIME = 30_000;
/** Milliseconds to wait after each interrupt for the code to end; it may run without interrupts for a while. */
const INTERRUPT_PAUSES = [300, 700, 2000] as const;

/** A caller's expressions that a stopped thread evaluates. */
export interface Expressions<Result> {
  readonly label: string;
  /** Starts their evaluation. `interrupt` interrupts it by the same token (lisp/stops/attempt.lisp). */
  start(token: string): Promise<Result>;
  interrupt(token: string): Promise<unknown>;
}

/**
 * Evaluates expressions with a timeout, after which the expressions are interrupted. The stop stays.
 *
 * @throws SwankError `FRAME_EVALUATION_TIMEOUT`; `CANCELLED`; `REQUEST_TIMEOUT` if the code could not be interrupted; the errors of `start`.
 */
export async function attempt<Result>(expressions: Expressions<Result>, options: WaitOptions): Promise<Result> {
  const { label } = expressions;
  checkWaitOptions(label, options);
  const { timeout = ATTEMPT_TIME, signal } = options;
  // Unique across processes: other clients may evaluate in the same thread.
  const token = randomUUID();
  const slot = new OutcomeSlot<Done<Result>>();
  expressions.start(token).then(
    (result) => slot.put(() => ({ result })),
    (error: unknown) => slot.fail(asSwankError(error)),
  );
  const done = await within(slot, { timeout, signal });
  if (done !== undefined) return done.result;
  try {
    return await interrupt(expressions, token, slot);
  } catch (error) {
    if (!(error instanceof SwankError) || error.code !== "FRAME_EVALUATION_TIMEOUT") throw error;
    throw signal?.aborted
      ? new SwankError("CANCELLED", `${label} was cancelled.`, { cause: signal.reason })
      : new SwankError(
          "FRAME_EVALUATION_TIMEOUT",
          `${label} took longer than ${timeout / 1000} s and was interrupted.`,
          { remedy: error.remedy },
        );
  }
}

interface Done<Result> {
  readonly result: Result;
}

async function interrupt<Result>(
  { label, interrupt: end }: Expressions<Result>,
  token: string,
  slot: OutcomeSlot<Done<Result>>,
): Promise<Result> {
  for (const timeout of INTERRUPT_PAUSES) {
    await end(token);
    const done = await within(slot, { timeout });
    if (done !== undefined) return done.result;
  }
  throw new SwankError(
    "REQUEST_TIMEOUT",
    `${label} could not be interrupted: it runs without interrupts and continues.`,
  );
}

/** @returns `undefined` if the timeout or the signal came first. */
async function within<Value>(slot: OutcomeSlot<Value>, options: WaitOptions): Promise<Value | undefined> {
  try {
    return await slot.take(options);
  } catch (error) {
    if (error instanceof SwankError && (error.code === "WAIT_TIMEOUT" || options.signal?.aborted)) return undefined;
    throw error;
  }
}

const FRAME_OPTIONS: OptionNames<FrameEvaluationOptions> = {
  ...WAIT_OPTIONS,
  package: true,
  valueLimit: true,
  valuesAs: true,
};

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkFrameOptions(options: FrameEvaluationOptions): FrameEvaluationOptions {
  checkOptions("evaluateInFrame", options, FRAME_OPTIONS);
  const { package: packageName, valueLimit, valuesAs } = options;
  if (packageName !== undefined) checkText("package", packageName);
  if (valueLimit !== undefined) checkLimit("valueLimit", valueLimit);
  if (valuesAs !== undefined) checkChoice("valuesAs", valuesAs, ["text", "ids"]);
  return options;
}
