import { expect } from "chai";
import { commandsText } from "#swank-mcp/console/commands.js";
import { expectFacts } from "../../support/facts.js";
import { runScript } from "../../support/mcp-console.js";

/** Typed text, and a fact of its answer. */
type Exchange = readonly [typed: string, answer: string];

const AVERAGE = "(defun average (numbers) (/ (reduce #'+ numbers) (length numbers)))";
const MENDED = "(defun average (numbers) (if numbers (/ (reduce #'+ numbers) (length numbers)) 0))";
const LIVE = "Stopped, nothing unwound: thread …. Other evaluations can still run.\nRestarts:\n  1. ";

const SESSIONS: Readonly<Record<string, readonly Exchange[]>> = {
  "shows an error, inspects its stop, and continues the call after its function is fixed": [
    [AVERAGE, "=> AVERAGE\n"],
    ["(average '())", `[ERROR] DIVISION-BY-ZERO\n…[Backtrace]\n1: (AVERAGE NIL)\n\n${LIVE}ABORT - …  NUMBERS = NIL\n`],
    [",error", "Error: DIVISION-BY-ZERO\n…  1. ABORT - …  1: (AVERAGE NIL)\n\nFor full backtrace, use ,backtrace.\n"],
    [",backtrace 2", "0: (SB-KERNEL::INTEGER-/-INTEGER 0 0)\n1: (AVERAGE NIL)\n... "],
    [
      ",frames 1 2",
      "frames: index, function, call\n  1  COMMON-LISP-USER::AVERAGE  (AVERAGE NIL)\n    source: form (/ ",
    ],
    [",locals 1", "locals: name, value, object_id, argument\n  NUMBERS  NIL  1  true\ncatch_tags: none\n"],
    [",in 1 (progn (princ :x) (list numbers 1))", "[stdout]\nX\n\n=> (NIL 1)\n\nRead in package COMMON-LISP-USER.\n"],
    [
      ",restarts",
      "restarts: index, name, description\n  1  ABORT  Return to top level\n  2  RETRY  Evaluate form 1 again",
    ],
    [MENDED, "=> AVERAGE\n\nRedefined: AVERAGE\n"],
    [",restart RETRY", "=> 0\n"],
  ],
  "invokes restarts with values, continues and aborts": [
    ['(list (restart-case (error "Two, please.") (sum (a b) (+ a b))))', `Two, please.\n…${LIVE}SUM - SUM\n`],
    [",restart 1 (* 2 10) 1", "=> (21)\n"],
    ['(let ((n 2)) (cerror "Go on." "Really?") (list n))', `Really?\n…${LIVE}CONTINUE - Go on.\n…  N = 2\n`],
    [",continue", "=> (2)\n"],
    ['(error "x")', `[ERROR] SIMPLE-ERROR\nx\n…${LIVE}`],
    [",abort", "; Evaluation aborted\n\nThread … ended. No other thread of this session is stopped.\n"],
  ],
  "stops at breakpoints and steps": [
    ["(defun square (x) (* x x))", "=> SQUARE\n"],
    ["(defun twice (x) (+ (square x) (square x)))", "=> TWICE\n"],
    [
      ",break twice (> (first args) 2)",
      "id: 1\nfunction: COMMON-LISP-USER::TWICE\ncondition: (> (first args) 2)\nhits: 0\n",
    ],
    [
      ",breakpoints",
      "breakpoints: id, function, condition, hits, state\n  1  COMMON-LISP-USER::TWICE  (> (first args) 2)  0  armed\n",
    ],
    [
      "(list (twice 1) (twice 3))",
      `[BREAKPOINT] …\n0: (TWICE 3)\n\n${LIVE}CONTINUE - Continue with the call\n…  X = 3\n`,
    ],
    [
      ",over",
      "[STEP] STEP-FORM-CONDITION\nEvaluating call:\n  (SQUARE X)\nWith arguments:\n  3\n\n[Backtrace]\n0: (TWICE 3)\n",
    ],
    [",into", "Evaluating call:\n  (* X X)\nWith unknown arguments\n\n[Backtrace]\n0: (SQUARE 3)\n2: (TWICE 3)\n"],
    [",out", "Evaluating call:\n  (SQUARE X)\n"],
    [",continue", "=> (2 18)\n"],
    [",unbreak 1", "removed: 1\n"],
    [",breakpoints", "breakpoints: none\n"],
  ],
  "lists definitions and commands, and corrects wrong input": [
    ["(defpackage :zoo (:use :cl)) (in-package :zoo)", '=> #<PACKAGE "ZOO">\n'],
    ['(defun animal (name) "Says its name." name)', "=> ANIMAL\n"],
    [",describe animal", "ZOO::ANIMAL [FUNCTION]\n  Arglist: (NAME)\n…Defined by evaluated code:\n(defun animal"],
    [",definitions function", "[functions]\nZOO::ANIMAL\n"],
    [",restart", "Usage: ,restart n|NAME [value ...]. Invoke a restart; values are expressions.\n"],
    [",restrat 1", "There is no command ,restrat. Did you mean ,restart? ,help lists the commands.\n"],
    [
      ",locals 0",
      "Thread not in debugger\nNo thread is stopped. A thread stops at an error in a form, at a breakpoint (,break) and ",
    ],
    [",thread 9", "Thread 9 is not stopped. Stopped threads: none.\n"],
    [",live threads", ",live needs a terminal.\n"],
    [",help", commandsText()],
    [",reset", "Session reset. A fresh image (pid … has replaced the old one.\n"],
    [",definitions", "No definitions in session.\n"],
    ["(package-name *package*)", '=> "COMMON-LISP-USER"\n'],
  ],
};

describe("swank-mcp console", () => {
  for (const [title, exchanges] of Object.entries(SESSIONS))
    it(title, async () => {
      const { output } = await runScript(exchanges.map(([typed]) => typed));
      expectFacts(output, ...exchanges.map(([, answer]) => answer));
      expect(output).to.match(/\n$/);
    });
});
