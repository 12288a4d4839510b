import { readFile } from "node:fs/promises";
import type { types } from "swank-client";
import * as z from "zod";
import { jsonAnswer } from "../base/answer.js";
import { DEFAULT_PORT } from "../base/config.js";
import { defineTool, type ToolContext } from "../call/tool.js";
import type { AgentSession } from "../session/agent.js";
import { type Hang, hangOf, isUnanswered, knownHang } from "../session/hung-image.js";
import type { LispSession, OwnOrigin } from "../session/image.js";
import type { DebuggedStop, Evaluation, Stop } from "../session/lisp-port.js";
import { runsApart, type StopKeeper } from "../session/stops.js";
import { cutName, cutStart, firstOf, oneLine, plural } from "../text/cut.js";

const MAX_LINE = 60;

const MAX_LISTED = 20;

/** What the agents of the image run now, as far as the image's record has those of others. Own stops are listed elsewhere. */
function runningData(
  agent: AgentSession,
  session: LispSession,
  recorded: readonly types.RunningCall[],
  threads: ReadonlyMap<number, number>,
) {
  const own = ownRunning(agent, session, recorded, threads);
  const others = recorded.filter((call) => !isListed(call, own)).map(recordedData);
  const mine = own.filter(({ evaluation }) => agent.background.of(evaluation) === undefined);
  const all = [...mine.map(({ evaluation, ...data }) => data), ...others];
  return {
    ...firstData("running", all),
    ...backgroundData(agent, new Map(own.map(({ evaluation, thread }) => [evaluation, thread]))),
  };
}

/** The background evaluations that run or are stopped, and the latest that have ended. */
function backgroundData({ background }: AgentSession, threads: ReadonlyMap<Evaluation, number | undefined>) {
  const [ended, others] = [
    background.all.filter(({ hasEnded }) => hasEnded),
    background.all.filter(({ hasEnded }) => !hasEnded),
  ];
  return firstData(
    "background",
    [...others.reverse(), ...ended.reverse()].map(({ id, code, state, since, age, thread, evaluation }) => ({
      id,
      code: firstLine(code),
      state,
      since: timeText(since),
      seconds: Math.round(age / 100) / 10,
      thread: thread ?? threads.get(evaluation),
    })),
    2 * MAX_LISTED,
  );
}

/** The first items of a list, and the number left out; nothing for an empty list. */
function firstData<Item>(key: "running" | "background", all: readonly Item[], most = MAX_LISTED) {
  if (all.length === 0) return {};
  const { shown, left } = firstOf(all, most);
  return { [key]: shown, ...(left > 0 ? { [`${key}_left_out`]: left } : {}) };
}

/** The calls that the image's record has; none for an image that nobody else can see. @throws SwankError - also if it does not answer */
async function recordedCalls({ client, origin }: LispSession): Promise<readonly types.RunningCall[]> {
  return origin.kind === "attached" || origin.shared !== undefined ? client.activity.running() : [];
}

/** The threads of this client's evaluations, by evaluation, in an image without such a record. @throws SwankError - also if it does not answer */
async function evaluationThreads({ client, origin }: LispSession): Promise<ReadonlyMap<number, number>> {
  const isRecorded = origin.kind === "attached" || origin.shared !== undefined;
  if (isRecorded || client.evaluations.every(({ thread }) => thread !== undefined)) return new Map();
  const { threads } = await client.program.threads();
  return new Map(threads.flatMap(({ id, evaluation }) => (evaluation === undefined ? [] : [[evaluation, id]])));
}

type OwnRunning = ReturnType<typeof ownRunning>;

function ownRunning(
  { evaluations, stops, name }: AgentSession,
  { client }: LispSession,
  recorded: readonly types.RunningCall[],
  threads: ReadonlyMap<number, number>,
) {
  const stopped = stops.live.map(({ thread }) => thread);
  return client.evaluations.flatMap((evaluation) => {
    const begun = evaluations.find(evaluation);
    if (begun === undefined) return [];
    const code = firstLine(begun.code);
    // Which of several calls with the same code it is, the record does not tell.
    const [same, ...others] = recorded.filter((call) => call.isMine && firstLine(call.code) === code);
    const thread = evaluation.thread ?? threads.get(evaluation.id) ?? (others.length === 0 ? same?.thread : undefined);
    if (thread !== undefined && stopped.includes(thread)) return [];
    return [{ evaluation, agent: cutName(name.text), mine: true, thread, code, since: timeText(begun.since) }];
  });
}

/** Whether the list has the call already: as an own one, or as a stop. */
function isListed({ isMine, state, thread, code }: types.RunningCall, own: OwnRunning): boolean {
  if (!isMine) return false;
  return state === "stopped" || own.some((each) => each.thread === thread || each.code === firstLine(code));
}

function recordedData({ agent, thread, operation, code, begun, state, isMine }: types.RunningCall) {
  return {
    agent: cutName(agent),
    ...(isMine ? { mine: true } : {}),
    ...(thread === undefined ? {} : { thread }),
    ...(operation === "evaluate" ? {} : { operation: cutName(operation) }),
    code: firstLine(code),
    since: timeText(begun),
    ...(state === "running" ? {} : { state }),
  };
}

function firstLine(code: string): string {
  return oneLine(code.trimStart().split("\n", 1)[0] ?? "", MAX_LINE);
}

function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

const MAX_MESSAGE = 200;

type ListedStop = ReturnType<typeof stopData> | ReturnType<typeof foreignStopData>;

function stopListData(own: readonly ListedStop[], others: readonly ListedStop[], maxStops: number) {
  const all = [...own, ...others];
  const isOwn = (stop: ListedStop) => !("foreign" in stop || "owner" in stop);
  const mine = all.filter(isOwn).slice(-maxStops);
  const theirs = all.filter((stop) => !isOwn(stop)).slice(-MAX_LISTED);
  const listed = all.filter((stop) => mine.includes(stop) || theirs.includes(stop));
  const left = all.length - listed.length;
  return { stopped: listed, ...(left > 0 ? { stopped_left_out: left } : {}) };
}

/** The stops in other clients' debuggers, with their owners. @throws SwankError - the error of `foreignStops`. */
async function othersStops(stops: StopKeeper, { client }: LispSession) {
  const foreign = await client.foreignStops();
  for (const { thread } of foreign) stops.saw(thread);
  return foreign.map(foreignStopData);
}

function stopData(stop: Stop, { client }: LispSession) {
  const { thread, level, condition } = stop;
  const isForeign = client.stops.some((known) => known === stop && runsApart(known));
  return {
    thread: `${thread}/${level}`,
    type: cutName(condition.type),
    message: oneLine(condition.message, MAX_MESSAGE),
    since: new Date(condition.timestamp).toISOString(),
    ...(isForeign ? { foreign: true } : {}),
  };
}

function foreignStopData({ data: { thread, level, threadName = "", condition, owner } }: DebuggedStop) {
  return {
    thread: `${thread}/${level}`,
    name: cutName(threadName),
    type: cutName(condition.type),
    message: oneLine(condition.message, MAX_MESSAGE),
    owner: owner?.text,
  };
}

const SOCKET_TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

const LISTENING = "0A";

/**
 * Whether a program listens on Swank's usual port. Reads the system's tables instead of connecting: a Swank started without
 * `:dont-close` serves only one connection, which must be the user's.
 */
async function isUsualPortTaken(): Promise<boolean> {
  const tables = await Promise.all(SOCKET_TABLES.map((table) => readFile(table, "latin1").catch(() => "")));
  return tables.some((table) => table.split("\n").some((line) => isListening(line, DEFAULT_PORT)));
}

/** Reads a line with the hexadecimal fields number, local address and port, remote address and port, state, and more. */
function isListening(line: string, port: number): boolean {
  const [, local = "", , state] = line.trim().split(/\s+/);
  return state === LISTENING && Number.parseInt(local.split(":").at(-1) ?? "", 16) === port;
}

const SHARING_HINT = `Another program listens on port ${DEFAULT_PORT}, Swank's usual port. If the user wants to share that image, start swank-mcp with --attach ${DEFAULT_PORT}.`;

const MAX_PROCESS_OUTPUT = 2000;

const OUTPUT_ELSEWHERE =
  "not seen here: what other threads, child processes and C code write to the image's own stdout and stderr appears where the user started the image";

const UNRESPONSIVE = "The image does not answer: the other fields were read earlier.";

export const lispStatus = defineTool({
  name: "lisp-status",
  family: "core",
  effect: "reads",
  title: "Lisp status",
  description:
    "Show the image (version, process, own or attached), directory, package, limits, what agents run, background evaluations, stopped threads, also of others (Emacs).",
  input: () => z.strictObject({}),
  output: () =>
    z.looseObject({
      image: z.string().optional(),
      implementation: z.string().optional(),
      version: z.string().optional(),
      pid: z.number().optional(),
      directory: z.string().optional(),
      package: z.string().optional(),
      unresponsive: z.string().optional(),
    }),
  async run(_, context) {
    const session = await context.session({ evenIfHung: true });
    const { origin } = session;
    const { info } = session.client;
    const { missing } = session.client.abilities;
    const { config } = context;
    const answer = await ask(session, context);
    const own = context.agent.stops.live.map((stop) => stopData(stop, session));
    // Nothing is known about the stops of an image that does not answer.
    const asked = context.agent.userRequests.latest(
      (stop) => answer.isSilent || [...own, ...answer.others].some(({ thread }) => isWithin(stop, thread)),
    );
    const isShareable = origin.kind === "own" && origin.shared === undefined && (await isUsualPortTaken());
    return jsonAnswer({
      image: origin.kind === "attached" && origin.isLaunchedHere !== true ? "attached" : "own",
      ...(origin.kind === "attached" ? { address: origin.address, warning: origin.warning } : sharedData(origin)),
      implementation: info.implementation.type,
      version: info.implementation.version,
      pid: info.pid,
      [session.client.abilities.server]: info.version,
      ...(answer.isSilent
        ? { unresponsive: `${UNRESPONSIVE} ${answer.message} ${answer.remedy}` }
        : { directory: answer.directory }),
      package: session.packageName,
      ...processOutputData(session),
      ...stopListData(own, answer.others, config.maxStops),
      ...runningData(context.agent, session, answer.recorded, answer.threads),
      ...(answer.faults === 0 ? {} : { faults: faultsText(answer.faults) }),
      ...(config.readOnly ? { read_only: true } : {}),
      ...context.agent.facts,
      ...(asked.length > 0 ? { user_asks: [...asked] } : {}),
      on_error: config.onError,
      limits: {
        timeout: config.timeout,
        max_stops: config.maxStops,
        stop_minutes: config.stopMinutes,
        max_output: config.maxOutput,
        max_value: config.maxValue,
      },
      ...(missing.length > 0 ? { cannot: [...missing] } : {}),
      ...(session.notes.length > 0 ? { notes: [...session.notes] } : {}),
      ...(isShareable ? { hint: SHARING_HINT } : {}),
    });
  },
});

/** The end of what the image's process wrote to its own stdout and stderr; nothing if it wrote nothing since the session was opened. */
function processOutputData({ processOutput, outputAtStart }: LispSession) {
  if (processOutput === undefined) return { process_output: OUTPUT_ELSEWHERE };
  const { length, tail } = processOutput;
  const characters = length - outputAtStart;
  if (characters === 0) return {};
  return { process_output: { characters, end: cutStart(tail, Math.min(characters, MAX_PROCESS_OUTPUT), "") } };
}

/** Faults break nothing, but an answer may lack something. */
function faultsText(count: number): string {
  return `${count} internal ${plural(count, "fault was", "faults were")} recorded (see the log).`;
}

function sharedData({ shared }: OwnOrigin) {
  if (shared === undefined) return {};
  return "address" in shared
    ? { shared: shared.address, shared_secret: shared.secretFile ?? "none is required" }
    : { not_shared: shared.problem };
}

/** Whether a thread that is stopped at `latest`, thread/level, still is in the stop `earlier`. */
function isWithin(earlier: string, latest: string): boolean {
  const [thread, level] = earlier.split("/");
  const [now, deepest] = latest.split("/");
  return thread === now && Number(level) <= Number(deepest);
}

/** Asks the image for its directory, and for other clients' stops and what agents run. The other fields need no answer of the image. */
async function ask(session: LispSession, { signal, agent }: ToolContext) {
  const known = await knownHang(session);
  if (known !== undefined) return silentStatus(known);
  try {
    const directory = await session.directory(signal);
    const [others, recorded, threads, faults] = await Promise.all([
      othersStops(agent.stops, session),
      recordedCalls(session),
      evaluationThreads(session),
      session.faults.count(),
    ]);
    return { isSilent: false, directory, others, recorded, threads, faults } as const;
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    const hang = await hangOf(session);
    if (!session.client.isOpen) throw await session.client.closed;
    return silentStatus(hang);
  }
}

function silentStatus({ message, remedy }: Hang) {
  return { isSilent: true, message, remedy, others: [], recorded: [], threads: new Map(), faults: 0 } as const;
}
