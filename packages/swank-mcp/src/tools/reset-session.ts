import { followEvaluation, type types } from "swank-client";
import * as z from "zod";
import { answerWith, type JsonObject, type ToolAnswer, textAnswer } from "../base/answer.js";
import { settledWithin } from "../base/lifetime.js";
import { misused, Refusal } from "../base/refusals.js";
import { defineTool, type ToolContext } from "../call/tool.js";
import { REACTION_TIME } from "../session/conclusion.js";
import type { LispSession } from "../session/image.js";
import type { KeptForm, LeftEffects } from "../session/kept-forms.js";
import { isForeign, release } from "../session/stops.js";
import { cutName, firstOf, howMany, oneLine } from "../text/cut.js";
import { loadedData, loadedLine } from "./list-definitions.js";

const RESET_META = "swank-mcp/reset";

const RESTORE_META = "swank-mcp/restored";

const MAX_NAMES = 50;

const MAX_NAME = 300;

const REASONS: Record<types.LeftReason, string> = {
  kind: "only functions, macros and variables are undefined",
  existed: "existed before this session",
  changed: "changed later by other code",
  extended: "other code has added methods",
  locked: "its package is locked",
};

/** The answer of reset-session for an image that other clients also use. */
export function resetText(report: types.ResetReport): string {
  const { aborted, stillRunning, package: packageName } = report;
  return [
    packageName === undefined ? "Session reset." : `Session reset. The package is ${packageName}.`,
    ...section("aborted", aborted === 0 ? [] : [howMany(aborted, "evaluation")]),
    ...section(
      "still running",
      stillRunning === 0 ? [] : [`${howMany(stillRunning, "evaluation")} that could not be aborted`],
    ),
    ...section("undefined", report.undefined.map(named)),
    ...section(
      "left",
      report.left.map((left) => `${named(left)}: ${REASONS[left.reason]}`),
    ),
    ...section("left, loaded from files", report.loaded.map(loadedLine)),
  ].join("\n\n");
}

function resetData({ undefined: gone, left, loaded, aborted, stillRunning }: types.ResetReport): JsonObject {
  return {
    ...listData("undefined", gone.map(nameData)),
    ...listData("left", left.map(nameData)),
    ...listData("loaded", loaded.map(loadedData)),
    aborted,
    stillRunning,
  };
}

function nameData<D extends Pick<types.Definition, "name">>(definition: D): D {
  return { ...definition, name: cutName(definition.name, MAX_NAME) };
}

function listData(key: string, items: readonly unknown[]): JsonObject {
  const { shown, left } = firstOf(items, MAX_NAMES);
  return { [key]: shown, ...(left > 0 ? { [`${key}_left_out`]: left } : {}) };
}

function section(name: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const left = lines.length - MAX_NAMES;
  return [[`[${name}]`, ...lines.slice(0, MAX_NAMES), ...(left > 0 ? [`... ${left} more`] : [])].join("\n")];
}

function named({ kind, name }: Pick<types.Definition, "kind" | "name">): string {
  return `${kind} ${cutName(name, MAX_NAME)}`;
}

const FRESH_NEXT = "The next call that needs an image launches a fresh one.";

const CONNECTED_NEXT =
  "The session's definitions in that image could not be undefined. The next call that needs the image connects again.";

const KEPT = "The image was kept because another client is connected to it.";

/** Notice for the other clients of this server, which share the image. */
const RESET_BY_OTHER =
  "Another client of this server has reset the session: its definitions are gone. So are stops, breakpoints and object ids, if there were any.";

/** Milliseconds that an image has to say what only it has, before it is replaced. */
const LIST_TIME = 3000;

const UNSAVED = "only in the old image";

const UNKNOWN = "What only the old image had is not known: it did not answer.";

/** For an image of a Lisp other than SBCL, in which definitions are not recorded. */
function unrecorded({ client }: LispSession): string {
  return `Only SBCL's definitions are recorded, not those of ${client.abilities.implementation}`;
}

const RESTORABLE = "reset-session with restore true evaluates these definitions again, until the next reset.";

const NO_FORMS = "Nothing was restored: no definitions of this session are kept.";

/** Characters of a form whose definitions cannot be told from what else it does. */
const MAX_FORM = 100;

export const resetSession = defineTool({
  name: "reset-session",
  family: "core",
  effect: "resets",
  title: "Reset session",
  description: ({ tools }) =>
    `End evaluations, stops${tools.includes("breakpoints") ? ", breakpoints" : ""}; forget history, package, last error. A launched image is replaced; in a shared one, only your functions, macros and variables are undefined.`,
  input: () =>
    z.strictObject({
      restore: z.boolean().optional().describe("Evaluate its definitions again, also a lost image's"),
      "stops-only": z.boolean().optional().describe("End only stops"),
    }),
  async run({ restore = false, "stops-only": stopsOnly = false }, context) {
    if (restore && stopsOnly)
      throw misused("reset-session", "With stops-only, nothing needs to be restored.", "Give one of them.");
    const session = await context.agent.host.current(context.cancelled);
    if (stopsOnly) return session === undefined ? textAnswer(NO_STOPS) : endStops(session, context);
    const { forms } = context.agent.host;
    // An image that has come after the loss is kept: it may have what the definitions need.
    if (restore && forms.areLostIn(session)) return answerRestored(undefined, session, context);
    if (!restore && session !== undefined) forms.keepOnly(session);
    const answer = await resetImage(session, context, restore);
    return restore ? answerRestored(answer, undefined, context) : answer;
  },
});

const NO_STOPS = "There were no stops to end.";

async function endStops(session: LispSession, { agent }: ToolContext): Promise<ToolAnswer> {
  const own = agent.stopsIn(session).filter((stop) => stop.level === 1 && !isForeign(stop, session));
  const ended = await Promise.allSettled(own.map((stop) => stop.evaluation?.abort() ?? release(stop)));
  const count = ended.filter(({ status }) => status === "fulfilled").length;
  const silent = ended.length - count;
  return textAnswer(
    [
      count === 0 && silent === 0 ? NO_STOPS : `${howMany(count, "stop was", "stops were")} ended.`,
      ...(silent === 0 ? [] : [`${silent} could not be ended.`]),
      "Nothing else was changed.",
    ].join(" "),
  );
}

/** Evaluates the kept definitions again, in a session that is there or a new one, and answers with that after the answer `before` about the reset. */
async function answerRestored(
  before: ToolAnswer | undefined,
  current: LispSession | undefined,
  context: ToolContext,
): Promise<ToolAnswer> {
  if (context.agent.host.forms.isEmpty) return textAnswer(...(before?.blocks ?? []), NO_FORMS);
  const session = current?.client.isOpen === true ? current : await context.session();
  const restored = await restoreForms(session, context);
  const [first, ...others] = before?.blocks ?? [];
  const text = [...(first === undefined ? [] : [first]), restoredText(restored, session)].join("\n\n");
  const { failed, left } = restored;
  const data = {
    restored: restored.count,
    ...listData("not_restored", [...failed, ...left.mixed]),
    ...listData("assigned", left.assigned),
    ...listData("not_loaded", left.loaded),
  };
  return { ...textAnswer(text, ...others), meta: { ...before?.meta, [RESTORE_META]: data } };
}

function restoredText({ count, failed, left, package: packageName }: Restored, { client }: LispSession): string {
  const forgotten = left.forgotten === 0 ? [] : [`${left.forgotten} of the earliest, because too many were kept`];
  return [
    `Restored: ${howMany(count, "form")} with definitions, evaluated again in the image with pid ${client.info.pid}. The package is ${packageName}.`,
    ...section("not restored", [
      ...failed,
      ...left.mixed.map((text) => `${oneLine(text, MAX_FORM)}: its definitions cannot be told from what else it does`),
      ...forgotten,
    ]),
    ...section(
      "not loaded again",
      left.loaded.map(({ kind, name }) => loadedLine({ kind, name, times: 1 })),
    ),
    ...section("values not restored", left.assigned),
    ...(failed.length === 0 ? [] : ["Once what they need is there, restore again: the failed forms are kept."]),
  ].join("\n\n");
}

async function resetImage(
  session: LispSession | undefined,
  context: ToolContext,
  isRestored: boolean,
): Promise<ToolAnswer> {
  if (session?.origin.kind === "own" && !(await hasOthers(session))) return replaceImage(session, context, isRestored);
  const answer = session === undefined ? await withoutImage(context) : await cleanUnlessGone(session, context);
  forgetState(context);
  if (session !== undefined) context.agent.host.forms.lose(session);
  if (session !== undefined) context.agent.host.tellOthers(context.agent, RESET_BY_OTHER);
  return answer;
}

/** What only an image has that is about to be replaced, as sections: what it has loaded, and definitions that no file has. */
async function onlyThere(session: LispSession): Promise<readonly string[]> {
  if (!session.client.abilities.has("runtime")) return [`${unrecorded(session)}: what only the old image had is gone.`];
  const found = await settledWithin(LIST_TIME, session.client.definitions()).catch(() => undefined);
  // The answer of another call that replaces it says so.
  if (found === undefined) return session.isRetired ? [] : [UNKNOWN];
  const { definitions, loaded } = found.value;
  const unsaved = definitions.filter(({ saved, changed }) => !saved && !changed);
  return [
    ...section(
      "loaded in the old image",
      ["system", "file"].flatMap((kind) => loaded.filter((each) => each.kind === kind)).map(loadedLine),
    ),
    ...section(UNSAVED, unsaved.map(named)),
  ];
}

async function withoutImage({ config, agent }: ToolContext): Promise<ToolAnswer> {
  const loss = await agent.host.loss();
  if (loss === undefined) return textAnswer("Session reset. No image was in use.");
  return textAnswer(`Session reset. ${loss} ${config.attach === undefined ? FRESH_NEXT : CONNECTED_NEXT}`);
}

/** Whether other clients are connected. False if the image does not answer: it is then of no use to them either. */
async function hasOthers({ client }: LispSession): Promise<boolean> {
  return (await client.otherClients().catch(() => 0)) > 0;
}

async function replaceImage(session: LispSession, context: ToolContext, isRestored: boolean): Promise<ToolAnswer> {
  const lost = await onlyThere(session);
  try {
    const fresh = await context.renew(session);
    const text = `Session reset. A fresh image (pid ${fresh.client.info.pid}) has replaced the old one.`;
    const isUseful = !isRestored && lost.some((text) => text.startsWith(`[${UNSAVED}]`));
    const hint = isUseful && context.agent.host.forms.areLostIn(fresh) ? context.guide.advise(RESTORABLE) : "";
    return textAnswer([text, ...lost].join("\n\n"), ...(hint === "" ? [] : [hint]));
  } finally {
    // The old image is gone even if the new one does not start.
    forgetState(context);
    context.agent.host.tellOthers(context.agent, RESET_BY_OTHER);
  }
}

/** Cleans the image. If the connection turns out to be lost, answers as if that had been known before. */
async function cleanUnlessGone(session: LispSession, context: ToolContext): Promise<ToolAnswer> {
  try {
    return await cleanImage(session, context.signal);
  } catch (error) {
    if (session.client.isOpen) throw error;
    await session.client.closed;
    return withoutImage(context);
  }
}

/** @throws SwankError `REQUEST_TIMEOUT` - after a few seconds, with nothing changed, if the image does not answer. */
async function cleanImage(session: LispSession, signal: AbortSignal): Promise<ToolAnswer> {
  await session.directory(signal);
  session.noteReset();
  const report = await session.client.reset();
  if (report.package !== undefined) session.follow(report.package);
  const kept = [
    ...(session.client.abilities.has("runtime") ? [] : [`${unrecorded(session)}: they were left.`]),
    ...(session.origin.kind === "own" ? [KEPT] : []),
  ];
  return answerWith([resetText(report), ...kept], RESET_META, resetData(report));
}

function forgetState({ agent }: ToolContext): void {
  agent.stops.clear();
  agent.background.forgetEnded();
  agent.lastError.apply({ kind: "clear" });
}

/** Characters of a form, and of a reason, in the report. */
const MAX_KEPT_FORM = 100;

const MAX_REASON = 200;

/** A form that gives a variable its value. The name is without its package. */
const VARIABLE =
  /^\(\s*(?:[\w-]+:+)?(?:defvar|defparameter|defconstant|defglobal)\s+(?:[^\s()|:]*:+)?([^\s()|:]+)(?=[\s)])/i;

/** The name of the variable to which a form gives its value, in lower case. */
function variableOf({ text }: KeptForm): string | undefined {
  return VARIABLE.exec(text)?.[1]?.toLowerCase();
}

interface Restored {
  readonly count: number;
  /** The beginnings of those that failed, with the reasons. They are kept. */
  readonly failed: readonly string[];
  readonly left: LeftEffects;
  readonly package: string;
}

/**
 * Evaluates the kept forms again in a session, in order, and makes its package what it was before the image was lost or replaced.
 * Variables to which this session itself has given their values keep them: the program may have changed them since. Functions of this session are
 * evaluated again, because they may use macros that were missing.
 *
 * @throws Refusal `CANCELLED`, and the reason of a lost connection. The forms that were not evaluated are kept, without one that has ended the image.
 */
async function restoreForms(session: LispSession, context: ToolContext): Promise<Restored> {
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
        failed.push(`${oneLine(form.text, MAX_KEPT_FORM)}: ${oneLine(reason, MAX_REASON)}`);
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
