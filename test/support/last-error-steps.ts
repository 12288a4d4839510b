import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import type { Effect, Step } from "./last-error-model.js";
import type { McpDriver } from "./mcp-driver.js";
import { blocks } from "./mcp-results.js";

interface World {
  readonly server: McpDriver;
}

function call(effect: Effect, isError: boolean, tool: string, args: object = {}): Step<World> {
  return {
    name: `${tool} ${JSON.stringify(args)}`,
    run: async ({ server }) => {
      const answer = await server.call(tool, args);
      expect(answer.isError, JSON.stringify(answer)).to.equal(isError);
      return { effect, ...(effect === "set" ? { report: answer } : {}) };
    },
  };
}

function evaluate(effect: Effect, ...codes: string[]): Step<World>[] {
  return codes.map((code) => call(effect, effect === "set", "evaluate-lisp", { code }));
}

/** A call whose effect depends on the current stops and is taken from the text of its answer. */
function resume(tool: string, args: object = {}): Step<World> {
  return {
    name: `${tool} ${JSON.stringify(args)}`,
    run: async ({ server }) => {
      const answer = await server.call(tool, { ...args, timeout: 0.05 });
      const effect = told(answer);
      return { effect, ...(effect === "set" ? { report: answer } : {}) };
    },
  };
}

/** Refusals keep the last error; of reports, errors set it, values clear it, and everything else keeps it. */
function told(answer: CallToolResult): Effect {
  if (answer.structuredContent !== undefined) return "keep";
  if (answer.isError === true) return "set";
  return /(?:^|\n\n)(?:=> |; No values)/.test(blocks(answer)[0] ?? "") ? "clear" : "keep";
}

/** A call that only inspects a stop, if there is one. */
function look(tool: string, args: object = {}): Step<World> {
  return {
    name: `${tool} ${JSON.stringify(args)}`,
    run: async ({ server }) => {
      await server.call(tool, args);
      return { effect: "keep" };
    },
  };
}

/** Evaluations that return. */
export const SUCCESSES = evaluate(
  "clear",
  "(+ 1 2)",
  "(values)",
  '(warn "careful") (print 1)',
  '(ignore-errors (error "handled"))',
  "(signal 'condition)",
  "(defun les-defined (x) x)",
);

/** Evaluations that stop or end with an error. */
export const FAILURES = [
  ...evaluate(
    "set",
    '(error "plain")',
    "(/ 1 0)",
    "(car 'not-a-cons)",
    "(les-undefined 1)",
    "les-unbound",
    "(let ((x 1 2)) x)",
    "(throw 'les-nowhere 1)",
    '(princ "before") (warn "careful") (error "after output")',
    '(define-condition les-own (error) ((slot :initarg :slot))) (error \'les-own :slot "value")',
    '(define-condition les-mute (error) () (:report (lambda (c s) (declare (ignore c s)) (error "no report")))) (error \'les-mute)',
    '(defmacro les-bad () (error "in a macro")) (les-bad)',
    '(defclass les-odd () ()) (defmethod print-object ((o les-odd) s) (error "unprintable")) (error "~a" (make-instance \'les-odd))',
    "(+ 1 2",
    "(+ 1 2))",
    "les-no-such-package:x",
    "#\\les-no-such-character",
    '"no end',
  ),
  call("set", true, "evaluate-lisp", { code: "(loop)", timeout: 0.05 }),
  call("set", true, "evaluate-lisp", { code: '(progn (princ "x") (sleep 60))', timeout: 0.05 }),
];

/** Evaluations that neither return nor fail. */
export const INTERLUDES = [
  ...evaluate("keep", "(break)", '(break "here")', "(abort)", "(progn (sb-ext:gc :full t) (abort))"),
  call("keep", true, "evaluate-lisp", { code: "" }),
  call("keep", true, "evaluate-lisp", { code: "; nothing" }),
  call("keep", true, "evaluate-lisp", { code: "1", package: "LES-NO-SUCH" }),
  call("keep", true, "evaluate-lisp", { code: "1", timeout: "soon" }),
  call("keep", true, "evaluate-lisp", { kode: "1" }),
];

/** Calls that only inspect, and calls that are refused. */
export const LOOKS = [
  call("keep", false, "describe-symbol", { name: "car" }),
  call("keep", false, "describe-symbol", { name: "les-no-such-symbol" }),
  call("keep", false, "describe-symbol", { name: "x", package: "LES-NO-SUCH" }),
  call("keep", true, "describe-symbol", {}),
  call("keep", false, "list-definitions"),
  call("keep", true, "list-definitions", { type: "nothing" }),
  call("keep", false, "lisp-status"),
  call("keep", false, "get-backtrace", { "max-frames": 1 }),
  call("keep", true, "get-backtrace", { "max-frames": 0 }),
  call("keep", true, "no-such-tool"),
];

/** Calls that inspect a stop or evaluate in it. */
export const STOP_LOOKS = [
  look("debugger_frames"),
  look("debugger_frames", { start: -1 }),
  look("debugger_restarts"),
  look("debugger_frame_locals", { frame: 1 }),
  look("debugger_eval_in_frame", { frame: 1, code: "(+ 1 2)" }),
  look("debugger_eval_in_frame", { frame: 1, code: '(error "in the frame")' }),
  look("debugger_eval_in_frame", { frame: 99_999, code: "1" }),
  look("breakpoint_list"),
  look("breakpoint_remove", { id: 99_999 }),
  look("breakpoint_set", { function: "les-no-such-function" }),
];

/** Calls that resume a stopped thread, if there is one. */
export const RESUMPTIONS = [
  resume("debugger_continue"),
  resume("debugger_continue", { thread: "99999" }),
  resume("debugger_invoke_restart", { restart: 1 }),
  resume("debugger_invoke_restart", { restart: "ABORT" }),
  resume("debugger_invoke_restart", { restart: "RETRY" }),
  resume("debugger_invoke_restart", { restart: "CONTINUE" }),
  resume("debugger_invoke_restart", { restart: "USE-VALUE", values: ["7"] }),
  resume("debugger_invoke_restart", { restart: "USE-VALUE", values: ['(error "no value")'] }),
  resume("debugger_invoke_restart", { restart: "NO-SUCH" }),
  resume("debugger_step", { mode: "into" }),
  resume("debugger_step", { mode: "out" }),
];

/** An evaluation that stops at a breakpoint. */
export const BREAKPOINT: Step<World> = {
  name: "evaluate-lisp a call with a breakpoint",
  run: async ({ server }) => {
    // A definition that returns would clear the error, so this one is aborted.
    const defined = "(progn (defun les-watched (x) (list x)) (abort))";
    await server.call("evaluate-lisp", { code: defined });
    await server.call("breakpoint_set", { function: "les-watched" });
    const stop = await server.call("evaluate-lisp", { code: "(les-watched 1)" });
    expect(blocks(stop)[0]).to.match(/^\[BREAKPOINT\] /);
    return { effect: "keep" };
  },
};

export const RESET = call("clear", false, "reset-session");

/** A cancelled evaluation, which is unwound without an answer. */
export const CANCELLATION: Step<World> = {
  name: "evaluate-lisp (loop), cancelled",
  run: async ({ server }) => {
    const { id, result } = server.startCall("evaluate-lisp", { code: "(loop (sleep 0.01))" });
    result.catch(() => undefined);
    server.cancel(id);
    return { effect: "keep" };
  },
};

/** Two simultaneous evaluations: the one that ends last determines the last error. */
export const RACE: Step<World> = {
  name: "evaluate-lisp a success and an error at once",
  run: async ({ server }) => {
    const ended: (CallToolResult | undefined)[] = [];
    const success = server.call("evaluate-lisp", { code: "(+ 1 2)" }).then(() => ended.push(undefined));
    const failure = server.call("evaluate-lisp", { code: '(error "beside")' }).then((report) => ended.push(report));
    await Promise.all([success, failure]);
    const last = ended.at(-1);
    return last === undefined ? { effect: "clear" } : { effect: "set", report: last };
  },
};
