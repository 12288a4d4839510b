import { setTimeout } from "node:timers/promises";
import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import { liveDebugger } from "../../support/live-server.js";
import { chosen, McpUser } from "../../support/mcp-user.js";

const PROMPT = "Allow? [Yes/No/Show Code] Timeout: 60s";

describe("approval prompt", () => {
  const user = new McpUser();
  const lisp = liveDebugger({ answer: user.answer, code: "(defun g (x) (* x 2)) (defun f (x) (list (car x) (g x)))" });
  beforeEach(() => user.forget());

  function lines(text = user.asked[0]?.message ?? ""): string[] {
    return text.split("\n");
  }

  it("appears once, whatever characters the names of restarts contain", async () => {
    const name = `A: fine\\n\\n${PROMPT}\\n\u202e\u3164`.replaceAll("\\n", "\n");
    await lisp.evaluate(`(restart-case (error "x") (|${name}| () :report "Nothing." 1))`);
    await lisp.refusal("debugger_invoke_restart", { restart: 1 });
    expect(lines()).to.have.lengthOf(4);
    expect(lines()[1]).to.equal(`A: fine\\u{a}\\u{a}${PROMPT}\\u{a}\\u{202e}\\u{3164}: Nothing.`);
  });

  it("appears once, whatever characters the name of the package contains", async () => {
    const name = `P\n\n${PROMPT}\u202e`;
    await lisp.evaluate(`(progn (make-package "${name}" :use '(:cl)) nil)`);
    await lisp.evaluate(`(setf *package* (find-package "${name}"))`);
    try {
      user.answers = [chosen("Show Code"), chosen("No")];
      await lisp.refusal("breakpoint_set", { function: "cl-user::g" });
      const [, detail = ""] = user.messages;
      expect(lines(detail).filter((line) => line.startsWith("Allow?"))).to.have.lengthOf(1);
      expect(detail).to.include("\\u{a}").and.include("\\u{202e}").and.not.include("\u202e");
    } finally {
      await lisp.evaluate("(cl:in-package :cl-user)");
    }
  });

  it("is not shown if the code is too long to read; the call is refused", async () => {
    await lisp.evaluate("(f 3)");
    const refused = await lisp.refusal("debugger_eval_in_frame", { frame: 0, code: `(list "${"y".repeat(50_000)}")` });
    expect(refused).to.include({ type: "APPROVAL_DENIED" });
    expect(refused.message).to.include("too long to show to the user");
    expect(user.asked).to.deep.equal([]);
  });

  it("shows the call that RESTART-FRAME repeats, even far down the stack", async () => {
    await lisp.evaluate("(defun deep (n) (if (zerop n) (car 1) (1+ (deep (1- n)))))");
    await lisp.evaluate("(deep 400)");
    const { frames } = await lisp.frames({ start: 380, end: 381 });
    const call = frames[0]?.call ?? "";
    expect(call).to.match(/^\(DEEP \d+\)$/);
    await lisp.refusal("debugger_invoke_restart", { restart: "RESTART-FRAME", values: ["380"] });
    await lisp.refusal("debugger_invoke_restart", { restart: "RETURN-FROM-FRAME", values: ["380", "(g 1)"] });
    expect(user.asked.map(({ message }) => message.split("\n")[1])).to.deep.equal([`Frame: ${call}`, `Frame: ${call}`]);
  });

  it("shows one question at a time, queues a few, and refuses the others", async () => {
    await lisp.evaluate("(f 3)");
    const allow = user.hesitates(...Array<ElicitResult>(60).fill(chosen("Yes")));
    const calls = Array.from({ length: 60 }, (_, n) =>
      lisp.call("debugger_eval_in_frame", { frame: 0, code: `(list ${n})` }),
    );
    const refused = await Promise.race(calls);
    expect(JSON.stringify(refused)).to.include("too many other questions wait for the user");
    await setTimeout(200);
    expect(user.asked).to.have.lengthOf(1);
    allow(chosen("Yes"));
    const results = await Promise.all(calls);
    expect(user.mostAtOnce).to.equal(1);
    expect(results.filter(({ isError }) => !isError)).to.have.lengthOf(9);
    expect(user.asked).to.have.lengthOf(9);
  });

  it("leaves the queue when its call is cancelled", async () => {
    await lisp.evaluate("(f 3)");
    const allow = user.hesitates(chosen("Yes"));
    const first = lisp.valuesInFrame(0, "1");
    await user.isAsked();
    const cancel = new AbortController();
    const second = lisp.call("debugger_eval_in_frame", { frame: 0, code: "2" }, cancel.signal).catch(() => "cancelled");
    await setTimeout(50);
    const third = lisp.valuesInFrame(0, "3");
    cancel.abort();
    expect(await second).to.equal("cancelled");
    allow(chosen("Yes"));
    expect([await first, await third]).to.deep.equal([["1"], ["3"]]);
    expect(user.asked.map(({ message }) => message.split("\n")[1])).to.deep.equal(["Code: 1", "Code: 3"]);
  });

  it("precedes evaluating a breakpoint's condition; its name is never evaluated", async () => {
    await lisp.evaluate("(defvar *ran* nil) (defvar *seven* 7) (defgeneric told (x)) (defmethod told ((x (eql 7))) x)");
    const name = "(method told ((eql (progn (setf *ran* t) 7))))";
    await lisp.refusal("breakpoint_set", { function: "told", condition: "#.(setf *ran* t)" });
    expect(user.asked).to.have.lengthOf(1);
    const refused = await lisp.refusal("breakpoint_set", { function: name });
    expect(refused).to.include({ type: "BREAKPOINT_REFUSED" });
    expect(refused.message).to.include("not code to evaluate");
    expect(await lisp.evaluate("*ran*")).to.deep.equal(["=> NIL"]);
    for (const form of ["7", "*seven*", "'7"]) {
      user.answers = [chosen("Yes")];
      const { id } = await lisp.setBreakpoint({ function: `(method told ((eql ${form})))` });
      await lisp.json("breakpoint_remove", { id });
    }
  });
});
