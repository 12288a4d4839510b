import { expect } from "chai";
import * as z from "zod";
import type { McpStdio } from "../support/mcp-stdio.js";
import { eachUser } from "./user.js";

const OWNER = "Emacs (Swank connection 1)";

const status = z.object({ stopped: z.array(z.object({ thread: z.string(), owner: z.string().optional() })) });
const refusal = z.object({ error: z.object({ data: z.object({ type: z.string(), next: z.string() }) }) });
const list = z.object({ breakpoints: z.array(z.unknown()) });

async function stopped(agent: McpStdio) {
  return status.parse((await agent.call("lisp-status")).structuredContent).stopped;
}

/** The refusal for a client that cannot ask. */
async function refused(agent: McpStdio, args: object) {
  const { structuredContent, isError } = await agent.call("breakpoint_set", args);
  expect(isError).to.equal(true);
  return refusal.parse(structuredContent).error.data;
}

describe("breakpoint_set with thread any beside Emacs", function () {
  this.timeout(200_000);
  const user = eachUser();
  beforeEach(() => user().emacs.evaluateInRepl("(defun work (n) (* n 2))"));

  async function watching(...args: readonly string[]): Promise<McpStdio> {
    const agent = await user().agent("--approval", "off", ...args);
    await agent.call("breakpoint_set", { function: "work", thread: "any" });
    return agent;
  }

  it("stops the user's REPL in Emacs, where the user continues it, and notifies the agent", async () => {
    const { emacs } = user();
    const agent = await watching();
    await emacs.typeInRepl("(work 21)");
    const { thread, condition, restarts } = await emacs.debuggerShowing("Breakpoint");
    expect(condition).to.equal("Breakpoint 1 on COMMON-LISP-USER::WORK, hit 1, set by another client of this image.");
    expect(restarts.map(({ name }) => name).slice(0, 2)).to.deep.equal(["CONTINUE", "REMOVE-BREAKPOINT"]);
    expect(await stopped(agent)).to.deep.include({ thread: `${thread}/1`, owner: OWNER });
    await emacs.invokeRestart(thread, 0);
    await emacs.debuggerClosed(thread);
    await emacs.prompt();
    expect(await emacs.replText()).to.match(/\(work 21\)\s+42\s/);
  });

  it("notifies the agent with its next answer, and lets the user remove the breakpoint", async () => {
    const { emacs } = user();
    const agent = await watching();
    await emacs.typeInRepl("(work 21)");
    const { thread } = await emacs.debuggerShowing("Breakpoint");
    expect(await agent.evaluate("(+ 1 2)")).to.deep.equal([
      "=> 3",
      `Breakpoint 1 on COMMON-LISP-USER::WORK stopped thread ${thread} (repl-thread) in ${OWNER}; the user continues it there. To look at it, call debugger_frames with thread "${thread}".`,
    ]);
    await emacs.invokeRestart(thread, 1);
    await emacs.debuggerClosed(thread);
    expect(await emacs.evaluateInRepl("(work 4)")).to.equal("8");
    expect(list.parse((await agent.call("breakpoint_list")).structuredContent).breakpoints).to.deep.equal([]);
  });

  it("stops the user's other requests in Emacs, background threads at the agent, and leaves interrupts to Emacs", async () => {
    const { emacs } = user();
    const agent = await watching();
    await emacs.eval("(slime-eval-async '(cl-user::work 3))");
    const request = await emacs.debuggerShowing("Breakpoint");
    await emacs.invokeRestart(request.thread, 0);
    await emacs.debuggerClosed(request.thread);
    await emacs.evaluateInRepl("(defvar *result* (sb-thread:make-thread (lambda () (work 5))))");
    let own: string | undefined;
    while (own === undefined) own = (await stopped(agent)).find(({ owner }) => owner === undefined)?.thread;
    expect(await emacs.debuggerBuffers()).to.deep.equal([]);
    await agent.call("debugger_continue", { thread: own });
    expect(await emacs.evaluateInRepl("(sb-thread:join-thread *result*)")).to.equal("10");
    await emacs.typeInRepl("(progn (work 1) (loop (sleep 0.01)))");
    const { thread } = await emacs.debuggerShowing("Breakpoint");
    await emacs.invokeRestart(thread, 0);
    await emacs.debuggerClosed(thread);
    await emacs.pressInRepl("C-c C-c");
    await emacs.debuggerShowing("Interrupt from Emacs");
    await emacs.pressInDebugger(thread, "q");
    await emacs.debuggerClosed(thread);
    await emacs.prompt();
  });

  it("leaves the stop in Emacs when the agent is killed", async () => {
    const { emacs } = user();
    const agent = await watching();
    await emacs.typeInRepl("(work 21)");
    const { thread } = await emacs.debuggerShowing("Breakpoint");
    agent.process.kill("SIGKILL");
    await agent.exited;
    await emacs.invokeRestart(thread, 0);
    await emacs.debuggerClosed(thread);
    await emacs.prompt();
    expect(await emacs.replText()).to.match(/\(work 21\)\s+42\s/);
    expect(await emacs.evaluateInRepl("(loop repeat 1000 until (eql (work 4) 8) do (sleep 0.01))")).to.equal("NIL");
  });

  it("needs a confirmation, as for a thread of the user, so a client that cannot ask is refused", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    const [thread] = (
      await agent.evaluate("(swank/backend:thread-id (swank::mconn.repl-thread (first swank::*connections*)))")
    )
      .join("")
      .match(/\d+/) ?? [""];
    for (const watched of ["any", thread]) {
      const { type, next } = await refused(agent, { function: "work", thread: watched });
      expect(type).to.equal("APPROVAL_DENIED");
      expect(next).to.include("Leave thread out");
    }
    expect(await emacs.evaluateInRepl("(work 21)")).to.equal("42");
    await user().emacsLeaves(agent);
    expect((await agent.call("breakpoint_set", { function: "work", thread: "any" })).isError).to.not.equal(true);
  });
});
