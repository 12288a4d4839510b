import { expect } from "chai";
import { attachedTo, liveDebugger, liveSwank } from "../../support/live-server.js";
import { McpDebugger, stopName } from "../../support/mcp-debugger.js";
import { chosen, McpUser } from "../../support/mcp-user.js";

const DELETE = '(progn (cerror "Delete the customers" "They are stale.") (setf *deleted* t))';

describe("debugger_continue and approval", function () {
  this.timeout(180_000);
  const user = new McpUser();
  const lisp = liveDebugger({ answer: user.answer, code: "(defvar *deleted* nil)" });
  beforeEach(async () => {
    user.forget();
    await lisp.evaluate("(setf *deleted* nil)");
  });

  async function withMute<T>(args: readonly string[], test: (mute: McpDebugger) => Promise<T>): Promise<T> {
    const mute = await McpDebugger.start({ args });
    return test(mute).finally(() => mute.close());
  }

  it("asks at an error, shows the effect of CONTINUE, and does nothing after a no", async () => {
    const stop = stopName(await lisp.evaluate(DELETE));
    expect(await lisp.refusal("debugger_continue")).to.include({ type: "APPROVAL_DENIED" });
    expect(user.messages).to.deep.equal([
      "AI agent wants to invoke restart 1:\nCONTINUE: Delete the customers\n\nAllow? [Yes/No/Show Code] Timeout: 60s",
    ]);
    expect(await lisp.stops()).to.deep.equal([stop]);
    expect(await lisp.evaluate("*deleted*")).to.deep.equal(["=> NIL"]);
    user.answers = [chosen("Yes")];
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> T"]);
  });

  it("shares a yes for the whole stop with debugger_invoke_restart", async () => {
    await lisp.evaluate(`(restart-bind ((note (lambda () nil))) ${DELETE})`);
    user.answers = [chosen("Yes, for this stop")];
    await lisp.call("debugger_invoke_restart", { restart: "NOTE" });
    await lisp.resume("debugger_continue");
    expect(user.messages).to.have.lengthOf(1);
  });

  it("asks at a stop that only looks like a break", async () => {
    const condition = '(make-condition \'simple-condition :format-control "x")';
    await lisp.evaluate(
      `(restart-case (invoke-debugger ${condition}) (continue () :report "Delete the customers" (setf *deleted* t)))`,
    );
    expect(await lisp.refusal("debugger_continue")).to.include({ type: "APPROVAL_DENIED" });
    expect(user.messages[0]).to.include("CONTINUE: Delete the customers");
  });

  it("does not ask at the session's own breaks, breakpoints and timeouts", async () => {
    await lisp.evaluate("(list (break))");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (NIL)"]);
    await lisp.evaluate("(progn (sleep 0.5) :slept)", { timeout: 0.1 });
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> :SLEPT"]);
    await lisp.evaluate("(defun g (x) (* x 2))");
    user.answers = [chosen("Yes"), chosen("Yes")];
    await lisp.setBreakpoint({ function: "g" });
    await lisp.evaluate("(list (g 1))");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (2)"]);
    await lisp.evaluate("(list (g 1))");
    await lisp.resume("debugger_step", { mode: "into" });
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (2)"]);
    expect(user.messages.map((message) => message.split("\n")[0])).to.deep.equal([
      "AI agent wants to set a breakpoint:",
      "AI agent wants to step into:",
    ]);
  });

  it("refuses at an error, but not at a break, under strict if the client cannot ask", () =>
    withMute(["--approval", "strict"], async (mute) => {
      await mute.evaluate(`(defvar *deleted* nil) ${DELETE}`);
      expect(await mute.refusal("debugger_continue")).to.include({ type: "APPROVAL_DENIED" });
      expect(await mute.evaluate("*deleted*")).to.deep.equal(["=> NIL"]);
      await mute.evaluate("(break)");
      expect(await mute.resume("debugger_continue")).to.deep.equal(["=> NIL"]);
    }));

  it("does not ask if the stop has no CONTINUE", async () => {
    await lisp.evaluate('(error "x")');
    expect(await lisp.refusal("debugger_continue")).to.include({ type: "NO_SUCH_RESTART" });
    expect(user.messages).to.deep.equal([]);
  });
});

describe("debugger_continue and the user's threads", () => {
  const image = liveSwank({ each: true });
  const mute = liveDebugger({ each: true, args: attachedTo(image) });

  for (const [what, code] of [
    ["an error", DELETE],
    ["a break", "(progn (break) (setf *deleted* t))"],
  ] as const) {
    it(`asks at ${what} in one of the user's threads`, async () => {
      await mute.evaluate("(defvar *deleted* nil)");
      image.type(`(sb-thread:make-thread (lambda () ${code}))`);
      while ((await mute.stops()).length === 0);
      const [thread] = await mute.stops();
      const refused = await mute.refusal("debugger_continue", { thread });
      expect(refused).to.include({ type: "APPROVAL_DENIED" });
      expect(refused.message).to.include("the thread belongs to another client or to the program");
      expect(await mute.stops()).to.deep.equal([thread]);
      expect(await mute.evaluate("*deleted*")).to.deep.equal(["=> NIL"]);
    });
  }
});
