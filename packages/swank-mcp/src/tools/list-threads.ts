import type { types } from "swank-client";
import * as z from "zod";
import { answerWith, type ToolAnswer, type ToolGuide } from "../base/answer.js";
import { defineTool } from "../call/tool.js";
import { possibleDeadlocks, waitText } from "../report/threads.js";
import type { Stop } from "../session/lisp-port.js";
import { cutName, cutText, firstOf, groupedBy, howMany, more, oneLine } from "../text/cut.js";

const THREADS_META = "swank-mcp/threads";

const MOST_LISTED = 50;

const MAX_NAME = 60;

const SBCL_DEADLOCK = "Deadlock cycle detected";

const MAX_DEADLOCK = 400;

const MAX_FRAME = 100;

const MOST_NAMES = 5;

/** Facts for the list that the image does not know. */
interface Asked {
  readonly name: string | undefined;
  /** Ids of this agent's evaluations. */
  readonly mine: readonly number[];
  readonly stops: readonly Stop[];
  readonly guide: ToolGuide;
}

/** States in which a thread may wait for another one without a lock or an end that tells which. */
const UNSEEN_STATES: readonly types.ProgramThread["state"][] = [
  "queue",
  "semaphore",
  "lock",
  "c-lock",
  "running",
  "sleep",
];

const UNSEEN =
  "No deadlock among mutexes and ends of threads. Who waits for whom is not known for condition variables, semaphores, and loops that poll a lock of the program's own.";

function mayWaitUnseen({ level, state }: types.ProgramThread): boolean {
  return level === 0 && UNSEEN_STATES.includes(state);
}

const ORDER: readonly types.ProgramThread["whose"][] = ["evaluation", "code", "program", "client", "service"];

const UNREAD: Readonly<Record<NonNullable<types.ProgramThread["unread"]>, string>> = {
  stopped: "it is stopped; debugger_frames shows them",
  service: "it serves clients, or belongs to Lisp",
  "without-interrupts": "it allows no interrupts now",
  compiling: "it holds Lisp's world lock",
  "world-lock": "it waits for Lisp's world lock",
  "timed-wait": "an interrupt could end its wait early",
  foreign: "it is in foreign code",
  silent: "it did not react to the interrupt",
  failed: "its stack could not be read",
  late: "reading the other stacks took all the time",
};

function threadListAnswer(found: types.ProgramThreads, asked: Asked): ToolAnswer {
  const listed = asked.name === undefined ? found.threads.filter(({ whose }) => whose !== "service") : found.threads;
  const sorted = [...listed].sort(compare);
  const { shown } = firstOf(byStack(sorted), MOST_LISTED);
  const left = found.count - (found.threads.length - sorted.length) - shown.flat().length;
  const deadlocks = [
    ...found.deadlocks,
    ...stoppedDeadlocks(found.threads, asked.stops),
    ...possibleDeadlocks(found.threads),
  ];
  const text = [
    ...deadlocks,
    ...(deadlocks.length > 0 ? [""] : []),
    ...(sorted.length === 0 ? [noThread(asked)] : shown.flatMap((threads) => stackLines(threads, asked))),
    ...(deadlocks.length === 0 && sorted.filter(mayWaitUnseen).length > 1 ? [UNSEEN] : []),
    ...(left > 0 ? [`${more(left, "thread")}. Give a part of the name.`] : []),
    ...serviceLine(found.threads.filter((thread) => !sorted.includes(thread))),
  ].join("\n");
  const threads = found.threads.map((thread) => ({ ...thread, owner: thread.owner?.text }));
  return answerWith([cutText(text)], THREADS_META, { threads, count: found.count, deadlocks: found.deadlocks });
}

/** Deadlocks that Lisp itself has found: it stops one of the threads, which keeps its locks, so that there is no circle any more. */
function stoppedDeadlocks(threads: readonly types.ProgramThread[], stops: readonly Stop[]): string[] {
  const found = stops.filter(({ condition }) => condition.message.startsWith(SBCL_DEADLOCK));
  return found.map(({ thread, level, condition }) => {
    const waiting = threads.filter(
      ({ level: other, state, holder }) => other === 0 && state === "mutex" && holder === thread,
    );
    const { shown, left } = firstOf(waiting, MOST_NAMES);
    const names = shown.map(({ id, name, what = "a lock" }) => `${id} ${oneLine(name, MAX_NAME)} for ${what}`);
    const still = waiting.length === 0 ? "" : ` Still waiting: ${[...names, ...(left > 0 ? ["..."] : [])].join(", ")}.`;
    const message = oneLine(condition.message, MAX_DEADLOCK).replace(/(?<=[^.])$/, ".");
    return `DEADLOCK, in which Lisp has stopped thread ${thread}/${level}; it keeps its locks.${still} ${message}`;
  });
}

function compare(a: types.ProgramThread, b: types.ProgramThread): number {
  const byOwner = ORDER.indexOf(a.whose) - ORDER.indexOf(b.whose);
  return byOwner || a.name.localeCompare(b.name, "en", { numeric: true }) || a.id - b.id;
}

function noThread({ name }: Asked): string {
  return name === undefined
    ? "No thread runs code of yours or of the program."
    : `No thread has ${JSON.stringify(cutName(name))} in its name.`;
}

/** Threads with equal stacks together, at the place of the first of them. A thread whose frames are not known is alone. */
function byStack(threads: readonly types.ProgramThread[]) {
  return [...groupedBy(threads, ({ id, frames }) => (frames === undefined ? String(id) : frames.join("\n"))).values()];
}

/** A line for threads that are alike but for their names, and one for the stack that all have. */
function stackLines(threads: readonly [types.ProgramThread, ...types.ProgramThread[]], asked: Asked): string[] {
  const [{ frames, unread }] = threads;
  const titles = [...groupedBy(threads, (thread) => aboutText(thread, asked)).values()];
  const stack = (frames ?? []).map((frame) => oneLine(frame, MAX_FRAME)).join(" < ");
  return [
    ...titles.map((alike) => `${namesText(alike)}, ${aboutText(alike[0], asked)}`),
    ...(frames === undefined ? [] : [titles.length > 1 ? `  All ${threads.length}: ${stack}` : `  ${stack}`]),
    ...(unread === undefined ? [] : [`  No frames: ${asked.guide.advise(UNREAD[unread])}`]),
  ];
}

function namesText(threads: readonly types.ProgramThread[]): string {
  const names = threads.map(({ id, name }) => [id, ...(name === "" ? [] : [oneLine(name, MAX_NAME)])].join(" "));
  const { shown, left } = firstOf(names, MOST_NAMES);
  if (left === 0) return shown.join(", ");
  const ids = threads.slice(shown.length).map(({ id }) => id);
  return `${threads.length} threads (${shown.join(", ")}, ids ${ids.join(" ")})`;
}

function aboutText(thread: types.ProgramThread, asked: Asked): string {
  const { seconds } = thread;
  const begun = seconds === undefined || seconds < 1 ? "" : `, begun ${seconds} s ago`;
  return `${whoseText(thread, asked)}${begun}: ${stateText(thread, asked)}`;
}

/** Whose code a thread runs. `mine`: ids of this agent's evaluations. */
export function whoseText(
  { whose, owner, evaluation = Number.NaN }: types.ProgramThread,
  { mine }: Pick<Asked, "mine">,
): string {
  switch (whose) {
    case "evaluation":
      return mine.includes(evaluation) ? "your evaluation" : "another agent's evaluation";
    case "code":
      return "your code";
    case "client":
      return owner?.text ?? "another client";
    case "service":
      return "Swank or Lisp";
    case "program":
      return "the program";
  }
}

function stateText(thread: types.ProgramThread, { stops }: Asked): string {
  const { id, level, state } = thread;
  if (level === 0) return waitText(thread);
  const stop = stops.find((live) => live.thread === id && live.level === level);
  const since = stop && Math.floor((Date.now() - stop.condition.timestamp) / 1000);
  const time = since === undefined || since < 1 ? "" : `, for ${since} s`;
  const place = `stopped as ${id}/${level}${time}`;
  return state === "stopped" ? place : `${place}; it was ${waitText(thread)}`;
}

function serviceLine(threads: readonly types.ProgramThread[]): string[] {
  if (threads.length === 0) return [];
  const { shown, left } = firstOf([...new Set(threads.map(({ name }) => oneLine(name, MAX_NAME)))], MOST_NAMES);
  const names = left > 0 ? [...shown, "..."] : shown;
  const count = howMany(threads.length, "thread");
  return [`Not listed: ${count} of Swank and Lisp (${names.join(", ")}).`];
}

export const listThreads = defineTool({
  name: "list-threads",
  family: "runtime",
  needs: "threads",
  effect: "reads",
  title: "List threads",
  description:
    "List threads: whose code each runs, what it waits for (lock and holder, condition variable, sleep, input). Mutex deadlocks come first. Only stacks interrupts them.",
  input: () =>
    z.strictObject({
      stacks: z.int().min(0).max(30).optional().describe("Innermost frames (default 0)"),
      name: z.string().min(1).optional().describe("Part of their names"),
    }),
  async run({ stacks = 0, name }, { session, signal, agent, guide }) {
    const { client } = await session();
    const found = await client.program.threads({ name, frames: stacks, signal });
    const mine = client.evaluations.filter((evaluation) => agent.evaluations.has(evaluation));
    return threadListAnswer(found, {
      name,
      mine: mine.map(({ id }) => id),
      stops: client.stops,
      guide,
    });
  },
});
