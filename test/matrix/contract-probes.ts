import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import * as z from "zod";
import type { McpDebugger } from "../support/mcp-debugger.js";
import { blocks, refusalType } from "../support/mcp-results.js";
import { normalized } from "../support/normalized.js";
import type { Lab } from "./lab.js";
import { expectMatch, Lacking, type Probe, type Probes } from "./probe.js";

/** The answer to a call, as one text. @throws Lacking if it is a refusal because of what the image lacks */
export function answerText(result: CallToolResult): string {
  const text = blocks(result).join("\n");
  if (refusalType(result) === "NOT_SUPPORTED") throw new Lacking(lacking(text));
  return text;
}

/** The ability that a refusal names, or that an image lacks whose only thread is stopped. */
function lacking(refusal: string): string {
  const ability = / has no threads, /.test(refusal) ? "threads" : /cannot do this \((\S+)\)/.exec(refusal)?.[1];
  return ability ?? expect.fail(`A refusal that names no ability: ${refusal}`);
}

async function asked(lisp: McpDebugger, name: string, args: Record<string, unknown> = {}): Promise<string> {
  return answerText(await lisp.call(name, args));
}

/** The first text of an answer, which is the contract's. */
async function evaluated(lisp: McpDebugger, code: string): Promise<string> {
  const result = await lisp.call("evaluate-lisp", { code });
  answerText(result);
  return blocks(result)[0] ?? "";
}

/** An example whose answer has the implementation's own words, without what varies between runs. */
function inWords(pattern: RegExp, ask: (lisp: McpDebugger, lab: Lab) => Promise<string>): Probe {
  return async (lab) => {
    const text = normalized(expectMatch(await ask(await lab.server(), lab), pattern));
    return text.replaceAll(/(?:#x|0x)[\da-fA-F]{6,}/g, "<address>").replaceAll(/\bLAMBDA\d+/g, "LAMBDA<n>");
  };
}

/** The report of code that fails. */
function report(code: string, pattern: RegExp): Probe {
  return inWords(pattern, (lisp) => evaluated(lisp, code));
}

/** What describe-last-error says of code. */
function lastError(code: string, pattern: RegExp): Probe {
  return inWords(pattern, async (lisp) => {
    await evaluated(lisp, code);
    return asked(lisp, "describe-last-error");
  });
}

function described(args: Record<string, unknown>, pattern: RegExp): Probe {
  return inWords(pattern, (lisp) => asked(lisp, "describe-symbol", args));
}

/** An example whose facts only are compared. */
function facts(check: (lisp: McpDebugger, lab: Lab) => Promise<unknown>): Probe {
  return async (lab) => {
    await check(await lab.server(), lab);
    return undefined;
  };
}

function expectSame(one: string, other: string): void {
  if (one !== other)
    throw new Error(`${JSON.stringify(one.slice(0, 150))} became ${JSON.stringify(other.slice(0, 150))}`);
}

const NO_ERROR = "No error information available.\n(No error has occurred since the last successful evaluation)";

/** The definitions of the debugger's examples. */
const TWICE = "(defun g (x) (* x 2)) (defun f (x) (list (/ x 0) (g x)))";

/** Stops in F, whose argument is 3. */
async function stopInF(lisp: McpDebugger): Promise<number> {
  await evaluated(lisp, TWICE);
  await evaluated(lisp, "(f 3)");
  const { frames } = FRAMES.parse(JSON.parse(await asked(lisp, "debugger_frames", { end: 60 })));
  const ofF = frames.filter((frame) => /^(?:[\w-]+::?)?F$/.test(frame.function));
  // CLISP has the variables in the frames of the forms inside F.
  const best = frames.find(({ locals }) => JSON.stringify(locals).includes('"name":"X"')) ?? ofF[0];
  if (best === undefined) throw new Error(`No frame of F among ${frames.map((frame) => frame.function).join(" ")}`);
  return best.index;
}

const FRAMES = z.object({
  frames: z.array(z.object({ index: z.number(), function: z.string(), locals: z.array(z.unknown()) })),
});

const MY_APP = `(defpackage :my-app (:use :cl)) (defun my-app::process-item (x) x)
(defun my-app::handle-request (x) x) (defun my-app::loop-body (x) x)`;

/** Sets a breakpoint of the contract, lists it and removes it. */
function breakpoint(args: Record<string, unknown>): Probe {
  return facts(async (lisp) => {
    await evaluated(lisp, MY_APP);
    const text = expectMatch(await asked(lisp, "breakpoint_set", args), /"id":\d+/);
    const id = Number(/"id":(\d+)/.exec(text)?.[1]);
    expectMatch(await asked(lisp, "breakpoint_list"), new RegExp(`"id":${id}\\b`));
    await asked(lisp, "breakpoint_remove", { id });
    expectSame(await asked(lisp, "breakpoint_list"), '{"breakpoints":[]}');
  });
}

/** A refusal of the contract: its type and message. */
function refused(name: string, args: Record<string, unknown>, type: string, message: string, code?: string): Probe {
  return facts(async (lisp) => {
    if (code !== undefined) await evaluated(lisp, code);
    const result = await lisp.call(name, args);
    expectMatch(answerText(result), new RegExp(`^${message}`));
    expectSame(String(refusalType(result)), type);
  });
}

/** The code of each condition of the contract, and how its report begins. */
const CONDITIONS: readonly (readonly [name: string, code: string, pattern: RegExp])[] = [
  ["an undefined function", "(foo 42)", /\[ERROR\] UNDEFINED-FUNCTION\n.*\bFOO\b.*\n/],
  ["an unbound variable", "x-without-value", /^\[ERROR\] UNBOUND-VARIABLE\n.*\bX-WITHOUT-VALUE\b.*\n/],
  ["a type error", '(+ 1 "hello")', /^\[ERROR\] \S*TYPE-ERROR\n(?:.*\n)?.*hello.*\n/],
  ["a division by zero", "(/ 1 0)", /^\[ERROR\] DIVISION-BY-ZERO\n.*\n/],
  ["a missing package", '(intern "X" "NONEXISTENT")', /^\[ERROR\] \S*PACKAGE\S*\n.*NONEXISTENT.*\n/],
  ["a memory condition", "(error 'storage-condition)", /^\[ERROR\] STORAGE-CONDITION\n.*\n/],
  ["another serious condition", "(error 'serious-condition)", /^\[ERROR\] SERIOUS-CONDITION\n.*\n/],
];

/** Every example of the contracts, as a call of the server. */
export const CONTRACT_PROBES: Probes = [
  ...CONDITIONS.map(
    ([name, code, pattern]) =>
      [
        `condition-report: ${name}`,
        report(code, new RegExp(`${pattern.source}(?:.*\\n)*\\[Backtrace\\](?:$|\\n\\d+: )`)),
      ] as const,
  ),
  ["condition-report: an unmatched parenthesis", report("(list 1))", /^\[ERROR\] \S*READER-ERROR\n.+/)],
  ["condition-report: an incomplete form", report("(list 1", /^\[ERROR\] \S*END-OF-FILE\n.+/)],
  [
    "condition-report: a backtrace from the point of error",
    report(
      '(defun user-function (x) (error "no ~a" x)) (defun bar (x) (list (user-function x))) (list (bar 1))',
      /^\[ERROR\] SIMPLE-ERROR\nno 1\n\n\[Backtrace\]\n(?:\d+: .*\n)*?\d+: \(USER-FUNCTION.*\)\n(?:\d+: .*\n)*?\d+: \(BAR.*\)/,
    ),
  ],
  [
    "condition-report: at most 20 frames",
    facts(async (lisp) => {
      const code = '(defun deep (n) (if (= n 0) (error "deep") (1+ (deep (- n 1))))) (deep 100)';
      const frames = (await evaluated(lisp, code)).split("\n").filter((line) => /^\d+: /.test(line));
      expectMatch(frames.join("\n"), /DEEP/);
      if (frames.length > 20) throw new Error(`${frames.length} frames`);
    }),
  ],
  [
    "condition-report: long argument lists",
    report(
      '(defun many (list) (error "many ~a" (length list))) (list (many (make-list 1000 :initial-element 7)))',
      /^\[ERROR\] SIMPLE-ERROR\nmany 1000\n\n\[Backtrace\]\n(?:\d+: .*\n)*?\d+: \(MANY(?:\)| '?\(7 [7 ]{0,200}\.\.\.\)\))/,
    ),
  ],
  [
    "condition-report: unprintable objects",
    report(
      '(defclass hidden () ()) (defun look (x) (error "look ~a" (class-name (class-of x)))) (list (look (make-instance \'hidden)))',
      /^\[ERROR\] SIMPLE-ERROR\nlook HIDDEN\n\n\[Backtrace\]\n(?:\d+: .*\n)*?\d+: \(LOOK(?:\)| '?#<.*HIDDEN.*>\))/,
    ),
  ],
  [
    "condition-report: warnings",
    report(
      `(define-condition old-function (style-warning) () (:report "Using deprecated function OLD-FN."))
(progn (warn 'old-function) (warn "Undefined variable assumed special.") 42)`,
      /^\[warnings\]\n(?:STYLE-WARNING|OLD-FUNCTION): Using deprecated function OLD-FN\.\n(?:SIMPLE-)?WARNING: Undefined variable assumed special\.\n\n=> 42$/,
    ),
  ],
  [
    "condition-report: a warning of the compiler",
    report("(compile nil '(lambda (unused) (no-such-function-yet)))", /\[warnings\]\n(?:.*\n)*\n=> #<[\s\S]*>/),
  ],
  [
    "condition-report: an error after output",
    report(
      '(progn (format t "Processing item 1...~%Processing item 2...~%") (/ 1 0))',
      /^\[stdout\]\nProcessing item 1\.\.\.\nProcessing item 2\.\.\.\n\n\[ERROR\] DIVISION-BY-ZERO\n(?:.*\n)*\n\[Backtrace\]/,
    ),
  ],
  [
    "describe-last-error: a division by zero",
    lastError(
      "(/ 1 0)",
      /^Error: DIVISION-BY-ZERO\n {2}.*\n(?:.*\n)*\nAvailable Restarts:\n(?:.*\n)* {2}\d+\. ABORT - Return to top level/,
    ),
  ],
  [
    "describe-last-error: an undefined function",
    lastError(
      "(nonexistent-func 42)",
      /^Error: UNDEFINED-FUNCTION\n {2}.*NONEXISTENT-FUNC.*\n(?:.*\n)*\nAvailable Restarts:\n(?:.*\n)* {2}\d+\. ABORT - Return to top level/,
    ),
  ],
  [
    "describe-last-error: a type error",
    lastError(
      '(+ 1 "string")',
      /^Error: \S*TYPE-ERROR\n(?: {2}.*\n)? {2}.*string.*\n(?:.*\n)*\nAvailable Restarts:\n(?:.*\n)* {2}\d+\. ABORT - Return to top level/,
    ),
  ],
  [
    "describe-last-error: no error",
    facts(async (lisp) => {
      await evaluated(lisp, "(+ 1 2)");
      expectSame(NO_ERROR, await asked(lisp, "describe-last-error"));
    }),
  ],
  [
    "error-state-preservation: every look is the same",
    facts(async (lisp) => {
      await evaluated(lisp, '(error "first")');
      const first = await asked(lisp, "describe-last-error");
      for (let times = 0; times < 5; times += 1) expectSame(first, await asked(lisp, "describe-last-error"));
      await asked(lisp, "describe-symbol", { name: "car" });
      expectSame(first, await asked(lisp, "describe-last-error"));
    }),
  ],
  [
    "error-state-preservation: a success clears it",
    facts(async (lisp) => {
      await evaluated(lisp, "(/ 1 0)");
      await evaluated(lisp, "(+ 1 2)");
      expectSame(NO_ERROR, await asked(lisp, "describe-last-error"));
    }),
  ],
  [
    "error-state-preservation: a new error replaces it",
    facts(async (lisp) => {
      await evaluated(lisp, "(/ 1 0)");
      await evaluated(lisp, "(car 'not-a-cons)");
      expectMatch(await asked(lisp, "describe-last-error"), /^Error: \S*TYPE-ERROR/);
    }),
  ],
  [
    "error-state-preservation: get-backtrace agrees",
    inWords(/^.*\bSHAKY-CALL\b.*$/m, async (lisp) => {
      await evaluated(lisp, '(defun shaky-call () (error "x")) (list (shaky-call))');
      return asked(lisp, "get-backtrace", { max_frames: 10 });
    }),
  ],
  [
    "error-state-preservation: a reset clears it",
    facts(async (lisp) => {
      await evaluated(lisp, "(/ 1 0)");
      await asked(lisp, "reset-session");
      expectSame(NO_ERROR, await asked(lisp, "describe-last-error"));
    }),
  ],
  [
    "describe-symbol: a function",
    described({ name: "mapcar", package: "CL" }, /^COMMON-LISP::MAPCAR \[FUNCTION\]\n {2}Arglist: \(/),
  ],
  [
    "describe-symbol: a variable",
    described({ name: "*print-base*", package: "CL" }, /^COMMON-LISP::\*PRINT-BASE\* \[VARIABLE\]\n {2}Value: 10/),
  ],
  [
    "describe-symbol: an unknown symbol",
    described(
      { name: "nonexistent-symbol" },
      /^Symbol NONEXISTENT-SYMBOL not found in package CL-USER \(status: NIL\)/,
    ),
  ],
  [
    "describe-symbol: an unknown package",
    described({ name: "foo", package: "NONEXISTENT" }, /^Package NONEXISTENT not found/),
  ],
  [
    "debugger-tools: frames",
    facts(async (lisp) => {
      await stopInF(lisp);
      expectMatch(await asked(lisp, "debugger_frames"), /"frames":\[\{"index":\d+,"function":".*"total_frames":\d+/);
    }),
  ],
  [
    "debugger-tools: the variables of a frame",
    facts(async (lisp) => {
      const frame = await stopInF(lisp);
      expectMatch(await asked(lisp, "debugger_frame_locals", { frame }), /"name":"X","value":"3"/);
    }),
  ],
  [
    "debugger-tools: evaluating in a frame, after the question to the user",
    facts(async (lisp, lab) => {
      const frame = await stopInF(lisp);
      lab.asked.length = 0;
      expectMatch(
        await asked(lisp, "debugger_eval_in_frame", { frame, code: "(type-of x)" }),
        /^=> .*(?:INTEGER|FIXNUM|BIT)/,
      );
      const question = `AI agent wants to evaluate code in frame #${frame}:\nCode: (type-of x)\n\nAllow? [Yes/No/Show Code] Timeout: 60s`;
      expectSame(question, lab.asked.join("\n"));
    }),
  ],
  [
    "debugger-tools: restarts",
    facts(async (lisp) => {
      await stopInF(lisp);
      expectMatch(await asked(lisp, "debugger_restarts"), /ABORT/);
    }),
  ],
  [
    "debugger-tools: invoking a restart",
    facts(async (lisp) => {
      await evaluated(lisp, '(restart-case (error "no") (use-value (x) x))');
      expectMatch(
        await asked(lisp, "debugger_invoke_restart", { restart: "USE-VALUE", values: ["(+ 40 2)"] }),
        /^=> 42/,
      );
    }),
  ],
  [
    "debugger-tools: continuing",
    facts(async (lisp) => {
      await evaluated(lisp, '(progn (break "here") "on")');
      expectMatch(await asked(lisp, "debugger_continue"), /^=> "on"/);
    }),
  ],
  [
    "debugger-tools: stepping",
    facts(async (lisp) => {
      await evaluated(lisp, TWICE);
      await evaluated(lisp, '(progn (break "here") (g 3))');
      expectMatch(await asked(lisp, "debugger_step", { mode: "into" }), /./);
    }),
  ],
  ["debugger-tools: a simple breakpoint", breakpoint({ function: "my-app::process-item" })],
  [
    "debugger-tools: a conditional breakpoint",
    breakpoint({ function: "my-app::handle-request", condition: '(equal (car args) "admin")' }),
  ],
  ["debugger-tools: a breakpoint after some hits", breakpoint({ function: "my-app::loop-body", hit_count: 10 })],
  [
    "debugger-tools: a thread that is not in the debugger",
    refused("debugger_frames", {}, "NOT_DEBUGGING", "Thread not in debugger"),
  ],
  [
    "debugger-tools: a frame that does not exist",
    refused(
      "debugger_frame_locals",
      { frame: 99_999 },
      "INVALID_FRAME",
      "Frame index out of range",
      '(error "stopped")',
    ),
  ],
];
