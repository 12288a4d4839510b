import { randomUUID } from "node:crypto";
import { keyword, type Sexp } from "sexp-parser";
import type { UNWOUND } from "../caller.js";
import { asSwankError, SwankError } from "../errors.js";
import { OutcomeSlot, type WaitOptions } from "../evaluation/outcome-slot.js";
import type { RuntimeCalls } from "../runtime/runtime-calls.js";
import type { StopChannel } from "./stop-channel.js";

/** Milliseconds that expressions may take when nothing else is said. */
const ATTEMPT_TIME = 30_000;
/** Milliseconds that broken-off code has to come to its end; it may be where no interrupt reaches it at once. */
const BREAK_OFF_PAUSES = [300, 700, 2000] as const;

const INTERRUPTED = keyword("interrupted");

type Reply = Sexp | typeof UNWOUND;

/**
 * Runs a form that evaluates somebody's expressions in a stopped thread, for a limited time. Only the expressions are broken off then.
 *
 * @param form - Makes the form, given the token by which it can be broken off (lisp/attempt.lisp).
 * @returns `UNWOUND` when the thread has left the stop.
 * @throws SwankError `FRAME_EVALUATION_TIMEOUT`; `CANCELLED`; `REQUEST_TIMEOUT` when the code could not be broken off; what `StopChannel.leave` throws.
 */
export async function attempt(
  channel: StopChannel,
  calls: RuntimeCalls,
  form: (attempt: string) => Sexp,
  label: string,
  { timeout = ATTEMPT_TIME, signal }: WaitOptions,
): Promise<Reply> {
  // Clients of other processes evaluate in the same thread.
  const token = randomUUID();
  const slot = new OutcomeSlot<Reply>();
  channel.leave(form(token), label, Number.POSITIVE_INFINITY).then(
    (reply) => slot.put(() => reply),
    (error: unknown) => slot.fail(asSwankError(error)),
  );
  const reply = await within(slot, { timeout, signal });
  if (reply !== undefined) return reply;
  const ending = await breakOff(channel, slot, calls.endAttempt(channel.thread, token), label);
  if (!wasBrokenOff(ending)) return ending;
  throw signal?.aborted
    ? new SwankError("CANCELLED", `${label} was cancelled.`, { cause: signal.reason })
    : new SwankError("FRAME_EVALUATION_TIMEOUT", `${label} took longer than ${timeout / 1000} s and was broken off.`);
}

async function breakOff(channel: StopChannel, slot: OutcomeSlot<Reply>, form: Sexp, label: string): Promise<Reply> {
  for (const timeout of BREAK_OFF_PAUSES) {
    await channel.askAside(form, `breaking off ${label}`);
    const reply = await within(slot, { timeout });
    if (reply !== undefined) return reply;
  }
  throw new SwankError("REQUEST_TIMEOUT", `${label} could not be broken off; it runs without interrupts and goes on.`);
}

/** @returns `undefined` when the time was up or the signal came first. */
async function within(slot: OutcomeSlot<Reply>, options: WaitOptions): Promise<Reply | undefined> {
  try {
    return await slot.take(options);
  } catch (error) {
    if (error instanceof SwankError && (error.code === "WAIT_TIMEOUT" || options.signal?.aborted)) return undefined;
    throw error;
  }
}

function wasBrokenOff(reply: Reply): boolean {
  return Array.isArray(reply) && reply[0] === INTERRUPTED;
}
