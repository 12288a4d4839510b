import { type Decoded, decode, keyword, list as listForm, quote, symbol } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, type OptionsOf, question } from "../base/options.js";
import { stopOwner } from "../evaluation/report.js";
import { keywordForms, keywordOf, lispFunction, nothing, type Refusals } from "../runtime/function.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";

const { boolean, integer, list, map, optional, plist, record, string, tagged, tuple } = decode;

/** Most frames of each thread. */
const MOST_FRAMES = 30;

const threadsOptions = {
  ...question,
  /** Only the thread with Swank's id. */
  id: check.id,
  /** A part of their names, in upper or lower case. Default: all threads. */
  name: check.text,
  /** Number of innermost frames to read of each thread, at most 30. Default: 0, so that no thread is interrupted. */
  frames: check.count(0, MOST_FRAMES),
};

/** Which threads to list, and how. */
export interface ThreadsOptions extends OptionsOf<typeof threadsOptions> {}

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
 * - `queue`: waits for the condition variable whose name is `what`, or for a semaphore that could not be found.
 * - `semaphore`: waits for the semaphore `what`.
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

const namedThread = record({
  /** The name of the slot. */
  slot: string,
  /** The id of the thread that it holds, 0 if that has ended. */
  thread: integer,
});

/** A thread that an object names in a slot. */
export interface NamedThread extends Decoded<typeof namedThread> {}

const programThread = plist({
  /** Swank's id. */
  id: integer,
  name: string,
  whose: keywordOf(THREAD_OWNERS),
  /** The other client, if the thread runs code of one. */
  owner: optional(stopOwner),
  /** The id of the evaluation that it runs, if that is this client's. */
  evaluation: optional(integer),
  /** The level in a debugger, 0 outside. */
  level: integer,
  state: keywordOf(THREAD_STATES),
  /** E.g. `MUTEX "b"`. */
  what: optional(string),
  holder: optional(integer),
  /**
   * Where the lock or queue is, if it has no name, or if the object that holds it names threads: e.g. `slot CHANGED of APP:GATE (id 12), the value of
   * APP:*GATE*`. Absent where it was not found on the thread's stack or below variables of the program.
   */
  place: optional(string),
  /** The threads that the objects of `place` name in slots, of a thread that waits for a condition variable or semaphore. */
  recorded: optional(list<NamedThread>(namedThread)),
  descriptor: optional(integer),
  /** Whole seconds since its evaluation has begun, if it runs one. How long a thread has been waiting is not recorded anywhere. */
  seconds: optional(integer),
  /** Names of the functions in its innermost frames, if they were wanted and could be read. */
  frames: optional(list(string)),
  /** The program's function among these that is innermost. */
  function: optional(string),
  unread: optional(keywordOf(UNREAD_REASONS)),
});

/** A thread of the image, and what it waits for. */
export interface ProgramThread extends Decoded<typeof programThread> {}

/** Decodes the reply of `list-threads` (lisp/debug/threads.lisp). */
export const programThreads = plist({
  /** The first 500, without the one that lists them. */
  threads: list<ProgramThread>(programThread),
  /** Number of the threads that were asked for, also of those past the first 500. */
  count: integer,
  /** Cycles of threads that wait for each other, e.g. `DEADLOCK: 7 waits for MUTEX "b" held by 9, 9 waits for MUTEX "a" held by 7`. */
  deadlocks: list(string),
});

/** The threads of an image. */
export interface ProgramThreads extends Decoded<typeof programThreads> {}

/** Milliseconds that the image has to describe its threads. */
const LIST_TIME = 20_000;

/** The thread `id`, or the threads whose names contain `name`, with so many frames each (lisp/debug/threads.lisp). */
const threadsOfProgram = lispFunction({
  name: "list-threads",
  ability: "threads",
  module: "debug",
  encode: ({ id, name, frames = 0 }: ThreadsOptions) => keywordForms({ id, name, frames }),
  decode: programThreads,
  timeout: LIST_TIME,
  label: () => "describing threads",
});

/** Lists threads with what they do. */
export async function listThreads(lisp: LispRunner, options: ThreadsOptions): Promise<ProgramThreads> {
  return questionsTo(lisp, "threads", options, threadsOptions).run(threadsOfProgram, options);
}

/** How to end the work of a thread: unwind it to where its request or code began, or end the thread. */
export const THREAD_ENDINGS = ["abort", "kill"] as const;

/**
 * What became of a thread. `running`: it was unwound but still runs, for example its cleanup forms or its next request. `silent`: it did not
 * react, because it allows no interrupts or holds locks of Lisp.
 */
export const THREAD_FATES = ["ended", "running", "silent"] as const;

/** Milliseconds that the image has for it: it waits up to 10 s for a safe moment, and 2 s for cleanup forms. */
const ENDING_TIME = 20_000;

const STOPPING_TIME = 10_000;

/** Why a thread is left alone. */
const REASONS: Readonly<Record<string, readonly [code: "NO_SUCH_THREAD" | "INVALID_ARGUMENT", what: string]>> = {
  gone: ["NO_SUCH_THREAD", "does not exist"],
  service: ["INVALID_ARGUMENT", "serves clients or belongs to Lisp, and is not interrupted"],
  main: ["INVALID_ARGUMENT", "is the main thread: its end would end the image"],
  stopped: ["INVALID_ARGUMENT", "is stopped in a debugger already"],
};

function refusalsOf<Args extends readonly [id: number, ...rest: unknown[]]>(): Refusals<Args> {
  const entries = Object.entries(REASONS).map(([key, [code, what]]) => [
    key,
    (...[id]: Args) => nothing(() => new SwankError(code, `Thread ${id} ${what}.`)),
  ]);
  return Object.fromEntries(entries);
}

/** Stops a thread in the debugger, soon (lisp/debug/threads.lisp). */
export const stopThread = lispFunction({
  name: "stop-thread",
  ability: "interrupt",
  module: "debug",
  encode: (id: number) => [id],
  decode: tagged({ stopping: nothing(() => undefined) }),
  refusals: refusalsOf<[id: number]>(),
  timeout: STOPPING_TIME,
  label: () => "stopping a thread",
});

/** Unwinds or ends a thread when that is safe (lisp/debug/threads.lisp). */
export const endProgramThread = lispFunction({
  name: "end-thread-by",
  module: "debug",
  encode: (id: number, how: (typeof THREAD_ENDINGS)[number]) => [id, keyword(how)],
  decode: tagged({ done: map(tuple(keywordOf(THREAD_FATES)), ([fate]) => fate) }),
  refusals: refusalsOf<[id: number, how: (typeof THREAD_ENDINGS)[number]]>(),
  timeout: ENDING_TIME,
  label: () => "ending a thread",
});

/** Milliseconds that the image has to look for the thread. */
const LOOKUP_TIME = 10_000;

const THREAD_ID = quote(symbol("swank/backend:thread-id"));

/** Whether the image has a thread with this Swank id. Avoids `list-threads`, which replaces the list that other clients index. */
export const hasThread = lispFunction({
  // The protocol cannot send a thread object.
  name: "cl:null",
  encode: (id: number) => [
    listForm(symbol("cl:find"), id, listForm(symbol("swank/backend:all-threads")), keyword("key"), THREAD_ID),
  ],
  decode: map(boolean, (isMissing) => !isMissing),
  timeout: LOOKUP_TIME,
  label: () => "looking for a thread",
});

/** Milliseconds that the image has to count its clients. */
const COUNT_TIME = 3000;

/** Counts the other clients that are connected to the image. */
export const countOtherClients = lispFunction({
  name: "cl:1-",
  encode: () => [listForm(symbol("cl:length"), symbol("swank::*connections*"))],
  decode: integer,
  timeout: COUNT_TIME,
  label: () => "counting clients",
});
