import type { types } from "swank-client";

export function waitText(thread: types.ProgramThread): string {
  const { state, what, place, holder, descriptor } = thread;
  const named = `${what === undefined ? "" : ` ${what}`}${placeText(thread)}`;
  const file = descriptor === undefined ? "" : ` file descriptor ${descriptor}`;
  switch (state) {
    case "mutex":
      return `waiting for${named}${holder === undefined ? "; who holds it is not known" : ` held by ${holder}`}`;
    case "join":
      return `waiting for the end of ${holder ?? "a thread"}`;
    case "queue":
      return `waiting on a condition variable${place === undefined ? " or semaphore" : ""}${named}; ${recordedText(thread)}`;
    case "semaphore":
      return `waiting for${named}; ${recordedText(thread)}`;
    case "lock":
      return "waiting for a lock; who holds it is not known";
    case "c-lock":
      return "waiting for a lock of the C library; who holds it is not known";
    case "read":
      return `reading${file}`;
    case "write":
      return `writing${file}`;
    case "accept":
      return `waiting for a connection${file && ` at${file}`}`;
    case "input":
      return "waiting for input";
    case "sleep":
      return "sleeping";
    case "process":
      return "waiting for a process";
    case "memory":
    case "other":
      return "in a system call";
    case "stopped":
      return "stopped";
    case "running":
      return "running";
    case "unknown":
      return "state not known";
  }
}

/** The function that waits, and where the lock or queue is, as far as that is known. */
function placeText({ function: name, place }: types.ProgramThread): string {
  return `${name === undefined ? "" : ` in ${name}`}${place === undefined ? "" : ` (${place})`}`;
}

/** The threads that the object with the queue names: one of them may have to wake the thread. */
function recordedText({ id, recorded = [] }: types.ProgramThread): string {
  if (recorded.length === 0) return "who would wake it is not known";
  return recorded.map(({ slot, thread }) => `${recordedName(thread, id)} is recorded as ${slot} there`).join(", ");
}

function recordedName(thread: number, own: number): string {
  if (thread === own) return "this thread itself";
  return thread === 0 ? "a thread that has ended" : `thread ${thread}`;
}

/** That a thread waits for another one: for what that holds, or, if `slot` is there, because the lock it waits at records that in the slot. */
interface Wait {
  readonly from: types.ProgramThread;
  readonly to: number;
  readonly slot?: string;
}

function waitsOf(thread: types.ProgramThread): readonly Wait[] {
  const { state, holder, recorded = [], id } = thread;
  if (state === "mutex" || state === "join") return holder === undefined ? [] : [{ from: thread, to: holder }];
  if (state !== "queue" && state !== "semaphore") return [];
  return recorded.flatMap(({ slot, thread: to }) => (to === 0 || to === id ? [] : [{ from: thread, to, slot }]));
}

/**
 * Circles of threads in which each waits for the next one, some of them at a lock of the program's own that records the next. They are
 * deadlocks if the recorded thread has to wake the others, which only the program knows.
 */
export function possibleDeadlocks(threads: readonly types.ProgramThread[]): string[] {
  const waits = new Map(threads.map((thread) => [thread.id, waitsOf(thread)]));
  const told = new Set<number>();
  return threads.flatMap(({ id }) => {
    const circle = told.has(id) ? undefined : circleFrom(id, waits);
    if (circle?.some(({ slot }) => slot !== undefined) !== true) return [];
    for (const { from } of circle) told.add(from.id);
    return [`Possible deadlock: ${circle.map(linkText).join("; ")}.`];
  });
}

/** The shortest way from a thread through those that it waits for back to it. */
function circleFrom(start: number, waits: ReadonlyMap<number, readonly Wait[]>): readonly Wait[] | undefined {
  const seen = new Set<number>();
  let paths: (readonly Wait[])[] = [[]];
  while (paths.length > 0) {
    const longer = paths.flatMap((path) =>
      (waits.get(path.at(-1)?.to ?? start) ?? []).filter(({ to }) => !seen.has(to)).map((wait) => [...path, wait]),
    );
    const circle = longer.find((path) => path.at(-1)?.to === start);
    if (circle !== undefined) return circle;
    paths = longer.filter((path) => {
      const to = path.at(-1)?.to ?? start;
      const isNew = !seen.has(to);
      seen.add(to);
      return isNew;
    });
  }
  return undefined;
}

function linkText({ from, to, slot }: Wait): string {
  const text = `thread ${from.id} is ${waitText({ ...from, recorded: [] }).replace(/; .*/, "")}`;
  return slot === undefined ? text : `${text}, where thread ${to} is recorded as ${slot}`;
}
