import { SwankError } from "./errors.js";

/**
 * What a client can do in an image.
 *
 * - `evaluate`: evaluate code, with its output apart from its values, and load files.
 * - `restarts`, `frames`, `locals`, `eval-in-frame`, `restart-frame`, `return-from-frame`, `stepping`: what can be done at a stop.
 * - `interrupt`: stop running code in the debugger.
 * - `xref`: find what refers to a name.
 * - `describe`, `completion`: describe names, find them, and expand macros.
 * - `inspect`: look into objects.
 * - `compile-notes`: what the compiler says of code.
 * - `threads`: list threads; without it, the image serves one request at a time.
 * - `runtime`: everything else, for which SBCL's runtime is needed: breakpoints, traces, profiles, the heap, source, tests, changes.
 */
export const ABILITIES = [
  "evaluate",
  "restarts",
  "frames",
  "locals",
  "eval-in-frame",
  "restart-frame",
  "return-from-frame",
  "stepping",
  "interrupt",
  "xref",
  "describe",
  "completion",
  "inspect",
  "compile-notes",
  "threads",
  "runtime",
] as const;

/** One of `ABILITIES`. */
export type Ability = (typeof ABILITIES)[number];

/** The runtime that an image gets: SBCL's, for Swank or Slynk, or the one in plain Common Lisp, which has less. */
export type RuntimeKind = "sbcl" | "sbcl-slynk" | "portable";

/** A server that clients connect to: SLIME's, or SLY's. */
export type ServerName = "swank" | "slynk";

const SBCL_KINDS = { swank: "sbcl", slynk: "sbcl-slynk" } as const;

/**
 * What the Swank backends of Lisps other than SBCL can do with the portable runtime (swank/ecl.lisp, swank/abcl.lisp, swank/clisp.lisp and
 * swank/ccl.lisp; ECL, ABCL and CLISP are tested). All others, such as LispWorks and Allegro, have `LEAST`.
 */
const PORTABLE: Readonly<Record<string, readonly Ability[]>> = {
  ECL: [
    "evaluate",
    "restarts",
    "frames",
    "locals",
    "eval-in-frame",
    "interrupt",
    "describe",
    "completion",
    "compile-notes",
    "threads",
  ],
  // The variables of a frame are its arguments.
  "Armed Bear Common Lisp": [
    "evaluate",
    "restarts",
    "frames",
    "locals",
    "interrupt",
    "describe",
    "completion",
    "compile-notes",
    "threads",
  ],
  CLISP: ["evaluate", "restarts", "frames", "locals", "eval-in-frame", "describe", "completion", "compile-notes"],
  "Clozure Common Lisp": [
    "evaluate",
    "restarts",
    "frames",
    "locals",
    "eval-in-frame",
    "restart-frame",
    "return-from-frame",
    "interrupt",
    "describe",
    "completion",
    "compile-notes",
    "threads",
  ],
};

/** What every Swank can do. */
const LEAST: readonly Ability[] = ["evaluate", "restarts", "frames", "describe", "completion", "compile-notes"];

/** What only an image with a thread for each request can do. */
const WITH_THREADS: readonly Ability[] = ["threads", "interrupt"];

/** What an image of another Lisp than SBCL can do. Lisps in which nothing was tried are taken to interrupt their threads. */
function portableAbilities(type: string, style: string | undefined): readonly Ability[] {
  const all = PORTABLE[type] ?? [...LEAST, ...WITH_THREADS];
  return style === "spawn" ? all : all.filter((ability) => !WITH_THREADS.includes(ability));
}

/** What no failure shows to be missing: every Swank can do it, or the handshake has told. */
const NEVER_LOST: readonly Ability[] = ["evaluate", "restarts", "interrupt", "threads"];

/** What an image can do. A feature that turns out to be missing is removed. */
export class Abilities {
  /** E.g. `ECL 21.2.1`. */
  readonly implementation: string;
  /** The server that the client is connected to: SLIME's Swank, or SLY's Slynk. */
  readonly server: ServerName;
  /** The runtime that the image gets. */
  readonly kind: RuntimeKind;
  /** True for an image without threads, which serves one request at a time. */
  readonly isSerial: boolean;
  readonly #has: Set<Ability>;

  /**
   * @param style - The communication style of its server.
   * @param server - SLIME's server, or SLY's.
   */
  constructor(type: string, version: string, style: string | undefined, server: ServerName = "swank") {
    // CLISP adds where and when it was built.
    this.implementation = `${type} ${version.split(" ", 1)[0]}`;
    this.server = server;
    this.kind = type === "SBCL" ? SBCL_KINDS[server] : "portable";
    this.#has = new Set(this.kind === "portable" ? portableAbilities(type, style) : ABILITIES);
    this.isSerial = !this.#has.has("threads");
  }

  /** True if the image can do this, as far as is known. */
  has(ability: Ability): boolean {
    return this.#has.has(ability);
  }

  /** In the order of `ABILITIES`. */
  get missing(): readonly Ability[] {
    return ABILITIES.filter((ability) => !this.#has.has(ability));
  }

  /** The image has shown that it cannot do this. @returns false for what cannot be lost */
  lose(ability: Ability): boolean {
    if (NEVER_LOST.includes(ability)) return false;
    this.#has.delete(ability);
    return true;
  }

  /** The error for an operation that needs the ability. */
  refusal(ability: Ability, label: string): SwankError {
    return notSupported(ability, label, this.implementation);
  }

  /** @throws SwankError `NOT_SUPPORTED` */
  require(ability: Ability, label: string): void {
    if (this.has(ability)) return;
    throw this.refusal(ability, label);
  }
}

/** What works instead of a missing ability. */
const INSTEAD: Readonly<Record<Ability, string>> = {
  evaluate: "Connect to an image of SBCL.",
  restarts: "End the Lisp, and start it again.",
  frames: "Read the condition, and evaluate the parts of the code one by one.",
  locals: "Print the variables in the code, or evaluate the expressions with their values.",
  "eval-in-frame": "Evaluate the code apart, with the values that the frames show.",
  "restart-frame": "Abort the stop, and evaluate the call again.",
  "return-from-frame": "Choose a restart that takes a value, such as USE-VALUE, or abort the stop.",
  stepping: "Evaluate the function's forms one by one.",
  interrupt: "Give the evaluation a shorter timeout, or end the Lisp.",
  xref: "Search the program's files for the name.",
  describe: "Evaluate (describe 'name), or (macroexpand-1 'form).",
  completion: 'Evaluate (apropos "part-of-the-name").',
  inspect: "Evaluate code that takes the object apart, such as (describe object).",
  "compile-notes": 'Evaluate the code, or (compile-file "file"), and read the warnings.',
  threads: "Evaluate code that lists them as this Lisp does.",
  runtime: "Evaluate code that does it, as far as this Lisp can, or use SBCL.",
};

/** The error for a call of a server's function that the server, or this Lisp's part of it, does not have. */
export function lacksFunction(
  label: string,
  operation: string,
  { image, why, instead }: { readonly image: string; readonly why: string; readonly instead?: string | undefined },
): SwankError {
  return new SwankError("NOT_SUPPORTED", `${label}: ${image} ${why}.`, {
    remedy: instead ?? "Evaluate code that does it, as far as this Lisp can.",
    details: { operation, implementation: image },
  });
}

function notSupported(ability: Ability, label: string, implementation: string): SwankError {
  return new SwankError("NOT_SUPPORTED", `${label}: ${implementation} cannot do this (${ability}).`, {
    remedy: INSTEAD[ability],
    details: { ability, implementation },
  });
}
