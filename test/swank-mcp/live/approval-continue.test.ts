import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import { McpDebugger, stopName } from "../../support/mcp-debugger.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

const DELETE = '(progn (cerror "Delete the customers" "They are stale.") (setf *deleted* t))';

function chosen(answer: string): ElicitResult {
  return { action: "accept", content: { answer } };
}

describe("debugger_continue and approval", function () {
  // The core of the user's image may have to be built first.
  this.timeout(180_000);
  const opened: (() => Promise<unknown>)[] = [];
  let asked: string[] = [];
  let answer = "No";

  beforeEach(() => {
    asked = [];
    answer = "No";
  });
  afterEach(async () => {
    for (const end of opened.splice(0).reverse()) await end();
  });

  async function start(args: readonly string[] = []): Promise<McpDebugger> {
    const lisp = await McpDebugger.start({
      args,
      answer: async (message) => {
        asked.push(message);
        return chosen(answer);
      },
    });
    opened.push(() => lisp.close());
    await lisp.evaluate("(defvar *deleted* nil)");
    return lisp;
  }

  async function startMute(args: readonly string[]): Promise<McpDebugger> {
    const lisp = await McpDebugger.start({ args });
    opened.push(() => lisp.close());
    return lisp;
  }

  async function startImage(): Promise<RealSwank> {
    const image = await startRealSwank();
    opened.push(() => image.stop());
    return image;
  }

  it("asks at an error, shows the effect of CONTINUE, and does nothing after a no", async () => {
    const lisp = await start();
    const stop = stopName(await lisp.evaluate(DELETE));
    expect(await lisp.refusal("debugger_continue")).to.include({ type: "APPROVAL_DENIED" });
    expect(asked).to.deep.equal([
      "AI agent wants to invoke restart 1:\nCONTINUE: Delete the customers\n\nAllow? [Yes/No/Show Code] Timeout: 60s",
    ]);
    expect(await lisp.stops()).to.deep.equal([stop]);
    expect(await lisp.evaluate("*deleted*")).to.deep.equal(["=> NIL"]);
    answer = "Yes";
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> T"]);
  });

  it("shares a yes for the whole stop with debugger_invoke_restart", async () => {
    const lisp = await start();
    await lisp.evaluate(`(restart-bind ((note (lambda () nil))) ${DELETE})`);
    answer = "Yes, for this stop";
    await lisp.call("debugger_invoke_restart", { restart: "NOTE" });
    await lisp.resume("debugger_continue");
    expect(asked).to.have.lengthOf(1);
  });

  it("asks at a stop that only looks like a break", async () => {
    const lisp = await start();
    const condition = '(make-condition \'simple-condition :format-control "x")';
    await lisp.evaluate(
      `(restart-case (invoke-debugger ${condition}) (continue () :report "Delete the customers" (setf *deleted* t)))`,
    );
    expect(await lisp.refusal("debugger_continue")).to.include({ type: "APPROVAL_DENIED" });
    expect(asked[0]).to.include("CONTINUE: Delete the customers");
  });

  it("does not ask at the session's own breaks, breakpoints and timeouts", async () => {
    const lisp = await start();
    await lisp.evaluate("(list (break))");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (NIL)"]);
    await lisp.evaluate("(progn (sleep 0.5) :slept)", { timeout: 0.1 });
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> :SLEPT"]);
    await lisp.evaluate("(defun g (x) (* x 2))");
    answer = "Yes";
    await lisp.setBreakpoint({ function: "g" });
    await lisp.evaluate("(list (g 1))");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (2)"]);
    await lisp.evaluate("(list (g 1))");
    await lisp.resume("debugger_step", { mode: "into" });
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> (2)"]);
    expect(asked.map((message) => message.split("\n")[0])).to.deep.equal([
      "AI agent wants to set a breakpoint:",
      "AI agent wants to step into:",
    ]);
  });

  it("refuses at an error, but not at a break, under strict if the client cannot ask", async () => {
    const lisp = await startMute(["--approval", "strict"]);
    await lisp.evaluate(`(defvar *deleted* nil) ${DELETE}`);
    expect(await lisp.refusal("debugger_continue")).to.include({ type: "APPROVAL_DENIED" });
    expect(await lisp.evaluate("*deleted*")).to.deep.equal(["=> NIL"]);
    await lisp.evaluate("(break)");
    expect(await lisp.resume("debugger_continue")).to.deep.equal(["=> NIL"]);
  });

  it("does not ask if the stop has no CONTINUE", async () => {
    const lisp = await start();
    await lisp.evaluate('(error "x")');
    expect(await lisp.refusal("debugger_continue")).to.include({ type: "NO_SUCH_RESTART" });
    expect(asked).to.deep.equal([]);
  });

  for (const [what, code] of [
    ["an error", DELETE],
    ["a break", "(progn (break) (setf *deleted* t))"],
  ] as const) {
    it(`asks at ${what} in one of the user's threads`, async () => {
      const image = await startImage();
      const lisp = await startMute(["--attach", String(image.port)]);
      await lisp.evaluate("(defvar *deleted* nil)");
      image.type(`(sb-thread:make-thread (lambda () ${code}))`);
      while ((await lisp.stops()).length === 0);
      const [thread] = await lisp.stops();
      const refused = await lisp.refusal("debugger_continue", { thread });
      expect(refused).to.include({ type: "APPROVAL_DENIED" });
      expect(refused.message).to.include("the thread belongs to another client or to the program");
      expect(await lisp.stops()).to.deep.equal([thread]);
      expect(await lisp.evaluate("*deleted*")).to.deep.equal(["=> NIL"]);
    });
  }
});
