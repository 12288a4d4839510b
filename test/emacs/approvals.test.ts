import { expect } from "chai";
import type { McpStdio } from "../support/mcp-stdio.js";
import { modeLineShowing } from "../support/swank-mcp-el.js";
import { eachUser, following } from "./user.js";

/** Answers the question of an agent's server that has not been answered. */
async function answer(agent: McpStdio, result: object): Promise<void> {
  const { id } = await agent.notified("elicitation/create");
  agent.notifications.splice(
    agent.notifications.findIndex((message) => message.id === id),
    1,
  );
  agent.send({ id, result });
}

describe("approvals in the transcript of swank-mcp.el", function () {
  this.timeout(300_000);
  const user = eachUser(following);
  beforeEach(async () => {
    await user().emacs.eval("(swank-mcp-transcript)");
  });

  it("show the question, while the mode line says asking, then the answer and how it was given", async () => {
    const { emacs } = user();
    const agent = await user().askingAgent();
    await agent.evaluate("(defun f (x) (restart-case (list (car x) x) (use-seven () 7)))");
    await agent.evaluate("(f 3)");
    const call = agent.startCall("debugger_eval_in_frame", { frame: 0, code: "(setf x (list 4))" });
    await modeLineShowing(emacs, "agent asking");
    const { text } = await emacs.bufferShowing("*swank-mcp*", "asking");
    expect(text).to.match(
      /test \(approval\) {2}asking\n;; evaluate code in frame #0\?\n\(setf x \(list 4\)\)\n;; Frame 0: .*\n;; Thread \d+\/1\n/,
    );
    await answer(agent, { action: "accept", content: { answer: "Yes, for this stop" } });
    expect((await call.result).isError).to.equal(false);
    await emacs.bufferShowing("*swank-mcp*", "Allowed in the agent's client: Yes, for this stop");
    await modeLineShowing(emacs, "agent stopped");
    const other = agent.startCall("debugger_invoke_restart", { restart: "USE-SEVEN" });
    await answer(agent, { action: "decline" });
    expect((await other.result).isError).to.equal(true);
    const { text: whole } = await emacs.bufferShowing("*swank-mcp*", "Not allowed");
    expect(whole).to.match(/\(approval\) {2}refused\n[\s\S]*Not allowed in the agent's client: the user said no/);
  });

  it("show a request that was refused without a question", async () => {
    const agent = await user().agent("--approval", "strict");
    await agent.evaluate("(defun f (x) (list (car x) x))");
    await agent.evaluate("(f 3)");
    await agent.call("debugger_eval_in_frame", { frame: 0, code: "(setf x 5)" });
    const { text } = await user().emacs.bufferShowing("*swank-mcp*", "Not allowed");
    expect(text).to.match(/\(setf x 5\)\n[\s\S]*Not allowed: [\s\S]*--approval strict, and this client cannot ask/);
  });

  it("show the code of each call that --read-only refused, even if nothing else was called", async () => {
    const agent = await user().agent("--read-only");
    await agent.evaluate("(setf *users* nil)", { package: "CL-USER" });
    await agent.call("breakpoint_set", { function: "f", thread: "any" });
    const { text } = await user().emacs.bufferShowing("*swank-mcp*", "breakpoint_set would");
    expect(text).to.match(
      /test \(evaluate-lisp\) {2}refused\n\(setf \*users\* nil\)\nRefused: evaluate-lisp would do more than read, which --read-only forbids\.\n/,
    );
    expect(text).to.match(/test \(breakpoint_set\) {2}refused\n;; \{"function":"f","thread":"any"\}\n/);
    await modeLineShowing(user().emacs, "agent idle");
  });
});
