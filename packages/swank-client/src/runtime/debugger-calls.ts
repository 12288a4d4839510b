import { keyword, list, NIL, quote, type Sexp, symbol, T } from "sexp-parser";
import type { BreakpointOptions } from "../debugger/breakpoint.js";
import { lispLimit } from "./lisp-limit.js";
import type { RuntimeModule } from "./runtime-source.js";

/** How to step: to the next call, past it, or out of the function that was stepped into. */
export type StepMode = "into" | "over" | "out";

/** How a question is put to a stop of another client's. */
export interface AskOptions {
  /** Milliseconds that the answer may take. */
  readonly timeout: number;
  /** It can end the stop. */
  readonly mayLeave: boolean;
}

/** The calls that the debugger module understands, as forms to evaluate; all but those about breakpoints in a stopped thread. */
export class DebuggerCalls {
  readonly #packageName: string;

  constructor(module: RuntimeModule) {
    this.#packageName = module.packageName;
  }

  frames(level: number, start: number, end: number): Sexp {
    return list(this.#function("frames"), level, start, end);
  }

  frameLocals(level: number, index: number): Sexp {
    return list(this.#function("frame-locals"), level, index);
  }

  evalInFrame(level: number, index: number, attempt: string, code: string, valueLimit: number | undefined): Sexp {
    const limit = valueLimit === undefined ? [] : [lispLimit(valueLimit)];
    return list(this.#function("eval-in-frame"), level, index, attempt, code, ...limit);
  }

  restartFrame(level: number, index: number): Sexp {
    return list(this.#function("restart-frame"), level, index);
  }

  returnFromFrame(level: number, index: number, attempt: string, code: string): Sexp {
    return list(this.#function("return-from-frame"), level, index, attempt, code);
  }

  continue(level: number): Sexp {
    return list(this.#function("continue-stop"), level);
  }

  step(level: number, mode: StepMode): Sexp {
    return list(this.#function("step-on"), level, keyword(mode));
  }

  setBreakpoint(name: string, { condition, hitCount, thread, package: home }: BreakpointOptions): Sexp {
    const form: Sexp[] = [this.#function("set-breakpoint"), name];
    if (condition !== undefined) form.push(keyword("condition"), condition);
    if (hitCount !== undefined) form.push(keyword("from"), hitCount);
    if (home !== undefined) form.push(keyword("package"), home);
    if (thread !== undefined) form.push(keyword("thread"), thread === "any" ? symbol("cl:t") : thread);
    return form;
  }

  listBreakpoints(): Sexp {
    return list(this.#function("list-breakpoints"));
  }

  removeBreakpoint(id: number): Sexp {
    return list(this.#function("remove-breakpoint"), id);
  }

  /** What is stopped in the debuggers of other clients. */
  foreignStops(): Sexp {
    return list(this.#function("foreign-stops"));
  }

  /** Has the thread of such a stop evaluate a form. */
  askStop(number: number, form: Sexp, { timeout, mayLeave }: AskOptions): Sexp {
    const seconds = Number.isFinite(timeout) ? Math.ceil(timeout / 1000) : NIL;
    return list(this.#function("ask-stop"), number, mayLeave ? T : NIL, seconds, quote(form));
  }

  /** In the thread of such a stop: what is known of it. */
  describeForeignStop(): Sexp {
    return list(this.#function("describe-foreign-stop"));
  }

  #function(name: string): Sexp {
    return symbol(`${this.#packageName}::${name}`);
  }
}
