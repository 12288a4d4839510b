import type { ApprovalRequest } from "../agent/approval-request.js";
import { ownership } from "../agent/foreign.js";
import { objectAnswer } from "../format/object-view.js";
import type { InspectObjectOptions } from "../image/lisp-port.js";
import type { LispSession } from "../image/lisp-session.js";
import { Refusal } from "../refusals/refusal.js";
import { holdsForm } from "../text/holds-form.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import { concludeEvaluation, presentedAnswer } from "./answer-evaluation.js";
import { checkFrame } from "./check-frame.js";
import { callOf } from "./resuming.js";
import { type AddressedStop, checkKept } from "./stop-address.js";
import type { ToolContext } from "./tool-context.js";

/** A frame of a stop. */
export interface AddressedFrame extends AddressedStop {
  readonly frame: number;
}

/** The request to the user before code is evaluated in a frame. */
export async function inspectionRequest(
  code: string,
  { frame, stop, session }: AddressedFrame,
): Promise<ApprovalRequest> {
  checkCode(code);
  checkFrame(frame, stop);
  return {
    operation: ":eval",
    action: `evaluate code in frame #${frame}`,
    particulars: [["Code", code]],
    circumstances: [`Frame ${frame}: ${await callOf(frame, stop)}`, `Thread ${stop.thread}/${stop.level}`],
    stop,
    ...ownership(stop, session),
  };
}

/** Evaluates code, in a frame or as evaluate-lisp does, and inspects its first value. */
export async function inspectValueOf(
  code: string,
  found: AddressedFrame | undefined,
  options: InspectObjectOptions,
  context: ToolContext,
): Promise<ToolAnswer> {
  checkCode(code);
  return found === undefined ? inspectEvaluated(code, options, context) : inspectInFrame(code, found, options, context);
}

async function inspectInFrame(
  code: string,
  found: AddressedFrame,
  options: InspectObjectOptions,
  context: ToolContext,
): Promise<ToolAnswer> {
  checkKept(found, context);
  const { timeout } = context.config;
  const { stop, session, frame } = found;
  const { values } = await stop.evaluateInFrame(frame, code, {
    timeout: timeout * 1000,
    signal: context.signal,
    valuesAs: "ids",
  });
  const view = await session.client.program.inspectObject(idIn(values[0]), options);
  return objectAnswer(view, { start: options.start, guide: context.guide });
}

async function inspectEvaluated(
  code: string,
  options: InspectObjectOptions,
  context: ToolContext,
): Promise<ToolAnswer> {
  return answerAboutValue(code, context, async (id, { client }) => {
    const view = await client.program.inspectObject(id, { ...options, expression: shortName(code) });
    return objectAnswer(view, { start: options.start, guide: context.guide });
  });
}

/** Evaluates code as evaluate-lisp does, and answers with what `answer` says about the id of its first value. */
export async function answerAboutValue(
  code: string,
  context: ToolContext,
  answer: (id: number, session: LispSession) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  checkCode(code);
  const session = await context.session();
  const { onError, policy, timeout } = context.config;
  const evaluation = context.agent.evaluations.begin(session.client, code, { valuesAs: "ids", onError, policy });
  context.agent.evaluations.present(evaluation, { answer: (value) => answer(idIn(value), session) });
  return presentedAnswer(evaluation, await concludeEvaluation(evaluation, session, context, timeout), context);
}

/** An id, or code, as tools take an object. */
export function idOrCode(object: number | string): number | string {
  if (typeof object === "number") return object;
  return /^\s*#?\d{1,15}\s*$/.test(object) ? Number(object.replace("#", "")) : object;
}

function checkCode(code: string): void {
  if (!holdsForm(code)) throw new Refusal("EMPTY_CODE", "The code contains no form, so nothing was evaluated.");
}

function idIn(value: string | undefined): number {
  if (value !== undefined) return Number(value);
  throw new Refusal("INVALID_ARGUMENTS", "The code returned no value.", {
    remedy: "Give code that returns the object.",
  });
}

/** The code as an expression for the object, if it is a variable: any other code may return another object each time. */
function shortName(code: string): string | undefined {
  const name = code.trim();
  return /^[^\s()'"`,;#|\\]{1,60}$/.test(name) && !/^[-+.\d]/.test(name) ? name : undefined;
}
