import { NIL, type Sexp } from "sexp-parser";
import type { Listeners } from "../call-listener.js";
import type { Caller } from "../caller.js";
import { checkId } from "../check-index.js";
import { checkOptions, checkText, type OptionNames } from "../check-options.js";
import { decodeValue } from "../decode-value.js";
import { SwankError } from "../errors.js";
import { QUESTION_OPTIONS, type QuestionOptions } from "../question-options.js";
import type { DebuggerCalls } from "../runtime/debugger-calls.js";
import { breakpointReply, breakpoints, hitElsewhere } from "../runtime/decode-breakpoints.js";
import type { RuntimeInstaller } from "../runtime/installer.js";
import { unlessOther } from "../runtime/unless-other.js";
import type { WriteStringMessage } from "../wire/messages.js";
import type { Breakpoint, BreakpointOptions, HitElsewhere, NewBreakpoint } from "./breakpoint.js";

/** Milliseconds that the image has to answer. */
const ANSWER_TIME = 10_000;

const BREAKPOINT_OPTIONS: OptionNames<BreakpointOptions> = {
  ...QUESTION_OPTIONS,
  condition: true,
  hitCount: true,
  thread: true,
  package: true,
};

/** The breakpoints of one client. They go with it, also when it dies. */
export class Breakpoints {
  readonly #caller: Caller;
  readonly #installer: RuntimeInstaller;
  readonly #hitListeners: Listeners<HitElsewhere>;

  constructor(caller: Caller, installer: RuntimeInstaller, hitListeners: Listeners<HitElsewhere>) {
    this.#hitListeners = hitListeners;
    this.#caller = caller;
    this.#installer = installer;
  }

  /**
   * Stops at calls of a function, before it begins. Threads that work for another client, such as the user's REPL in Emacs, stop in that
   * client's debugger: `onHitElsewhere` reports it.
   *
   * @param name - As code in the session's package would write it: `my-app:process`, `(setf name)`, `(method area (circle))`.
   * @throws SwankError `BREAKPOINT_REFUSED` for macros, special operators, undefined names and what Lisp itself needs; `INVALID_ARGUMENT`
   */
  async set(name: string, options: BreakpointOptions = {}): Promise<NewBreakpoint> {
    checkOptions("breakpoints.set", options, BREAKPOINT_OPTIONS);
    checkText("name", name);
    const { hitCount, thread } = options;
    checkHitCount(hitCount);
    if (thread !== undefined && thread !== "any") checkId("thread", thread);
    const label = "setting a breakpoint";
    const answer = await this.#ask(label, (calls) => calls.setBreakpoint(name, options), options);
    const reply = decodeValue(breakpointReply, answer, label);
    if (reply.kind === "refused") throw new SwankError("BREAKPOINT_REFUSED", `${name}: ${reply.reason}`);
    return { ...reply.breakpoint, warning: reply.warning };
  }

  /** This client's breakpoints, in the order in which they were set. */
  async list(options: QuestionOptions = {}): Promise<readonly Breakpoint[]> {
    checkOptions("breakpoints.list", options, QUESTION_OPTIONS);
    const label = "listing breakpoints";
    return decodeValue(breakpoints, await this.#ask(label, (calls) => calls.listBreakpoints(), options), label);
  }

  /** @throws SwankError `NO_SUCH_BREAKPOINT`, `INVALID_ARGUMENT` */
  async remove(id: number, options: QuestionOptions = {}): Promise<void> {
    checkOptions("breakpoints.remove", options, QUESTION_OPTIONS);
    checkId("id", id);
    const removed = await this.#ask("removing a breakpoint", (calls) => calls.removeBreakpoint(id), options);
    if (removed === NIL) throw new SwankError("NO_SUCH_BREAKPOINT", `There is no breakpoint ${id}.`);
  }

  /**
   * Calls `listener` when a thread of another client stops at a breakpoint of this one.
   *
   * @returns A function that ends this.
   */
  onHitElsewhere(listener: (hit: HitElsewhere) => void): () => void {
    return this.#hitListeners.add(listener);
  }

  /** Takes in a message that may tell of such a hit. @returns false if it does not. */
  receive({ target }: WriteStringMessage): boolean {
    const hit = unlessOther(hitElsewhere, target);
    if (hit !== undefined) this.#hitListeners.tell(hit);
    return hit !== undefined;
  }

  #ask(label: string, form: (calls: DebuggerCalls) => Sexp, { signal }: QuestionOptions): Promise<Sexp> {
    return this.#caller.ask(this.#installer.debugger(), form, { label, timeout: ANSWER_TIME, signal });
  }
}

function checkHitCount(hitCount: number | undefined): void {
  if (hitCount === undefined || (Number.isSafeInteger(hitCount) && hitCount >= 1)) return;
  throw new SwankError("INVALID_ARGUMENT", `hitCount is a whole number from 1, not ${hitCount}.`);
}
