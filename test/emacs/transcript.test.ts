import { expect } from "chai";
import { BesideEmacs } from "../support/beside-emacs.js";
import { followsAgents, modeLine, modeLineShowing, useSwankMcp } from "../support/swank-mcp-el.js";

/** Replaces times and thread ids. */
function timeless(text: string): string {
  return text
    .replace(/\d\d:\d\d:\d\d/g, "HH:MM:SS")
    .replace(/\d+\.\d\d s/g, "T s")
    .replace(/\b\d+\/(\d+)\b/g, "N/$1");
}

describe("the transcript of swank-mcp.el", function () {
  this.timeout(300_000);
  let user: BesideEmacs;

  beforeEach(async () => {
    user = await BesideEmacs.connected();
    await useSwankMcp(user.emacs);
    await followsAgents(user.emacs);
  });
  afterEach(() => user.end());

  it("shows each call with its agent, code, output and values, while the mode line shows the agent's state", async () => {
    const { emacs } = user;
    await emacs.eval("(swank-mcp-transcript)");
    expect(await modeLine(emacs)).to.equal("");
    const agent = await user.agent();
    await agent.evaluate('(defun greet (name)\n  (format t "hello ~a" name)\n  (length name))\n(greet "you")');
    const { text } = await emacs.bufferShowing("*swank-mcp*", "=> 3");
    expect(timeless(text)).to.equal(
      'HH:MM:SS test  T s\n(defun greet (name)\n  (format t "hello ~a" name)\n  (length name))\n(greet "you")\nhello you\n=> 3\n\n',
    );
    await modeLineShowing(emacs, "agent idle");
    await agent.evaluate('(error "no such luck")');
    await modeLineShowing(emacs, "agent stopped");
    await emacs.bufferShowing("*swank-mcp*", "no such luck");
    await agent.call("debugger_invoke_restart", { restart: "ABORT" });
    await modeLineShowing(emacs, "agent idle");
    const running = agent.evaluate("(loop until (boundp 'go-on) do (sleep 0.01))");
    await modeLineShowing(emacs, "agent running");
    await emacs.evaluateInRepl("(defvar go-on t)");
    await running;
    await modeLineShowing(emacs, "agent idle");
    await agent.end();
    await modeLineShowing(emacs, "");
  });
});
