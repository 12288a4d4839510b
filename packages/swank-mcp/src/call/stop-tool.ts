import type { types } from "swank-client";
import type * as z from "zod";
import type { ToolAnswer } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { lastPlaces, placeName } from "../report/stop.js";
import type { ApprovalRequest } from "../session/approval-prompt.js";
import type { LispSession } from "../session/image.js";
import type { DebuggedStop, StopAction } from "../session/lisp-port.js";
import { innermost, isForeign, ownership } from "../session/stops.js";
import { oneLine } from "../text/cut.js";
import { type DeclaredTool, declareTool, type ToolContext, type ToolDescription, type threadInput } from "./tool.js";

/** Checks a frame's index without asking the image. @throws Refusal `INVALID_FRAME` */
export function checkFrame(frame: number, { condition }: Pick<DebuggedStop, "condition">): void {
  const last = condition.totalFrames - 1;
  if (frame >= 0 && frame <= last) return;
  throw new Refusal("INVALID_FRAME", "Frame index out of range", {
    remedy: `There is no frame ${frame}; the stack has frames 0 to ${last}. debugger_frames lists them.`,
  });
}

/** The description of the CONTINUE restart that (break) itself provides, in any package and case. */
const BREAK_CONTINUES = /^Return from \S*\bBREAK\.$/i;

/** The descriptions of the ABORT restarts of an evaluation and of SBCL's threads. */
const ABORTS = /^(?:Return to top level|abort thread \()/i;

/** The text that a call gives the code to read, as the user is shown it: the code may evaluate it. */
export function inputShown(stdin: string | undefined): readonly (readonly [string, string])[] {
  return stdin === undefined ? [] : [["Input", stdin]];
}

export function restartRequest(
  { index, name, description }: types.Restart,
  values: readonly string[],
  stop: ReadOnlyStop,
  stdin?: string,
): StopRequest {
  const label = name === "" ? "(unnamed)" : name;
  return {
    operation: ":modify-restarts",
    action: `invoke restart ${index + 1}`,
    particulars: [
      [label, description],
      ...values.map((value, at) => [`Value ${at + 1}`, value] as const),
      ...inputShown(stdin),
    ],
    circumstances: [`Thread ${stop.thread}/${stop.level}, stopped by ${stop.condition.type}`],
  };
}

/** Whether a restart ends the whole evaluation or thread: the outermost ABORT, which is not the program's own. */
export function isAbort({ index, name, description }: types.Restart, { restarts }: ReadOnlyStop): boolean {
  return (
    name === "ABORT" &&
    ABORTS.test(description) &&
    restarts.every((other) => other.name !== name || other.index <= index)
  );
}

/**
 * The restart that resuming a stop invokes, if that does more than resume. At an error, CONTINUE does what the program defines. At a
 * break, breakpoint, step or interrupt it only resumes; the result is then `undefined`.
 */
export function restartToContinue({ reason, continuation }: ReadOnlyStop): types.Restart | undefined {
  if (continuation === undefined) return undefined;
  const isPlain = reason === "break" ? BREAK_CONTINUES.test(continuation.description) : reason !== "error";
  return isPlain ? undefined : continuation;
}

/** The request for resuming a stop; `undefined` if no approval is needed: the stop is this session's, and CONTINUE only resumes it. */
function continueRequest({ stop, session }: AddressedStop): StopRequest | undefined {
  const restart = restartToContinue(stop);
  if (restart !== undefined) return restartRequest(restart, [], stop);
  return isForeign(stop, session) ? continuing(stop) : undefined;
}

function continuing({ thread, level, condition }: ReadOnlyStop): StopRequest {
  return {
    operation: ":modify-running-code",
    action: "continue a stopped thread",
    particulars: [[condition.type, condition.message]],
    circumstances: [`Thread ${thread}/${level}`],
  };
}

/** The call in a frame. Asks the image if the stop's report does not include the frame. */
export async function callOf(frame: number, stop: ReadOnlyStop): Promise<string> {
  const reported = stop.condition.frames.find(({ index }) => index === frame);
  if (reported !== undefined) return reported.call;
  const { frames } = await stop.frames(frame, frame + 1);
  return frames.find(({ index }) => index === frame)?.call ?? String(frame);
}

/** The stop that a tool acts on: the latest, or that of a thread, at `level` if that is given. */
export type StopAddress =
  | { readonly kind: "latest" }
  | { readonly kind: "thread"; readonly thread: number; readonly level: number | undefined };

export interface AddressedStop {
  readonly session: LispSession;
  readonly stop: DebuggedStop;
}

/** The thread and level of a stop, and its owner if that is another client. */
type Place = Pick<DebuggedStop, "thread" | "level"> & Partial<Pick<DebuggedStop, "owner">>;

const MAX_SHOWN = 100;

const HOW_THREADS_STOP =
  "A thread stops at an error in evaluate-lisp, at a breakpoint (breakpoint_set) and at (break).";

/** Reads `auto`, a thread id, or `id/level` as printed with a stop. @throws Refusal `INVALID_ARGUMENTS` */
export function readStopAddress(text: string): StopAddress {
  if (text.trim() === "auto") return { kind: "latest" };
  // JavaScript numbers with more digits are not exact.
  const [, thread, level] = /^(\d{1,15})(?:\/(\d{1,15}))?$/.exec(text.trim()) ?? [];
  if (thread === undefined) {
    const given = oneLine(JSON.stringify(text), MAX_SHOWN);
    throw new Refusal("INVALID_ARGUMENTS", `"thread" must be auto, a thread id, or id/level, not ${given}.`, {
      remedy: "Leave it out for the latest stop; lisp-status lists the stopped threads.",
    });
  }
  return { kind: "thread", thread: Number(thread), level: level === undefined ? undefined : Number(level) };
}

/**
 * Finds the stop that a `thread` argument names. `auto` never means a stop in another client's debugger.
 *
 * @throws Refusal `NOT_DEBUGGING`, `NO_SUCH_THREAD`, `STALE_STOP`, `INVALID_ARGUMENTS`
 */
export async function findStop(thread: string, context: ToolContext): Promise<AddressedStop> {
  const address = readStopAddress(thread);
  // Without a session there is no stop of this agent. Only an image to attach to may have a stop of another client.
  const needsNoImage = address.kind === "latest" || context.config.attach === undefined;
  const { host } = context.agent;
  if (needsNoImage && (await host.current(context.cancelled)) === undefined) throw noImage(await host.loss());
  const session = await context.session();
  const stops = innermost(context.agent.stopsIn(session));
  const stop = chosen(stops, address);
  if (stop !== undefined) return { session, stop };
  const foreign = await session.client.foreignStops();
  const named = address.kind === "thread" ? chosen(foreign, address) : undefined;
  if (named !== undefined) return { session, stop: await opened(named, context) };
  throw await missing(address, [...stops, ...foreign], session, context);
}

function noImage(loss: string | undefined): Refusal {
  return notDebugging(loss === undefined ? others([]) : `${loss} Its stops are gone. ${others([])}`);
}

async function opened(stop: DebuggedStop, context: ToolContext): Promise<DebuggedStop> {
  context.agent.stops.saw(stop.thread);
  await stop.open();
  return stop;
}

function chosen<S extends Place>(stops: readonly S[], address: StopAddress): S | undefined {
  if (address.kind === "latest") return stops.at(-1);
  const stop = stops.find(({ thread }) => thread === address.thread);
  return address.level === undefined || stop?.level === address.level ? stop : undefined;
}

async function missing(
  address: StopAddress,
  stops: readonly Place[],
  { client }: LispSession,
  context: ToolContext,
): Promise<Refusal> {
  if (address.kind === "latest") return notDebugging(others(stops));
  const { thread, level } = address;
  const now = stops.find((stop) => stop.thread === thread);
  if (level !== undefined && (now !== undefined || context.agent.stops.hasSeen(thread)))
    return stale(thread, level, now);
  if (client.stops.some((stop) => stop.thread === thread))
    return notDebugging(`Thread ${thread} is stopped for another client of this server. ${others(stops)}`);
  if (await client.hasThread(thread)) return notDebugging(`Thread ${thread} is not stopped. ${others(stops)}`);
  return new Refusal("NO_SUCH_THREAD", `There is no thread ${thread}.`, { remedy: others(stops) });
}

/** Refuses a stop that this server ends because of a limit: its thread may not have left it yet. @throws Refusal `STALE_STOP` */
export function checkKept({ stop }: AddressedStop, { agent }: ToolContext): void {
  if (agent.stops.isEnding(stop)) throw stale(stop.thread, stop.level, undefined);
}

function stale(thread: number, level: number, now: Place | undefined): Refusal {
  return new Refusal("STALE_STOP", `The stop ${thread}/${level} has ended.`, {
    remedy:
      now === undefined
        ? "The thread has resumed or ended. lisp-status lists the stopped threads."
        : `The thread is now stopped at ${thread}/${now.level}: inspect it with debugger_frames, then use that address.`,
  });
}

function notDebugging(remedy: string): Refusal {
  return new Refusal("NOT_DEBUGGING", "Thread not in debugger", { remedy });
}

function others(stops: readonly Place[]): string {
  const own = lastPlaces(stops.filter(({ owner }) => owner === undefined).map(placeName));
  const elsewhere = lastPlaces(
    stops.flatMap((stop) => (stop.owner === undefined ? [] : `${placeName(stop)} in ${stop.owner.text}`)),
  );
  if (own.length + elsewhere.length === 0) return `No thread is stopped. ${HOW_THREADS_STOP}`;
  const ofOwn =
    own.length === 0
      ? "No thread of this session is stopped."
      : `Stopped threads: ${own.join(", ")}; auto means the last of these.`;
  return elsewhere.length === 0
    ? ofOwn
    : `${ofOwn} Stopped in other clients: ${elsewhere.join(", ")}; give the thread's id to inspect it.`;
}

/** Every tool on a stop takes `thread` to choose the stop. If it takes a `frame`, the index is checked. */
type StopInput = z.ZodObject<{ thread: typeof threadInput }>;

interface StopToolDescription<Input extends StopInput> extends ToolDescription<Input> {
  check?(args: z.output<Input>): void;
}

interface ReadingTool<Input extends StopInput> extends StopToolDescription<Input> {
  readonly effect: "reads";
  answer(args: z.output<Input>, stop: ReadOnlyStop, context: ToolContext): Promise<ToolAnswer>;
}

interface ActingTool<Input extends StopInput> extends StopToolDescription<Input> {
  readonly effect: "evaluates" | "resumes";
  plan(args: z.output<Input>, stop: ReadOnlyStop, context: ToolContext): Promise<StopPlan>;
}

/** The declaration of a tool on a stop. A tool that changes the program returns a plan, which runs only if it is allowed. */
export type StopToolDeclaration<Input extends StopInput> = ReadingTool<Input> | ActingTool<Input>;

/** Creates a tool on a stop. The stop is found, the frame checked and the user asked before the tool acts. */
export function defineStopTool<Input extends StopInput>(declaration: StopToolDeclaration<Input>): DeclaredTool {
  return declareTool(declaration, async (args, context, approve) => {
    declaration.check?.(args);
    const found = await findStop(args.thread, context);
    if ("frame" in args && typeof args.frame === "number") checkFrame(args.frame, found.stop);
    if (declaration.effect === "reads") return declaration.answer(args, found.stop, context);
    const plan = await declaration.plan(args, found.stop, context);
    const request = requestOf(plan, found);
    if (request !== undefined) await approve({ ...request, stop: found.stop, ...ownership(found.stop, found.session) });
    // The user may have taken long to answer.
    checkKept(found, context);
    return plan.act(found);
  });
}

/** @returns `undefined` for a plan that needs no approval. */
function requestOf({ request, isAbort = false }: StopPlan, found: AddressedStop): StopRequest | undefined {
  if (isAbort && !isForeign(found.stop, found.session)) return undefined;
  if (request === "continue") return continueRequest(found);
  if (request !== "impossible-elsewhere") return request;
  if (found.stop.owner !== undefined) return undefined;
  throw new Error("Only a stop in another client's debugger can be impossible to act on.");
}

export type ReadOnlyStop = Omit<DebuggedStop, "evaluation" | StopAction>;

/** The request to the user. The runner adds the stop and its owner. */
export type StopRequest = Omit<ApprovalRequest, "stop" | "isForeign" | "owner" | "instead">;

export interface StopPlan {
  /**
   * `continue` resumes the thread: the user is asked only if that does more than resume, or if the thread belongs to another client or the
   * program. `impossible-elsewhere` is an action that is impossible on a stop in another client's debugger: it is refused without a
   * question.
   */
  readonly request: StopRequest | "continue" | "impossible-elsewhere";
  /** Whether the action only aborts the stop: the user is asked only about a stop that belongs to another client or the program. */
  readonly isAbort?: boolean;
  act(found: AddressedStop): Promise<ToolAnswer>;
}
