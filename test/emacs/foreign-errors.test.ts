import { expect } from "chai";
import * as z from "zod";
import { BesideEmacs } from "../support/beside-emacs.js";
import type { McpStdio } from "../support/mcp-stdio.js";

/** Starts a background thread that fails with this message. */
function failing(message: string): string {
  return `(progn (sb-thread:make-thread (lambda () (error "${message}"))) :started)`;
}

const status = z.object({
  stopped: z.array(z.object({ thread: z.string(), message: z.string(), owner: z.string().optional() })),
});

/** Returns the messages of this session's stops, without those of other clients, which are listed as well. */
async function stopped(agent: McpStdio): Promise<string[]> {
  const { structuredContent } = await agent.call("lisp-status");
  return status
    .parse(structuredContent)
    .stopped.flatMap(({ message, owner }) => (owner === undefined ? [message] : []));
}

async function untilStopped(agent: McpStdio, message: string): Promise<void> {
  while (!(await stopped(agent)).includes(message));
}

describe("errors of background threads beside Emacs", function () {
  this.timeout(200_000);
  let user: BesideEmacs;

  afterEach(() => user.end());

  async function leavesAndReturns(agent: McpStdio): Promise<void> {
    const { emacs, port } = user;
    await user.prepareFailures();
    await user.fail(agent, "while Emacs is there");
    await emacs.debuggerShowing("while Emacs is there");
    await user.emacsLeaves(agent);
    await user.fail(agent, "while Emacs is away");
    await untilStopped(agent, "while Emacs is away");
    await emacs.connect(port);
    expect(await emacs.evaluateInRepl(failing("after its return"))).to.equal(":STARTED");
    expect((await emacs.debuggerShowing("after its return")).text).to.include("Backtrace:");
    const { thread, restarts } = await emacs.debuggerShowing("while Emacs is away");
    expect(restarts.map(({ name }) => name)).to.deep.equal(["ABORT"]);
    while ((await stopped(agent)).length > 0);
    await emacs.pressInDebugger(thread, "0");
    await emacs.debuggerClosed(thread);
    expect(new Set((await emacs.debuggerBuffers()).map(({ condition }) => condition))).to.deep.equal(
      new Set(["while Emacs is there", "after its return"]),
    );
  }

  it("go to Emacs, to the agent after Emacs disconnects, and to Emacs again when it returns", async () => {
    user = await BesideEmacs.connected();
    await leavesAndReturns(await user.agent());
  });

  it("go to the agent after Emacs is killed, and to the next Emacs", async () => {
    user = await BesideEmacs.connected();
    await user.prepareFailures();
    const agent = await user.agent();
    await user.emacsLeaves(agent, "kill");
    await user.fail(agent, "without Emacs");
    await untilStopped(agent, "without Emacs");
    const next = await user.anotherEmacs();
    await next.connect(user.port);
    await user.fail(agent, "with the next");
    await next.debuggerShowing("with the next");
    await next.debuggerShowing("without Emacs");
    while ((await stopped(agent)).length > 0);
  });

  it("go the same way when Emacs started the Lisp, and so does the threads' output", async () => {
    user = await BesideEmacs.startedByEmacs();
    const agent = await user.agent();
    await leavesAndReturns(agent);
    const printing =
      '(sb-thread:join-thread (sb-thread:make-thread (lambda () (princ "by a thread") (finish-output) 7)))';
    expect(await user.emacs.evaluateInRepl(printing)).to.equal("by a thread\n7");
    expect(await agent.evaluate("(+ 1 2)")).to.deep.include("=> 3");
  });

  it("stay with the agent when Emacs returns, if the agent's code started the thread, as do its evaluations and breakpoints", async () => {
    user = await BesideEmacs.startedByHand();
    const { emacs, port } = user;
    await emacs.connect(port);
    await user.prepareFailures();
    await emacs.evaluateInRepl("(defun work () 1) (defvar *turn* nil)");
    await emacs.evaluateInRepl("(sb-thread:make-thread (lambda () (loop until *turn* do (sleep 0.02)) (work)))");
    const agent = await user.agent();
    await user.emacsLeaves(agent);
    await agent.evaluate('(error "in an evaluation")');
    await agent.evaluate(failing("in a thread of the agent's"));
    await agent.call("breakpoint_set", { function: "work", thread: "any" });
    await agent.evaluate("(setf cl-user::*turn* t)");
    await user.fail(agent, "the user's");
    while ((await stopped(agent)).length < 4);
    await emacs.connect(port);
    await emacs.debuggerShowing("the user's");
    while ((await stopped(agent)).length > 3);
    expect((await emacs.debuggerBuffers()).map(({ condition }) => condition)).to.deep.equal(["the user's"]);
    expect((await stopped(agent)).sort()).to.deep.equal([
      "Breakpoint 1 on COMMON-LISP-USER::WORK, hit 1.",
      "in a thread of the agent's",
      "in an evaluation",
    ]);
  });

  it("leave the image usable when the Emacs that started it disconnects, although the agent was only connected", async () => {
    user = await BesideEmacs.startedByEmacs();
    const agent = await user.agent();
    expect((await agent.call("lisp-status")).isError).to.not.equal(true);
    await user.emacsLeaves(agent);
    const printing =
      '(sb-thread:join-thread (sb-thread:make-thread (lambda () (print "by a thread") (finish-output) 7)))';
    const [value, printed] = await agent.evaluate(printing);
    expect([value, printed?.split("\n").at(-1)]).to.deep.equal(["=> 7", '"by a thread" ']);
    await user.emacs.connect(user.port);
    expect(await user.emacs.evaluateInRepl(printing)).to.equal('"by a thread" \n7');
  });
});
