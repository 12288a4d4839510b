import { keyword, list, NIL, quote, type Sexp, symbol, T } from "sexp-parser";
import { lispLimit } from "./lisp-limit.js";
import type { RuntimeModule } from "./runtime-source.js";

/** What `evaluate` of the runtime is called with. */
export interface EvaluateCall {
  readonly code: string;
  /** Known to the client already, so that text and stops can be told apart. */
  readonly id: number;
  readonly package: string | undefined;
  readonly stdin: string | undefined;
  /** Read it all before anything is evaluated, since a scan found it unbalanced. */
  readonly check: boolean;
  /** End with the first error instead of stopping at it. */
  readonly unwind: boolean;
  /** Compile for debugging. */
  readonly debug: boolean;
  /** Characters of each stream to send; of what comes after them only the last `tail`. */
  readonly limit: number;
  readonly tail: number;
  /** Characters of each value to send. Default: as the runtime has it. */
  readonly valueLimit?: number | undefined;
}

/** The calls that the runtime understands, as forms to evaluate. */
export class RuntimeCalls {
  readonly #packageName: string;

  constructor(module: RuntimeModule) {
    this.#packageName = module.packageName;
  }

  evaluate(call: EvaluateCall): Sexp {
    const form: Sexp[] = [this.#function("evaluate"), call.code, keyword("id"), call.id];
    if (call.package !== undefined) form.push(keyword("package"), call.package);
    if (call.stdin !== undefined) form.push(keyword("stdin"), call.stdin);
    if (call.check) form.push(keyword("check"), T);
    if (call.unwind) form.push(keyword("unwind"), T);
    if (!call.debug) form.push(keyword("debug"), NIL);
    form.push(keyword("limit"), lispLimit(call.limit), keyword("tail"), call.tail);
    if (call.valueLimit !== undefined) form.push(keyword("value-limit"), lispLimit(call.valueLimit));
    return form;
  }

  /** In the stopped thread: what is known of its stop. */
  stop(): Sexp {
    return list(this.#function("stop"));
  }

  /** In the stopped thread: a call, unless the thread is at another stop by then; `(:stale)` is the reply instead. */
  atStop(number: number, call: Sexp): Sexp {
    return list(this.#function("at-stop"), number, quote(call));
  }

  /** In the stopped thread: leave the stop. */
  invokeRestart(level: number, index: number, attempt: string, values: readonly string[]): Sexp {
    return list(this.#function("invoke-offered-restart"), level, index, attempt, quote(values));
  }

  /** In the stopped thread: unwind to where its request began. */
  abortStop(): Sexp {
    return list(this.#function("abort-stop"));
  }

  /** Breaks off what a stopped thread evaluates for its client. */
  endAttempt(thread: number, attempt: string): Sexp {
    return list(this.#function("end-attempt"), thread, attempt);
  }

  /** @param count - How many of its interrupts this is, from 1: asking again for the same one is harmless. */
  interrupt(id: number, count: number): Sexp {
    return list(this.#function("interrupt"), id, count);
  }

  /** From now on the client's code cannot end the image. */
  protectImage(): Sexp {
    return list(this.#function("protect-image"));
  }

  abort(id: number): Sexp {
    return list(this.#function("abort-evaluation"), id);
  }

  kill(id: number): Sexp {
    return list(this.#function("kill"), id);
  }

  #function(name: string): Sexp {
    return symbol(`${this.#packageName}::${name}`);
  }
}
