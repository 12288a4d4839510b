import { setTimeout } from "node:timers/promises";
import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import { McpDebugger, stopName } from "../../support/mcp-debugger.js";
import { gone } from "../../support/mcp-processes.js";

interface Asked {
  readonly message: string;
  readonly choices: readonly string[];
}

function chosen(answer: string): ElicitResult {
  return { action: "accept", content: { answer } };
}

describe("approval with a client that can ask", () => {
  let lisp: McpDebugger;
  let asked: Asked[] = [];
  /** The user's answers, in order; after the last one the user says no. */
  let answers: (ElicitResult | Promise<ElicitResult>)[] = [];

  before(async () => {
    lisp = await McpDebugger.start({
      answer: async (message, choices) => {
        asked.push({ message, choices });
        return answers.shift() ?? { action: "decline" };
      },
    });
    await lisp.evaluate("(defun g (x) (* x 2)) (defun f (x) (list (car x) (g x)))");
  });
  after(() => lisp.close());
  beforeEach(() => {
    asked = [];
    answers = [];
  });
  afterEach(async () => {
    for (const thread of await lisp.stops()) {
      answers = [chosen("Yes")];
      await lisp.call("debugger_invoke_restart", { restart: "ABORT", thread });
    }
  });

  it("shows the contract's prompt and evaluates after a yes", async () => {
    await lisp.evaluate("(f 3)");
    answers = [chosen("Yes")];
    expect(await lisp.valuesInFrame(0, "(type-of x)")).to.deep.equal(["(INTEGER 0 4611686018427387903)"]);
    expect(asked).to.deep.equal([
      {
        message:
          "AI agent wants to evaluate code in frame #0:\nCode: (type-of x)\n\nAllow? [Yes/No/Show Code] Timeout: 60s",
        choices: ["Yes", "No", "Show Code", "Yes, for this stop"],
      },
    ]);
  });

  it("does nothing after any other answer and leaves the stop unchanged", async () => {
    const stop = stopName(await lisp.evaluate("(let ((n 1)) (declare (special n)) (f n))"));
    const answer: ElicitResult[] = [
      chosen("No"),
      chosen("yes please"),
      { action: "accept", content: {} },
      { action: "accept" },
      { action: "decline" },
      { action: "cancel" },
    ];
    await lisp.evaluate("(defvar *touched* nil)");
    for (const given of answer) {
      for (const [name, args] of [
        ["debugger_eval_in_frame", { frame: 0, code: "(setf *touched* t)" }],
        ["debugger_invoke_restart", { restart: "RETRY" }],
        ["debugger_step", { mode: "into" }],
        ["breakpoint_set", { function: "g" }],
      ] as const) {
        answers = [given];
        const refused = await lisp.refusal(name, args);
        expect(refused, `${name} ${JSON.stringify(given)}`).to.include({ type: "APPROVAL_DENIED" });
        expect(refused.next).to.include("Nothing was done");
      }
    }
    expect(asked).to.have.lengthOf(24);
    expect(await lisp.stops()).to.deep.equal([stop]);
    expect(await lisp.breakpoints()).to.deep.equal([]);
    expect(await lisp.evaluate("*touched*")).to.deep.equal(["=> NIL"]);
  });

  it("shows the whole code on request and asks again", async () => {
    await lisp.evaluate("(f 3)");
    answers = [chosen("Show Code"), chosen("Yes")];
    await lisp.valuesInFrame(0, "(list x\n  (g x))");
    expect(asked.map(({ message }) => message)).to.deep.equal([
      "AI agent wants to evaluate code in frame #0:\nCode:\n  (list x\n    (g x))\n\nAllow? [Yes/No/Show Code] Timeout: 60s",
      `AI agent wants to evaluate code in frame #0:\nCode:\n  (list x\n    (g x))\nFrame 0: (F 3)\nThread ${(await lisp.stops())[0]}\n\nAllow? [Yes/No] Timeout: 60s`,
    ]);
    answers = [chosen("Show Code"), chosen("No")];
    const refused = await lisp.refusal("debugger_eval_in_frame", { frame: 0, code: "x" });
    expect(refused).to.include({ type: "APPROVAL_DENIED" });
  });

  it("covers only the code that was shown and asks about the next code", async () => {
    await lisp.evaluate("(f 3)");
    answers = [chosen("Yes")];
    await lisp.valuesInFrame(0, "x");
    const refused = await lisp.refusal("debugger_eval_in_frame", { frame: 0, code: "x" });
    expect(refused).to.include({ type: "APPROVAL_DENIED" });
    expect(asked).to.have.lengthOf(2);
  });

  it("can cover a whole stop, but no other stop and no other kind of action", async () => {
    await lisp.evaluate("(f 3)");
    answers = [chosen("Yes, for this stop")];
    await lisp.valuesInFrame(0, "x");
    await lisp.valuesInFrame(0, "(g x)");
    expect(asked).to.have.lengthOf(1);
    expect(await lisp.refusal("debugger_invoke_restart", { restart: "RETRY" })).to.include({ type: "APPROVAL_DENIED" });
    await lisp.evaluate("(f 4)");
    expect(await lisp.refusal("debugger_eval_in_frame", { frame: 0, code: "x" })).to.include({
      type: "APPROVAL_DENIED",
    });
    expect(asked).to.have.lengthOf(3);
  });

  it("shows restarts with their descriptions and values, and the frames to leave", async () => {
    await lisp.evaluate('(restart-case (f 3) (pair (a b) :report "Use a pair." (list a b)))');
    await lisp.refusal("debugger_invoke_restart", { restart: "pair", values: ["(+ 1 2)", "'b"] });
    await lisp.refusal("debugger_invoke_restart", { restart: "RETURN-FROM-FRAME", values: ["0", "(g 7)"] });
    await lisp.refusal("debugger_invoke_restart", { restart: "RESTART-FRAME", values: ["0"] });
    expect(asked.map(({ message }) => message.split("\n\n")[0])).to.deep.equal([
      "AI agent wants to invoke restart 1:\nPAIR: Use a pair.\nValue 1: (+ 1 2)\nValue 2: 'b",
      "AI agent wants to return a value from frame #0:\nFrame: (F 3)\nValue: (g 7)",
      "AI agent wants to call frame #0 again:\nFrame: (F 3)",
    ]);
  });

  it("shows a breakpoint with all its arguments", async () => {
    answers = [chosen("Yes")];
    await lisp.setBreakpoint({ function: "g", condition: "(oddp (car args))", hit_count: 2, thread: "any" });
    expect(asked).to.deep.equal([
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
    let allow: (answer: ElicitResult) => void = () => {};
    answers = [chosen("Show Code"), new Promise((resolve) => (allow = resolve))];
    const call = lisp.setBreakpoint({ function: "work" });
    while (asked.length < 2) await setTimeout(10);
    expect(asked[1]?.message).to.include("\nNames are read in package ASKED\n");
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
    expect(asked).to.deep.equal([]);
  });

  it("is not asked for if the call is invalid", async () => {
    await lisp.evaluate("(f 3)");
    await lisp.refusal("debugger_eval_in_frame", { frame: 999, code: "1" });
    await lisp.refusal("debugger_invoke_restart", { restart: "NO-SUCH" });
    await lisp.refusal("debugger_step", { mode: "into", thread: "99999" });
    expect(asked).to.deep.equal([]);
  });

  it("has no effect after the stop has ended", async () => {
    const stop = stopName(await lisp.evaluate("(break)"));
    let allow: (answer: ElicitResult) => void = () => {};
    answers = [new Promise((resolve) => (allow = resolve))];
    const call = lisp.refusal("debugger_eval_in_frame", { frame: 0, code: "1", thread: stop });
    while (asked.length === 0) await setTimeout(10);
    await lisp.resume("debugger_continue", { thread: stop });
    allow(chosen("Yes"));
    expect(await call).to.include({ type: "STALE_STOP" });
  });

  it("does not count towards the timeout and does not block other calls", async () => {
    const stop = stopName(await lisp.evaluate('(restart-case (error "x") (pause (n) (sleep n) :slept))'));
    let allow: (answer: ElicitResult) => void = () => {};
    answers = [new Promise((resolve) => (allow = resolve))];
    const args = { restart: "PAUSE", values: ["0.1"], thread: stop, timeout: 0.6 };
    const call = lisp.resume("debugger_invoke_restart", args);
    while (asked.length === 0) await setTimeout(10);
    expect(await lisp.evaluate("(progn (sleep 0.8) :meanwhile)")).to.deep.equal(["=> :MEANWHILE"]);
    allow(chosen("Yes"));
    expect(await call).to.deep.equal(["=> :SLEPT"]);
  });

  it("is withdrawn when the call is cancelled, and the stop remains", async () => {
    const stop = stopName(await lisp.evaluate("(f 3)"));
    answers = [new Promise(() => {})];
    const cancel = new AbortController();
    const call = lisp.call("debugger_eval_in_frame", { frame: 0, code: "1" }, cancel.signal).catch(() => "cancelled");
    while (asked.length === 0) await setTimeout(10);
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

  it("relies on the client's own permissions under ask if the client cannot ask", async () => {
    expect(await outcomes([])).to.deep.equal(Array(4).fill("false"));
  });

  it("is refused under strict if the client cannot ask", async () => {
    expect(await outcomes(["--approval", "strict"])).to.deep.equal(Array(4).fill("APPROVAL_DENIED"));
  });

  it("is not asked for under off, even if the client can ask", async () => {
    const never = () => Promise.reject(new Error("asked"));
    expect(await outcomes(["--approval", "off"], never)).to.deep.equal(Array(4).fill("false"));
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
