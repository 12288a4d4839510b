import { checkId, checkNumber, checkOptions, checkText, type OptionNames } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "../base/question-options.js";
import { type Breakpoint, type HitElsewhere, hitElsewhere, type NewBreakpoint } from "../calls/breakpoint.js";
import { listBreakpoints } from "../calls/list-breakpoints.js";
import { removeBreakpoint } from "../calls/remove-breakpoint.js";
import { type BreakpointConditions, checkBreakpoint, setBreakpoint } from "../calls/set-breakpoint.js";
import { decodedIfKnown } from "../lisp/decoders.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import type { WriteStringMessage } from "../protocol/wire/messages.js";

/** When a breakpoint stops, or what it prints instead, and how to cancel the request. */
export interface BreakpointOptions extends QuestionOptions, BreakpointConditions {}

const BREAKPOINT_OPTIONS: OptionNames<BreakpointOptions> = {
  ...QUESTION_OPTIONS,
  condition: true,
  log: true,
  hitCount: true,
  thread: true,
  package: true,
};

/** The breakpoints of one client. The image removes them when the client disconnects or dies. */
export class Breakpoints {
  readonly #lisp: LispRunner;
  readonly #onHitElsewhere: (hit: HitElsewhere) => void;

  constructor(lisp: LispRunner, onHitElsewhere: (hit: HitElsewhere) => void) {
    this.#onHitElsewhere = onHitElsewhere;
    this.#lisp = lisp;
  }

  /**
   * Sets a breakpoint, which stops calls of a function before its body runs.
   *
   * Threads that serve another client, such as the user's REPL in Emacs, stop in that client's debugger; this client's event `hitElsewhere`
   * reports such stops.
   *
   * @param name - As code in the session's package writes it: `my-app:process`, `(setf name)`, `(method area (circle))`.
   * @throws SwankError `BREAKPOINT_REFUSED` for macros, special operators, undefined names and functions SBCL needs; `INVALID_ARGUMENT`
   */
  async set(name: string, options: BreakpointOptions = {}): Promise<NewBreakpoint> {
    checkOptions("breakpoints.set", options, BREAKPOINT_OPTIONS);
    checkText("name", name);
    const { condition = "T", log = "NIL", hitCount = 1, thread, package: packageName = "" } = options;
    checkText("condition", condition);
    checkText("log", log);
    checkText("package", packageName);
    checkNumber("hitCount", hitCount, "a whole number from 1", Number.isSafeInteger(hitCount) && hitCount >= 1);
    if (thread !== undefined && thread !== "any") checkId("thread", thread);
    return this.#lisp.with({ signal: options.signal }).run(setBreakpoint, name, options);
  }

  /**
   * Checks whether a breakpoint can be set on the function `name`, without setting one.
   *
   * @throws SwankError `BREAKPOINT_REFUSED` as `set`; `INVALID_ARGUMENT`
   */
  async check(name: string, options: QuestionOptions & Pick<BreakpointOptions, "package"> = {}): Promise<void> {
    checkOptions("breakpoints.check", options, { ...QUESTION_OPTIONS, package: true });
    checkText("name", name);
    await this.#lisp.with({ signal: options.signal }).run(checkBreakpoint, name, options.package);
  }

  /** Lists this client's breakpoints in the order in which they were set. */
  async list(options: QuestionOptions = {}): Promise<readonly Breakpoint[]> {
    checkOptions("breakpoints.list", options, QUESTION_OPTIONS);
    return this.#lisp.with({ signal: options.signal }).run(listBreakpoints);
  }

  /**
   * Removes a breakpoint.
   *
   * @throws SwankError `NO_SUCH_BREAKPOINT`, `INVALID_ARGUMENT`
   */
  async remove(id: number, options: QuestionOptions = {}): Promise<void> {
    checkOptions("breakpoints.remove", options, QUESTION_OPTIONS);
    checkId("id", id);
    const removed = await this.#lisp.with({ signal: options.signal }).run(removeBreakpoint, id);
    if (!removed) throw new SwankError("NO_SUCH_BREAKPOINT", `There is no breakpoint ${id}.`);
  }

  /** Reports a message about a hit in another client. @returns false if the message is about something else. */
  receive({ target }: WriteStringMessage): boolean {
    const hit = decodedIfKnown(hitElsewhere, target);
    if (hit !== undefined) this.#onHitElsewhere(hit);
    return hit !== undefined;
  }
}
