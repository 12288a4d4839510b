import type { types } from "swank-client";

/** What a thread does or waits for. */
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
