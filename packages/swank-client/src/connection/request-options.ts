import { checkOptions, type OptionNames } from "../check-options.js";
import { SwankError } from "../errors.js";
import type { RequestThread } from "../wire/encode-message.js";
import { runsWhenRead } from "./runs-when-read.js";

/** How to send one request. */
export interface RequestOptions {
  /** Names the operation in error messages, e.g. `swank:backtrace`. */
  readonly label: string;
  /** Name of the package in which it runs; the image's global one by default. */
  readonly package?: string | undefined;
  /** Default `t`, a thread of its own. */
  readonly thread?: RequestThread | undefined;
  /**
   * Milliseconds to wait for the reply. Only the wait ends with it: the request itself may go on in Lisp.
   *
   * By default a request to a thread of its own waits for ever, and one to a numbered thread for the connection's `threadTimeout`, because
   * Swank up to 2.27 swallows what is sent to a thread that has ended.
   */
  readonly timeout?: number | undefined;
  /** Ends the wait when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** An id taken from `nextId()`, for callers who must know it before they send. */
  readonly id?: number | undefined;
}

const REQUEST_OPTIONS: OptionNames<RequestOptions> = {
  label: true,
  package: true,
  thread: true,
  timeout: true,
  signal: true,
  id: true,
};

/** The longest that a timer of this platform can wait. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/**
 * Checks what could harm the connection or never end.
 *
 * @throws SwankError `INVALID_ARGUMENT`
 */
export function checkRequestOptions(options: RequestOptions): void {
  checkOptions("A request", options, REQUEST_OPTIONS);
  const { label, thread, timeout, id, package: packageName } = options;
  const refuse = (problem: string): never => {
    throw new SwankError("INVALID_ARGUMENT", `${label}: ${problem}`);
  };
  if (typeof packageName !== "string" && packageName !== undefined) refuse("The package is given by its name.");
  if (packageName !== undefined && runsWhenRead(packageName)) refuse(`${packageName} is not the name of a package.`);
  // Swank closes the connection when a request names any other kind of thread.
  if (!(thread === undefined || thread === "t" || thread === "repl-thread" || Number.isSafeInteger(thread))) {
    refuse(`A thread is "t", "repl-thread" or an integer, not ${String(thread)}.`);
  }
  if (timeout !== undefined) checkTimeout(timeout, refuse);
  if (id !== undefined && !Number.isSafeInteger(id)) refuse(`A request's id is an integer, not ${String(id)}.`);
}

function checkTimeout(timeout: number, refuse: (problem: string) => never): void {
  if (timeout === Number.POSITIVE_INFINITY) return;
  if (!(timeout > 0 && timeout <= LONGEST_TIMEOUT)) {
    refuse(`A timeout is a number of milliseconds from 1 to ${LONGEST_TIMEOUT}, or Infinity, not ${String(timeout)}.`);
  }
}
