import { followEvaluation } from "swank-client";
import { Refusal } from "../base/refusals.js";
import { REACTION_TIME } from "../session/conclusion.js";
import type { LispSession } from "../session/image.js";
import type { KeptForm, LeftEffects } from "../session/kept-forms.js";
import { cutName, oneLine } from "../text/cut.js";
import type { ToolContext } from "./tool.js";

/** Characters of a form, and of a reason, in the report. */
const MAX_FORM = 100;

const MAX_REASON = 200;

/** A form that gives a variable its value. The name is without its package. */
const VARIABLE =
  /^\(\s*(?:[\w-]+:+)?(?:defvar|defparameter|defconstant|defglobal)\s+(?:[^\s()|:]*:+)?([^\s()|:]+)(?=[\s)])/i;

/** The name of the variable to which a form gives its value, in lower case. */
function variableOf({ text }: KeptForm): string | undefined {
  return VARIABLE.exec(text)?.[1]?.toLowerCase();
}

/** What became of the forms that were kept. */
export interface Restored {
  /** The number of forms that were evaluated again. */
  readonly count: number;
  /** The beginnings of those that failed, with the reasons. They are kept. */
  readonly failed: readonly string[];
  readonly left: LeftEffects;
  /** The package that is current now. */
  readonly package: string;
}

/**
 * Evaluates the kept forms again in a session, in order, and makes its package what it was before the image was lost or replaced.
 * Variables to which this session itself has given their values keep them: the program may have changed them since. Functions of this session are
 * evaluated again, because they may use macros that were missing.
 *
 * @throws Refusal `CANCELLED`, and the reason of a lost connection. The forms that were not evaluated are kept, without one that has ended the image.
 */
export async function restoreForms(session: LispSession, context: ToolContext): Promise<Restored> {
  const { forms } = context.agent.host;
  const taken = forms.take();
  const failed: string[] = [];
  let count = 0;
  const restored = new Set<string>();
  for (const [index, form] of taken.entries()) {
    const variable = variableOf(form);
    if (variable !== undefined && form.session === session && !restored.has(variable)) {
      forms.keep(form);
      continue;
    }
    if (variable !== undefined) restored.add(variable);
    try {
      const reason = await failureOf(form.text, form.package, session, context);
      if (reason === undefined) count += 1;
      else {
        forms.keepFailed(form, session);
        failed.push(`${oneLine(form.text, MAX_FORM)}: ${oneLine(reason, MAX_REASON)}`);
      }
    } catch (error) {
      // A form that ends the image would do so each time.
      const isLost = !session.client.isOpen;
      for (const rest of taken.slice(isLost ? index + 1 : index)) forms.keep({ ...rest, session: undefined });
      throw error;
    }
    context.progress(`Evaluated ${index + 1} of ${taken.length} forms again\n`);
  }
  const { lastPackage } = forms;
  if (lastPackage !== undefined && lastPackage !== session.packageName) {
    // For a call with a package, the package of the session stays.
    await failureOf(`(cl:in-package ${JSON.stringify(lastPackage)})`, undefined, session, context);
  }
  return { count, failed, left: forms.leftIn(session), package: session.packageName };
}

/** Evaluates a form. Returns why it failed, or `undefined`. */
async function failureOf(
  text: string,
  packageName: string | undefined,
  session: LispSession,
  context: ToolContext,
): Promise<string | undefined> {
  const { timeout, policy } = context.config;
  const evaluation = context.agent.evaluations.begin(session.client, text, {
    package: packageName,
    onError: "unwind",
    policy,
  });
  const limits = { timeout: timeout * 1000, signal: context.signal, patience: REACTION_TIME };
  const followed = await followEvaluation(evaluation, limits).catch((error: unknown) => {
    if (!session.client.isOpen || !(error instanceof Error)) throw error;
    return error;
  });
  if (followed instanceof Error) return followed.message;
  if (followed.kind === "cancelled") throw new Refusal("CANCELLED", "The call was cancelled.");
  if (followed.kind === "running") return "it does not end";
  const { outcome } = followed;
  if (outcome.status === "lost") throw outcome.cause;
  if (outcome.status === "stopped") await evaluation.abort();
  session.follow(outcome.package);
  if (outcome.status === "returned") return undefined;
  if (outcome.status === "stopped") return `it gave no value within ${timeout} s`;
  const { error } = outcome;
  return error === undefined ? "it was aborted" : `${cutName(error.type)}: ${error.message}`;
}
