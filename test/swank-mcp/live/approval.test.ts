import { setTimeout } from "node:timers/promises";
import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import { expectApprovalExample } from "../../support/contract-examples.js";
import { liveDebugger } from "../../support/live-server.js";
import { McpDebugger, stopName } from "../../support/mcp-debugger.js";
import { gone } from "../../support/mcp-processes.js";
import { chosen, McpUser } from "../../support/mcp-user.js";

describe("approval with a client that can ask", () => {
  const user = new McpUser();
  afterEach(() => user.agrees());
  const lisp = liveDebugger({ answer: user.answer, code: "(defun g (x) (* x 2)) (defun f (x) (list (car x) (g x)))" });
  beforeEach(() => user.forget());

  it("shows the contract's prompt and evaluates after a yes", () => expectApprovalExample(lisp, user));

  it("does nothing after a no, whatever was asked for, and leaves the stop unchanged", async () => {
    const stop = stopName(await lisp.evaluate("(let ((n 1)) (declare (special n)) (f n))"));
    await lisp.evaluate("(defvar *touched* nil)");
    for (const [name, args] of [
      ["debugger_eval_in_frame", { frame: 0, code: "(setf *touched* t)" }],
      ["debugger_invoke_restart", { restart: "RETRY" }],
      ["debugger_step", { mode: "into" }],
      ["breakpoint_set", { function: "g" }],
    ] as const) {
      user.answers = [chosen("No")];
      const refused = await lisp.refusal(name, args);
      expect(refused, name).to.include({ type: "APPROVAL_DENIED" });
      expect(refused.next).to.include("Nothing was done");
    }
    expect(user.asked).to.have.lengthOf(4);
    expect(await lisp.stops()).to.deep.equal([stop]);
    expect(await lisp.breakpoints()).to.deep.equal([]);
    expect(await lisp.evaluate("*touched*")).to.deep.equal(["=> NIL"]);
  });

  it("shows the whole code on request and asks again", async () => {
    await lisp.evaluate("(f 3)");
    user.answers = [chosen("Show Code"), chosen("Yes")];
    await lisp.valuesInFrame(0, "(list x\n  (g x))");
    expect(user.messages).to.deep.equal([
      "AI agent wants to evaluate code in frame #0:\nCode:\n  (list x\n    (g x))\n\nAllow? [Yes/No/Show Code] Timeout: 60s",
      `AI agent wants to evaluate code in frame #0:\nCode:\n  (list x\n    (g x))\nFrame 0: (F 3)\nThread ${(await lisp.stops())[0]}\n\nAllow? [Yes/No] Timeout: 60s`,
    ]);
    user.answers = [chosen("Show Code"), chosen("No")];
    const refused = await lisp.refusal("debugger_eval_in_frame", { frame: 0, code: "x" });
    expect(refused).to.include({ type: "APPROVAL_DENIED" });
  });

  it("can cover a whole stop, but no other stop and no other kind of action", async () => {
    await lisp.evaluate("(f 3)");
    user.answers = [chosen("Yes, for this stop")];
    await lisp.valuesInFrame(0, "x");
    await lisp.valuesInFrame(0, "(g x)");
    expect(user.asked).to.have.lengthOf(1);
    expect(await lisp.refusal("debugger_invoke_restart", { restart: "RETRY" })).to.include({ type: "APPROVAL_DENIED" });
    await lisp.evaluate("(f 4)");
    expect(await lisp.refusal("debugger_eval_in_frame", { frame: 0, code: "x" })).to.include({
      type: "APPROVAL_DENIED",
    });
    expect(user.asked).to.have.lengthOf(3);
  });

  it("shows restarts with their descriptions and values, and the frames to leave", async () => {
    await lisp.evaluate('(restart-case (f 3) (pair (a b) :report "Use a pair." (list a b)))');
    await lisp.refusal("debugger_invoke_restart", { restart: "pair", values: ["(+ 1 2)", "'b"] });
    await lisp.refusal("debugger_invoke_restart", { restart: "RETURN-FROM-FRAME", values: ["0", "(g 7)"] });
    await lisp.refusal("debugger_invoke_restart", { restart: "RESTART-FRAME", values: ["0"] });
    expect(user.asked.map(({ message }) => message.split("\n\n")[0])).to.deep.equal([
      "AI agent wants to invoke restart 1:\nPAIR: Use a pair.\nValue 1: (+ 1 2)\nValue 2: 'b",
      "AI agent wants to return a value from frame #0:\nFrame: (F 3)\nValue: (g 7)",
      "AI agent wants to call frame #0 again:\nFrame: (F 3)",
    ]);
  });

  it("shows a breakpoint with all its arguments", async () => {
    user.answers = [chosen("Yes")];
    await lisp.setBreakpoint({ function: "g", condition: "(oddp (car args))", hit_count: 2, thread: "any" });
    expect(user.asked).to.deep.equal([
      {
        message:
          "AI agent wants to set a breakpoint:\nFunction: g\nCondition: (oddp (car args))\nHit count: 2\nThread: any\n\nAllow? [Yes/No/Show Code] Timeout: 60s",
        choices: ["Yes", "No", "Show Code"],
      },
    ]);
    await lisp.removeBreakpoints();
  });

  it("covers a breakpoint's names as they were read at the time of the question", async () => {
    await lisp.evaluate("(defpackage :asked (:use :cl)) (defpackage :entered (:use :cl))");
    await lisp.evaluate("(defun asked::work () 1) (defun entered::work () 2) (in-package :asked)");
    const allow = user.hesitates();
    user.answers.unshift(chosen("Show Code"));
    const call = lisp.setBreakpoint({ function: "work" });
    await user.isAsked(2);
    expect(user.asked[1]?.message).to.include("\nNames are read in package ASKED\n");
    await lisp.evaluate("(in-package :entered)");
    allow(chosen("Yes"));
    expect((await call).function).to.equal("ASKED::WORK");
    await lisp.removeBreakpoints();
    await lisp.evaluate("(in-package :cl-user)");
  });

  it("is not needed to inspect, to continue from a break, or to list breakpoints", async () => {
    await lisp.evaluate("(break)");
    await lisp.frames();
    await lisp.json("debugger_frame_locals", { frame: 0 });
    await lisp.json("debugger_restarts");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> NIL"]);
    await lisp.breakpoints();
    expect(user.asked).to.deep.equal([]);
  });

  it("is not asked for if the call is invalid", async () => {
    await lisp.evaluate("(f 3)");
    await lisp.refusal("debugger_eval_in_frame", { frame: 999, code: "1" });
    await lisp.refusal("debugger_invoke_restart", { restart: "NO-SUCH" });
    await lisp.refusal("debugger_step", { mode: "into", thread: "99999" });
    expect(user.asked).to.deep.equal([]);
  });

  it("of steps for a stop also covers the stops that its steps lead to", async () => {
    await lisp.evaluate("(defun h (x) (list (g x) (g x)))");
    user.answers = [chosen("Yes")];
    await lisp.setBreakpoint({ function: "g" });
    await lisp.evaluate("(list (g 1) (g 2))");
    user.answers = [chosen("Yes, for this stop")];
    user.asked = [];
    await lisp.resume("debugger_step", { mode: "into" });
    await lisp.removeBreakpoints();
    await lisp.resume("debugger_step", { mode: "out" });
    expect(user.asked.map(({ message }) => message.split("\n\n")[0])).to.deep.equal([
      "AI agent wants to step into:\nCode: (G 1)",
    ]);
  });

  it("of steps for a stop inside a stop covers the stops that its steps lead to, and not the outer one", async () => {
    const outer = stopName(
      await lisp.evaluate("(defvar *stepped* nil) (setf *stepped* sb-thread:*current-thread*) (step (h 5))"),
    );
    await lisp.evaluate("(progn (sb-thread:interrupt-thread *stepped* (lambda () (step (h 1)))) nil)");
    const inner = outer.replace("/1", "/2");
    while (!(await lisp.stops()).includes(inner)) await setTimeout(20);
    user.asked = [];
    user.answers = [chosen("Yes, for this stop")];
    await lisp.resume("debugger_step", { mode: "into", thread: inner });
    await lisp.resume("debugger_step", { mode: "into", thread: inner });
    expect(user.asked).to.have.lengthOf(1);
  });

  it("is never asked for ABORT of the own stop, but for a restart of the program's own that is called ABORT", async () => {
    await lisp.evaluate("(break)");
    expect((await lisp.call("debugger_invoke_restart", { restart: "ABORT" })).isError).to.equal(false);
    expect(user.asked).to.deep.equal([]);
    await lisp.evaluate('(restart-case (error "x") (abort () :report "Return to top level." (print :deleted)))');
    const refused = await lisp.refusal("debugger_invoke_restart", { restart: "ABORT" });
    expect(refused.type).to.equal("APPROVAL_DENIED");
    expect(user.asked).to.have.length(1);
  });

  it("is refused with the reason if the client cannot show the question", async () => {
    await lisp.evaluate("(break)");
    user.answers = [Promise.reject(new Error("no window to ask in"))];
    const { message } = await lisp.refusal("debugger_invoke_restart", { restart: "RETRY" });
    expect(message).to.match(/; the question failed in the client \(.*no window to ask in\)\.$/);
  });

  it("has no effect after the stop has ended", async () => {
    const stop = stopName(await lisp.evaluate("(break)"));
    const allow = user.hesitates();
    const call = lisp.refusal("debugger_eval_in_frame", { frame: 0, code: "1", thread: stop });
    await user.isAsked();
    await lisp.resume("debugger_continue", { thread: stop });
    allow(chosen("Yes"));
    expect(await call).to.include({ type: "STALE_STOP" });
  });

  it("does not count towards the timeout and does not block other calls", async () => {
    const stop = stopName(await lisp.evaluate('(restart-case (error "x") (pause (n) (sleep n) :slept))'));
    const allow = user.hesitates();
    const args = { restart: "PAUSE", values: ["0.1"], thread: stop, timeout: 0.6 };
    const call = lisp.resume("debugger_invoke_restart", args);
    await user.isAsked();
    expect(await lisp.evaluate("(progn (sleep 0.8) :meanwhile)")).to.deep.equal(["=> :MEANWHILE"]);
    allow(chosen("Yes"));
    expect(await call).to.deep.equal(["=> :SLEPT"]);
  });

  it("is withdrawn when the call is cancelled, and the stop remains", async () => {
    const stop = stopName(await lisp.evaluate("(f 3)"));
    user.answers = [new Promise(() => {})];
    const cancel = new AbortController();
    const call = lisp.call("debugger_eval_in_frame", { frame: 0, code: "1" }, cancel.signal).catch(() => "cancelled");
    await user.isAsked();
    cancel.abort();
    expect(await call).to.equal("cancelled");
    expect(await lisp.stops()).to.deep.equal([stop]);
  });
});

describe("approval with an unusual client", () => {
  const codes = [
    ["debugger_eval_in_frame", { frame: 0, code: "1" }],
    ["breakpoint_set", { function: "watched" }],
    ["debugger_step", { mode: "into" }],
    ["debugger_invoke_restart", { restart: "CONTINUE" }],
  ] as const;

  async function outcomes(args: readonly string[], answer?: () => Promise<ElicitResult>): Promise<string[]> {
    const lisp = await McpDebugger.start({ args, ...(answer === undefined ? {} : { answer }) });
    try {
      await lisp.evaluate("(defun watched () 1) (break)");
      const types: string[] = [];
      for (const [name, callArgs] of codes) {
        const { isError, structuredContent } = await lisp.call(name, callArgs);
        types.push(/"type":"(\w+)"/.exec(JSON.stringify(structuredContent ?? {}))?.[1] ?? String(isError));
        if (name === "debugger_step") await lisp.evaluate("(break)");
      }
      return types;
    } finally {
      await lisp.close();
    }
  }

  for (const [args, expected, answer] of [
    [[], "false"],
    [["--approval", "strict"], "APPROVAL_DENIED"],
    [["--approval", "off"], "false", () => Promise.reject(new Error("asked"))],
  ] as const)
    it(`has this outcome ${args.join(" ") || "by default, if the client cannot ask"}: ${expected}`, async () => {
      expect(await outcomes(args, answer)).to.deep.equal(Array(4).fill(expected));
    });

  it("counts as a no when the client disconnects, and the server exits with its image", async () => {
    let asked = () => {};
    const question = new Promise<void>((resolve) => (asked = resolve));
    const lisp = await McpDebugger.start({
      answer: () => {
        asked();
        return new Promise(() => {});
      },
    });
    const { pid } = lisp;
    await lisp.evaluate('(error "x")');
    const call = lisp.call("debugger_invoke_restart", { restart: "RETRY" }).catch(() => undefined);
    await question;
    await lisp.close();
    // The client may have disconnected before it receives the refusal.
    expect((await call)?.isError).to.not.equal(false);
    if (pid === undefined) throw new Error("The server has no process.");
    await gone(pid);
  });
});
