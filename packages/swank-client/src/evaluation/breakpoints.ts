import { type Decoded, type Decoder, decode, NIL, T } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, type OptionsOf, type QuestionOptions, question } from "../base/options.js";
import { decodedIfKnown, keywordForms, keywordOf, lispFunction, nothing } from "../runtime/function.js";
import { type LispRunner, questionsTo } from "../runtime/runner.js";
import type { WriteStringMessage } from "../wire/messages.js";
import { stopOwner } from "./report.js";

const { boolean, from, integer, keywordName, list, map, nullable, oneOf, plist, string, tagged, tuple } = decode;

/** Milliseconds that the image has to answer. */
const BREAKPOINT_TIME = 10_000;

const breakpointOptions = {
  ...question,
  /**
   * Lisp code; the breakpoint stops if it is true. Default: always stop. The code can use the function's parameters by their names, and the
   * argument list as `args`. A parameter without an argument has its default if that is a constant, else NIL.
   */
  condition: check.text,
  /** Lisp code with the same variables. Its value is printed to the evaluation's standard output, with the caller, instead of stopping. */
  log: check.text,
  /** Number of the first matching call that stops, from 1; every later one stops, too. Default: 1. */
  hitCount: check.count(1),
  /** Swank's id of a thread, or `any`. Default: this client's evaluations. */
  thread: check.either(check.choice(["any"]), check.id),
  /** The package in which the name and the condition are read. Default: the session's. */
  package: check.text,
};

/** When a breakpoint stops, or what it prints instead, and how to cancel the request. */
export interface BreakpointOptions extends OptionsOf<typeof breakpointOptions> {}

const breakpointFields = plist({
  id: integer,
  /** The function's name with its package, or the method. */
  function: string,
  /** Lisp code; the breakpoint stops if it is true. It can use the function's parameters, and the argument list as `args`. */
  condition: nullable(string),
  /** Lisp code with the same variables, whose value is printed instead of stopping. */
  log: nullable(string),
  /** Number of the first matching call that stops, from 1; `undefined` means 1. */
  hitCount: nullable(integer),
  /** Swank's id of the thread that it stops, or `any`; `undefined` for this client's evaluations. */
  thread: nullable(
    oneOf(
      integer,
      map(keywordName, () => "any" as const),
    ),
  ),
  /** Matching calls so far. */
  hits: integer,
  lost: boolean,
  /** The error that the condition signalled. */
  failure: nullable(string),
  /** What `log` printed outside running evaluations of this client: the last 20 lines. */
  lines: list(string),
});

/** A breakpoint on a function. */
export interface Breakpoint extends Omit<Decoded<typeof breakpointFields>, "lost"> {
  /**
   * `failed`: its condition signalled an error, which was reported once; the breakpoint no longer stops anything. `lost`: its function has
   * since been undefined, or replaced other than by a definition.
   */
  readonly state: "armed" | "failed" | "lost";
}

/** Decodes a plist of lisp/debug/breakpoints.lisp. */
const breakpoint: Decoder<Breakpoint> = map(breakpointFields, ({ lost, ...rest }) => ({
  ...rest,
  state: lost ? "lost" : rest.failure === undefined ? "armed" : "failed",
}));

/** A breakpoint that was set. */
export interface NewBreakpoint extends Breakpoint {
  /** Says which calls the breakpoint cannot see; `undefined` if it sees all. */
  readonly warning: string | undefined;
}

const hit = plist({
  /** The breakpoint's id. */
  breakpoint: integer,
  /** Name of the breakpoint's function. */
  function: string,
  /** Swank's id of the thread. */
  thread: integer,
  threadName: from("name", string),
  owner: stopOwner,
});

/** A thread of another client that stopped at a breakpoint of this one, in that other client's debugger. */
export interface HitElsewhere extends Decoded<typeof hit> {}

/** `(:hit PLIST)`, the target of a message of lisp/debug/breakpoints.lisp. */
const hitElsewhere = tagged({ hit: map(tuple(hit), ([found]): HitElsewhere => found) });

/** Lists the client's breakpoints in the order in which they were set (lisp/debug/breakpoints.lisp). */
const listBreakpoints = lispFunction({
  name: "list-breakpoints",
  module: "debug",
  decode: list(breakpoint),
  timeout: BREAKPOINT_TIME,
  label: () => "listing breakpoints",
});

/** Removes one of the client's breakpoints; false if there is none with that id (lisp/debug/breakpoints.lisp). */
const removeBreakpoint = lispFunction({
  name: "remove-breakpoint",
  module: "debug",
  encode: (id: number) => [id],
  decode: boolean,
  timeout: BREAKPOINT_TIME,
  label: () => "removing a breakpoint",
});

/** `(:set PLIST WARNING)` */
const newBreakpoint = tagged({
  set: map(tuple(breakpoint, nullable(string)), ([set, warning]): NewBreakpoint => ({ ...set, warning })),
});

const REMEDIES = {
  name: "Name one function, as code writes it: my-app:process, (setf name) or (method name (class)).",
  undefined: "Define the function first, or write its package, as in my-app:process.",
  macro: "Set the breakpoint on a function that its expansion calls.",
  "used-by-lisp": "Set the breakpoint on a function of the program that calls it.",
  code: "Correct the code: it must compile, as (> (first args) 3) does. args is the argument list, and parameters have their names.",
} as const;

const KINDS = ["name", "undefined", "macro", "used-by-lisp", "code"] as const satisfies (keyof typeof REMEDIES)[];

function refused(name: string, reason: string, kind: keyof typeof REMEDIES): SwankError {
  return new SwankError("BREAKPOINT_REFUSED", `${name}: ${reason}`, { remedy: REMEDIES[kind] });
}

const refusals = {
  refused: (name: string) => map(tuple(string, keywordOf(KINDS)), ([reason, kind]) => refused(name, reason, kind)),
};

/** Checks whether a breakpoint can be set on a function. */
const checkBreakpoint = lispFunction({
  name: "check-breakpoint",
  module: "debug",
  encode: (name: string, home: string | undefined) => [name, home ?? NIL],
  decode: tagged({ breakable: nothing(() => undefined) }),
  refusals,
  timeout: BREAKPOINT_TIME,
  label: () => "checking a breakpoint",
});

/** Sets a breakpoint on a function (lisp/debug/breakpoints.lisp). */
const setBreakpoint = lispFunction({
  name: "set-breakpoint",
  module: "debug",
  encode: (name: string, { condition, log, hitCount, thread, package: home }: BreakpointOptions) => [
    name,
    ...keywordForms({ condition, log, from: hitCount, package: home, thread: thread === "any" ? T : thread }),
  ],
  decode: newBreakpoint,
  refusals,
  timeout: BREAKPOINT_TIME,
  label: () => "setting a breakpoint",
});

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
    return questionsTo(this.#lisp, "breakpoints.set", options, breakpointOptions).run(
      setBreakpoint,
      check.text("name", name),
      options,
    );
  }

  /**
   * Checks whether a breakpoint can be set on the function `name`, without setting one.
   *
   * @throws SwankError `BREAKPOINT_REFUSED` as `set`; `INVALID_ARGUMENT`
   */
  async check(name: string, options: QuestionOptions & Pick<BreakpointOptions, "package"> = {}): Promise<void> {
    const lisp = questionsTo(this.#lisp, "breakpoints.check", options, { ...question, package: check.text });
    await lisp.run(checkBreakpoint, check.text("name", name), options.package);
  }

  /** Lists this client's breakpoints in the order in which they were set. */
  async list(options: QuestionOptions = {}): Promise<readonly Breakpoint[]> {
    return questionsTo(this.#lisp, "breakpoints.list", options, question).run(listBreakpoints);
  }

  /**
   * Removes a breakpoint.
   *
   * @throws SwankError `NO_SUCH_BREAKPOINT`, `INVALID_ARGUMENT`
   */
  async remove(id: number, options: QuestionOptions = {}): Promise<void> {
    const lisp = questionsTo(this.#lisp, "breakpoints.remove", options, question);
    const isRemoved = await lisp.run(removeBreakpoint, check.id("id", id));
    if (!isRemoved) throw new SwankError("NO_SUCH_BREAKPOINT", `There is no breakpoint ${id}.`);
  }

  /** Reports a message about a hit in another client. @returns false if the message is about something else. */
  receive({ target }: WriteStringMessage): boolean {
    const hit = decodedIfKnown(hitElsewhere, target);
    if (hit !== undefined) this.#onHitElsewhere(hit);
    return hit !== undefined;
  }
}
