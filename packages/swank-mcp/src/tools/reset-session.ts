import type { types } from "swank-client";
import * as z from "zod";
import { type JsonObject, type JsonValue, type ToolAnswer, textAnswer } from "../base/answer.js";
import { defineTool, type ToolContext } from "../call/tool.js";
import type { LispSession } from "../session/image.js";
import { cutName, firstOf, plural } from "../text/cut.js";
import { loadedData, loadedLine } from "./list-definitions.js";

/** Key of a result's `_meta` under which programs find the report as data. */
const RESET_META = "swank-mcp/reset";

/** Most names under one heading. */
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
    ...section("aborted", aborted === 0 ? [] : [evaluations(aborted)]),
    ...section("still running", stillRunning === 0 ? [] : [`${evaluations(stillRunning)} that could not be aborted`]),
    ...section("undefined", report.undefined.map(named)),
    ...section(
      "left",
      report.left.map((left) => `${named(left)}: ${REASONS[left.reason]}`),
    ),
    ...section("left, loaded from files", report.loaded.map(loadedLine)),
  ].join("\n\n");
}

/** The report as data. */
function resetMeta(report: types.ResetReport): JsonObject {
  const { undefined: gone, left, loaded, aborted, stillRunning } = report;
  return {
    [RESET_META]: {
      ...listData("undefined", gone.map(nameData)),
      ...listData("left", left.map(nameData)),
      ...listData("loaded", loaded.map(loadedData)),
      aborted,
      still_running: stillRunning,
    },
  };
}

function nameData<D extends Pick<types.Definition, "name">>(definition: D): D {
  return { ...definition, name: cutName(definition.name, MAX_NAME) };
}

/** The first items of a list, and the number left out. */
function listData(key: string, items: readonly JsonValue[]): JsonObject {
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

function evaluations(count: number): string {
  return `${count} ${plural(count, "evaluation")}`;
}

const FRESH_NEXT = "The next call that needs an image launches a fresh one.";

const CONNECTED_NEXT =
  "The session's definitions in that image could not be undefined. The next call that needs the image connects again.";

const KEPT = "The image was kept because another client is connected to it.";

/** Notice for the other clients of this server, which share the image. */
const RESET_BY_OTHER =
  "Another client of this server has reset the session: its definitions are gone. So are stops, breakpoints and object ids, if there were any.";

export const resetSession = defineTool({
  name: "reset-session",
  family: "core",
  effect: "resets",
  title: "Reset session",
  description: ({ tools }) =>
    `Start over: abort stopped and running evaluations, ${tools.includes("breakpoints") ? "remove breakpoints, " : ""}forget the last error, history and package. A launched image is replaced by a fresh one; in one that other clients use, only this session's functions, macros and variables are undefined.`,
  input: () => z.strictObject({}),
  async run(_, context) {
    const session = await context.currentSession();
    if (session?.origin.kind === "own" && !(await hasOthers(session))) return replaceImage(session, context);
    const answer = session === undefined ? await withoutImage(context) : await cleanUnlessGone(session, context);
    forgetState(context);
    if (session !== undefined) context.agent.host.tellOthers(context.agent, RESET_BY_OTHER);
    return answer;
  },
});

async function withoutImage({ config, lastLoss }: ToolContext): Promise<ToolAnswer> {
  const loss = await lastLoss();
  if (loss === undefined) return textAnswer("Session reset. No image was in use.");
  return textAnswer(`Session reset. ${loss} ${config.attach === undefined ? FRESH_NEXT : CONNECTED_NEXT}`);
}

/** Whether other clients are connected. False if the image does not answer: it is then of no use to them either. */
async function hasOthers({ client }: LispSession): Promise<boolean> {
  return (await client.otherClients().catch(() => 0)) > 0;
}

async function replaceImage(session: LispSession, context: ToolContext): Promise<ToolAnswer> {
  try {
    const { client } = await context.renew(session);
    return textAnswer(`Session reset. A fresh image (pid ${client.info.pid}) has replaced the old one.`);
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
  const kept = session.origin.kind === "own" ? [KEPT] : [];
  return { ...textAnswer(resetText(report), ...kept), meta: resetMeta(report) };
}

/** Forgets the server's own state of a session. */
function forgetState({ agent }: ToolContext): void {
  agent.stops.clear();
  agent.background.forgetEnded();
  agent.lastError.apply({ kind: "clear" });
}
