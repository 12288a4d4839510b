import { expect } from "chai";
import { commandsText } from "#swank-mcp/console/commands.js";
import { runScript } from "../../support/mcp-console.js";

/** Typed text, and its complete output. */
type Exchange = readonly [typed: string, answer: string];

const AVERAGE = "(defun average (numbers) (/ (reduce #'+ numbers) (length numbers)))";
const MENDED = "(defun average (numbers) (if numbers (/ (reduce #'+ numbers) (length numbers)) 0))";

/** The block that reports a live stop. */
function stopped(restarts: readonly string[], locals: readonly string[] = []): string {
  const numbered = restarts.map((restart, index) => `\n  ${index + 1}. ${restart}`).join("");
  const shown = locals.map((line) => `\n${line}`).join("");
  return `Stopped, nothing unwound: thread N/N. Other evaluations can still run.\nRestarts:${numbered}${shown}`;
}

const ERROR = `[ERROR] DIVISION-BY-ZERO
arithmetic error DIVISION-BY-ZERO signalled
Operation was (/ 0 0).

[Backtrace]
1: (AVERAGE NIL)

${stopped(["ABORT - Return to top level", "RETRY - Evaluate form 1 again, repeating its side effects"], ["Locals of frame 1, (AVERAGE NIL):", "  NUMBERS = NIL"])}`;

/** Finds, inspects and fixes a fault, and continues. */
const STOPPED: readonly Exchange[] = [
  [AVERAGE, "=> AVERAGE"],
  ["(average '())", ERROR],
  [
    ",error",
    `Error: DIVISION-BY-ZERO
  arithmetic error DIVISION-BY-ZERO signalled
  Operation was (/ 0 0).

Available Restarts:
  1. ABORT - Return to top level
  2. RETRY - Evaluate form 1 again, repeating its side effects

Backtrace (top 5 frames):
  1: (AVERAGE NIL)

For full backtrace, use ,backtrace.`,
  ],
  [
    ",backtrace 2",
    `[Backtrace]
0: (SB-KERNEL::INTEGER-/-INTEGER 0 0)
1: (AVERAGE NIL)
... N more frames, of the evaluator and Swank`,
  ],
  [
    ",frames 1 2",
    `frames: index, function, call
  1  COMMON-LISP-USER::AVERAGE  (AVERAGE NIL)
    source: form (/ (REDUCE #'+ NUMBERS) (LENGTH NUMBERS))
    locals: name, value, object_id, argument
      NUMBERS  NIL  1  true
total_frames: N
outside_page: N
thread: N`,
  ],
  [",locals 1", "locals: name, value, object_id, argument\n  NUMBERS  NIL  1  true\ncatch_tags: none\nthread: N"],
  [",in 1 (progn (princ :x) (list numbers 1))", "[stdout]\nX\n\n=> (NIL 1)\n\nRead in package COMMON-LISP-USER."],
  [
    ",restarts",
    "restarts: index, name, description\n  1  ABORT  Return to top level\n  2  RETRY  Evaluate form 1 again, repeating its side effects\nthread: N",
  ],
  [MENDED, "=> AVERAGE\n\nRedefined: AVERAGE"],
  [",restart RETRY", "=> 0"],
];

/** Restarts by number and by name, with values; continue and abort. */
const RESTARTED: readonly Exchange[] = [
  [
    '(list (restart-case (error "Two, please.") (sum (a b) (+ a b))))',
    `[ERROR] SIMPLE-ERROR
Two, please.

[Backtrace]
0: ((LAMBDA ()))

${stopped(["SUM - SUM", "ABORT - Return to top level", "RETRY - Evaluate form 1 again, repeating its side effects"])}`,
  ],
  [",restart 1 (* 2 10) 1", "=> (21)"],
  [
    '(let ((n 2)) (cerror "Go on." "Really?") (list n))',
    `[ERROR] SIMPLE-ERROR
Really?

[Backtrace]
0: ((LAMBDA ()))

${stopped(["CONTINUE - Go on.", "ABORT - Return to top level", "RETRY - Evaluate form 1 again, repeating its side effects"], ["Locals of frame 0, ((LAMBDA ())):", "  N = 2"])}`,
  ],
  [",continue", "=> (2)"],
  [
    '(error "x")',
    `[ERROR] SIMPLE-ERROR
x

[Backtrace]
1: (EVAL (ERROR "x"))

${stopped(["ABORT - Return to top level", "RETRY - Evaluate form 1 again, repeating its side effects"])}`,
  ],
  [",abort", "; Evaluation aborted\n\nThread N ended. No other thread of this session is stopped."],
];

function stepped(what: string, frames: string, frame: string): string {
  const restarts = [
    "STEP-CONTINUE - Resume normal execution",
    "STEP-OUT - Resume stepping after returning from this function",
    "STEP-NEXT - Step over call",
    "STEP-INTO - Step into call",
    "ABORT - Return to top level",
    "RETRY - Evaluate form 1 again, repeating its side effects",
  ];
  return `[STEP] STEP-FORM-CONDITION
Evaluating call:
  ${what}

[Backtrace]
${frames}

${stopped(restarts, [`Locals of frame 0, ${frame}:`, "  X = 3"])}`;
}

const TWICE = stepped("(SQUARE X)\nWith arguments:\n  3", "0: (TWICE 3)", "(TWICE 3)");

const STEPPED: readonly Exchange[] = [
  ["(defun square (x) (* x x))", "=> SQUARE"],
  ["(defun twice (x) (+ (square x) (square x)))", "=> TWICE"],
  [
    ",break twice (> (first args) 2)",
    "id: 1\nfunction: COMMON-LISP-USER::TWICE\ncondition: (> (first args) 2)\nhits: 0\nstate: armed",
  ],
  [
    ",breakpoints",
    "breakpoints: id, function, condition, hits, state\n  1  COMMON-LISP-USER::TWICE  (> (first args) 2)  0  armed",
  ],
  [
    "(list (twice 1) (twice 3))",
    `[BREAKPOINT] BREAKPOINT-REACHED
Breakpoint 1 on COMMON-LISP-USER::TWICE, hit 1.

[Backtrace]
0: (TWICE 3)

${stopped(["CONTINUE - Continue with the call", "ABORT - Return to top level", "RETRY - Evaluate form 1 again, repeating its side effects"], ["Locals of frame 0, (TWICE 3):", "  X = 3"])}`,
  ],
  [",over", TWICE],
  [",into", stepped("(* X X)\nWith unknown arguments", "0: (SQUARE 3)\n2: (TWICE 3)", "(SQUARE 3)")],
  [",out", TWICE],
  [",continue", "=> (2 18)"],
  [",unbreak 1", "removed: 1"],
  [",breakpoints", "breakpoints: none"],
];

const LOOKED_AROUND: readonly Exchange[] = [
  ["(defpackage :zoo (:use :cl)) (in-package :zoo)", '=> #<PACKAGE "ZOO">'],
  ['(defun animal (name) "Says its name." name)', "=> ANIMAL"],
  [
    ",describe animal",
    `ZOO::ANIMAL [FUNCTION]
  Arglist: (NAME)
  Documentation:
    Says its name.
  Source: evaluation N:0

Defined by evaluated code:
(defun animal (name) "Says its name." name)`,
  ],
  [",definitions function", "[functions]\nZOO::ANIMAL"],
  [",restart", "Usage: ,restart n|NAME [value ...]. Invoke a restart; values are expressions."],
  [",restrat 1", "There is no command ,restrat. Did you mean ,restart? ,help lists the commands."],
  [
    ",locals 0",
    "Thread not in debugger\nNo thread is stopped. A thread stops at an error in a form, at a breakpoint (,break) and at (break).",
  ],
  [",thread 9", "Thread 9 is not stopped. Stopped threads: none."],
  [",live threads", ",live needs a terminal."],
  [",help", commandsText()],
  [",reset", "Session reset. A fresh image (pid N) has replaced the old one."],
  [",definitions", "No definitions in session."],
  ["(package-name *package*)", '=> "COMMON-LISP-USER"'],
];

/** Returns the output without the parts that depend on the run or on Swank's version. */
function neutral(text: string): string {
  return text
    .replace(/thread \d+\/\d+/g, "thread N/N")
    .replace(/^(thread: |Thread )\d+\/\d+/gm, "$1N")
    .replace(/^(total_frames|outside_page): \d+$/gm, "$1: N")
    .replace(/\d+ more frames/g, "N more frames")
    .replace(/evaluation \d+:/g, "evaluation N:")
    .replace(/\(pid \d+\)/g, "(pid N)");
}

async function expectSession(exchanges: readonly Exchange[]): Promise<void> {
  const { output } = await runScript(exchanges.map(([typed]) => typed));
  expect(neutral(output)).to.equal(exchanges.map(([, answer]) => `${answer}\n`).join(""));
}

describe("swank-mcp console", () => {
  it("shows an error, inspects its stop, and continues the call after its function is fixed", () =>
    expectSession(STOPPED));

  it("invokes restarts with values, continues and aborts", () => expectSession(RESTARTED));

  it("stops at breakpoints and steps", () => expectSession(STEPPED));

  it("lists definitions and commands, and corrects wrong input", () => expectSession(LOOKED_AROUND));

  it("shows the image and its stops", async () => {
    const { output } = await runScript(['(error "x")', ",status"]);
    expect(output)
      .to.match(/^image: own\nimplementation: SBCL\nversion: .*\npid: \d+\n/m)
      .and.to.match(/^stopped: thread, type, message, since\n {2}\d+\/1 {2}SIMPLE-ERROR {2}x {2}\d{4}-/m);
  });
});
