import type { types } from "swank-client";

/** What a thread does or waits for. */
export function waitText({ state, what, holder, descriptor }: types.ProgramThread): string {
  const named = what === undefined ? "" : ` ${what}`;
  const file = descriptor === undefined ? "" : ` file descriptor ${descriptor}`;
  switch (state) {
    case "mutex":
      return `waiting for${named}${holder === undefined ? "; who holds it is not known" : ` held by ${holder}`}`;
    case "join":
      return `waiting for the end of ${holder ?? "a thread"}`;
    case "queue":
      return `waiting on a condition variable or semaphore${named}; who would wake it is not known`;
    case "semaphore":
      return `waiting for${named}; who would signal it is not known`;
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
