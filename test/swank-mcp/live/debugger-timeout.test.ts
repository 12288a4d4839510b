import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { liveDebugger } from "../../support/live-server.js";
import { McpDebugger, stopName } from "../../support/mcp-debugger.js";
import { blocks } from "../../support/mcp-results.js";

describe("evaluation timeouts", () => {
  const lisp = liveDebugger({
    args: ["--timeout", "0.5"],
    code: "(defvar *go-on* nil) (defun waiting (n) (loop until *go-on* do (sleep 0.01)) (list :waited n))",
  });
  afterEach(async () => {
    await lisp.evaluate("(setf *go-on* nil)");
  });

  it("pause the evaluation, which can be inspected and continued to its value", async () => {
    const result = await lisp.call("evaluate-lisp", { code: "(waiting 7)", timeout: 0.2 });
    expect(result.isError).to.equal(true);
    expect(blocks(result)[0]).to.match(/^\[TIMEOUT\] TIMEOUT\n/);
    const { index } = await lisp.frame("(WAITING 7)");
    expect(await lisp.valuesInFrame(index, "(list n *go-on*)")).to.deep.equal(["(7 NIL)"]);
    // A second timeout pauses it again.
    const again = await lisp.resume("debugger_continue", { timeout: 0.2 });
    expect(again[0]).to.match(/^\[TIMEOUT\] TIMEOUT\n/);
    await lisp.evaluate("(setf *go-on* t)");
    expect(await lisp.resume("debugger_continue", { thread: stopName(again) })).to.deep.equal(["=> (:WAITED 7)"]);
  });

  it("report the thread and output of an evaluation that cannot be interrupted", async () => {
    const code = `(defvar *thread* (swank/backend:thread-id sb-thread:*current-thread*)) (format t "so far~%") (finish-output)
      (sb-sys:without-interrupts (loop until *go-on* do (sleep 0.01))) (setf *thread* nil)`;
    const result = await lisp.call("evaluate-lisp", { code, timeout: 0.2 });
    const [thread] = await lisp.evaluate("*thread*");
    const number = Number(thread?.slice("=> ".length));
    expect(result._meta?.["swank-mcp/outcome"]).to.include({ status: "running", stdout: "so far\n", thread: number });
    expect(blocks(result)[0]).to.match(
      new RegExp(
        `^\\[stdout\\]\nso far\n\n\\[TIMEOUT\\] TIMEOUT\n.* STILL RUNNING in thread ${number}\\. Code does not react `,
      ),
    );
    await lisp.evaluate("(setf *go-on* t)");
  });

  it("end only the evaluation in a frame, not its stop", async () => {
    const stop = stopName(await lisp.evaluate('(let ((cleaned nil)) (declare (special cleaned)) (error "x"))'));
    const args = { frame: 0, code: "(loop)", thread: stop };
    const refused = await lisp.refusal("debugger_eval_in_frame", args);
    expect(refused).to.include({ type: "FRAME_EVALUATION_TIMEOUT" });
    expect(await lisp.stops()).to.deep.equal([stop]);
    await lisp.evaluate("(defun hold (a) (break) a)");
    await lisp.evaluate("(hold 1)");
    const { index } = await lisp.frame("(HOLD");
    const late = await lisp.refusal("debugger_eval_in_frame", { frame: index, code: "(setf a 2) (loop)" });
    expect(late.next).to.equal("Evaluate code that takes less time. The code has already set A.");
    expect(await lisp.valuesInFrame(0, "(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("do not delay a cancellation, which ends only the evaluation in a frame", async () => {
    const slow = await McpDebugger.start();
    try {
      const stop = stopName(await slow.evaluate('(defvar *seen* nil) (error "x")'));
      const cancel = new AbortController();
      const code = "(unwind-protect (loop) (setf *seen* :cancelled))";
      const call = slow.call("debugger_eval_in_frame", { frame: 0, code }, cancel.signal).catch(() => "cancelled");
      await setTimeout(200);
      cancel.abort();
      expect(await call).to.equal("cancelled");
      while ((await slow.evaluate("*seen*"))[0] !== "=> :CANCELLED");
      expect(await slow.stops()).to.deep.equal([stop]);
      expect(await slow.valuesInFrame(0, ":alive")).to.deep.equal([":ALIVE"]);
    } finally {
      await slow.close();
    }
  });

  it("do not delay a cancellation, which unwinds a resumed evaluation", async () => {
    const code = '(defvar *end* nil) (unwind-protect (progn (cerror "Go on" "x") (waiting 1)) (setf *end* :unwound))';
    await lisp.evaluate(code);
    const cancel = new AbortController();
    const call = lisp.call("debugger_continue", { timeout: 60 }, cancel.signal).catch(() => "cancelled");
    await setTimeout(200);
    cancel.abort();
    expect(await call).to.equal("cancelled");
    while ((await lisp.evaluate("*end*"))[0] !== "=> :UNWOUND");
    expect(await lisp.stops()).to.deep.equal([]);
  });
});
