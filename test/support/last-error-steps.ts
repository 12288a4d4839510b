import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import type { Effect, Step } from "./last-error-model.js";
import type { McpStdio } from "./mcp-stdio.js";

interface World {
  readonly server: McpStdio;
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

/** Evaluations that return, whatever else they do. */
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

/** Calls that only look, and calls that are refused. */
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

export const RESET = call("clear", false, "reset-session");

/** The evaluation is unwound; the call has no answer. */
export const CANCELLATION: Step<World> = {
  name: "evaluate-lisp (loop), cancelled",
  run: async ({ server }) => {
    const { id, result } = server.startCall("evaluate-lisp", { code: "(loop (sleep 0.01))" });
    result.catch(() => undefined);
    server.send({ method: "notifications/cancelled", params: { requestId: id } });
    return { effect: "keep" };
  },
};

/** Two evaluations side by side: the one that ends last decides. */
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
