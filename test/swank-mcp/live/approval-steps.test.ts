import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { McpDebugger, stopName } from "../../support/mcp-debugger.js";

describe("approval of steps", () => {
  let lisp: McpDebugger;
  let asked: string[] = [];
  /** The user's answers, in order; after the last one the user says no. */
  let answers: string[] = [];

  before(async () => {
    lisp = await McpDebugger.start({
      answer: async (message) => {
        asked.push(message);
        const answer = answers.shift();
        return answer === undefined ? { action: "decline" } : { action: "accept", content: { answer } };
      },
    });
    await lisp.evaluate("(defvar *stepped* nil) (defun g (x) (* x 2)) (defun h (x) (list (g x) (g x)))");
  });
  after(() => lisp.close());

  it("for a stop also covers the stops that its steps lead to", async () => {
    answers = ["Yes"];
    await lisp.setBreakpoint({ function: "g" });
    await lisp.evaluate("(list (g 1) (g 2))");
    answers = ["Yes, for this stop"];
    asked = [];
    await lisp.resume("debugger_step", { mode: "into" });
    await lisp.removeBreakpoints();
    await lisp.resume("debugger_step", { mode: "out" });
    expect(asked.map((message) => message.split("\n\n")[0])).to.deep.equal([
      "AI agent wants to step into:\nCode: (G 1)",
    ]);
  });

  it("for a stop inside a stop covers the stops that its steps lead to, and not the outer one", async () => {
    const outer = stopName(await lisp.evaluate("(setf *stepped* sb-thread:*current-thread*) (step (h 5))"));
    await lisp.evaluate("(progn (sb-thread:interrupt-thread *stepped* (lambda () (step (h 1)))) nil)");
    const inner = outer.replace("/1", "/2");
    while (!(await lisp.stops()).includes(inner)) await setTimeout(20);
    asked = [];
    answers = ["Yes, for this stop"];
    await lisp.resume("debugger_step", { mode: "into", thread: inner });
    await lisp.resume("debugger_step", { mode: "into", thread: inner });
    expect(asked).to.have.lengthOf(1);
  });
});
