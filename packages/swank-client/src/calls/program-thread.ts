import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";
import { type StopOwner, stopOwner } from "./stop-owner.js";

/**
 * Whose code a thread runs.
 *
 * - `evaluation`: an evaluation of this client.
 * - `code`: code that this client's evaluations started in a thread.
 * - `client`: code of another client; `owner` describes it.
 * - `service`: none; it serves clients, or belongs to Lisp.
 * - `program`: code of the program.
 */
export const THREAD_OWNERS = ["evaluation", "code", "client", "service", "program"] as const;

/**
 * What a thread does or waits for; for one that is stopped in a debugger, what it waited for. Only on Linux and x86-64 are all known.
 *
 * - `mutex`: waits for the mutex `what`, which the thread `holder` holds.
 * - `join`: waits for the end of the thread `holder`.
 * - `queue`: waits for the condition variable or semaphore whose name is `what`.
 * - `semaphore`: was interrupted while it waited for the semaphore `what`.
 * - `lock`, `c-lock`: waits for another lock of Lisp, or for one of the C library.
 * - `read`, `write`, `accept`: waits for input, output or a connection of the file descriptor `descriptor`.
 * - `input`: waits for one of several file descriptors.
 * - `sleep`, `process`: sleeps, or waits for a process.
 * - `memory`, `other`: is in a system call.
 * - `stopped`: is stopped in a debugger, and waited for nothing known.
 * - `running`: computes, or is ready to.
 * - `unknown`: not known on this system.
 */
export const THREAD_STATES = [
  "mutex",
  "join",
  "queue",
  "semaphore",
  "lock",
  "c-lock",
  "read",
  "write",
  "accept",
  "input",
  "sleep",
  "process",
  "memory",
  "other",
  "stopped",
  "running",
  "unknown",
] as const;

/**
 * Why no frames of a thread were read.
 *
 * - `stopped`: it is in a debugger, which shows its frames.
 * - `service`: it serves clients, or belongs to Lisp.
 * - `without-interrupts`: it allows no interrupts now.
 * - `compiling`, `world-lock`: it holds Lisp's lock on classes and the compiler, or waits for it.
 * - `timed-wait`: an interrupt could end its wait early.
 * - `foreign`: it is in C code, which may hold locks.
 * - `silent`: it did not answer in time.
 * - `failed`: its stack could not be read.
 * - `late`: reading the stacks of other threads took all the time.
 */
export const UNREAD_REASONS = [
  "stopped",
  "service",
  "without-interrupts",
  "compiling",
  "world-lock",
  "timed-wait",
  "foreign",
  "silent",
  "failed",
  "late",
] as const;

/** A thread of the image, and what it waits for. */
export interface ProgramThread {
  /** Swank's id. */
  readonly id: number;
  readonly name: string;
  readonly whose: (typeof THREAD_OWNERS)[number];
  /** The other client, if the thread runs code of one. */
  readonly owner?: StopOwner | undefined;
  /** The id of the evaluation that it runs, if that is this client's. */
  readonly evaluation?: number | undefined;
  /** The level in a debugger, 0 outside. */
  readonly level: number;
  readonly state: (typeof THREAD_STATES)[number];
  /** E.g. `MUTEX "b"`. */
  readonly what?: string | undefined;
  readonly holder?: number | undefined;
  readonly descriptor?: number | undefined;
  /** Whole seconds since its evaluation has begun, if it runs one. How long a thread has been waiting is not recorded anywhere. */
  readonly seconds?: number | undefined;
  /** Names of the functions in its innermost frames, if they were wanted and could be read. */
  readonly frames?: readonly string[] | undefined;
  readonly unread?: (typeof UNREAD_REASONS)[number] | undefined;
}

/** The threads of an image. */
export interface ProgramThreads {
  /** The first 500, without the one that lists them. */
  readonly threads: readonly ProgramThread[];
  readonly count: number;
  /** Cycles of threads that wait for each other, e.g. `DEADLOCK: 7 waits for MUTEX "b" held by 9, 9 waits for MUTEX "a" held by 7`. */
  readonly deadlocks: readonly string[];
}

const { integer, list, optional, plist, string } = decode;

const programThread: Decoder<ProgramThread> = plist({
  id: integer,
  name: string,
  whose: keywordOf(THREAD_OWNERS),
  owner: optional(stopOwner),
  evaluation: optional(integer),
  level: integer,
  state: keywordOf(THREAD_STATES),
  what: optional(string),
  holder: optional(integer),
  descriptor: optional(integer),
  seconds: optional(integer),
  frames: optional(list(string)),
  unread: optional(keywordOf(UNREAD_REASONS)),
});

/** Decodes the reply of `list-threads` (lisp/program/list-threads.lisp). */
export const programThreads: Decoder<ProgramThreads> = plist({
  threads: list(programThread),
  count: integer,
  deadlocks: list(string),
});
