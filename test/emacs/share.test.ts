import { expect } from "chai";
import { Emacs } from "../support/emacs.js";
import { blocks } from "../support/mcp-results.js";
import { McpStdio } from "../support/mcp-stdio.js";

describe("swank-mcp --share with Emacs", function () {
  this.timeout(300_000);
  let emacs: Emacs;
  let agent: McpStdio;

  beforeEach(async () => {
    emacs = await Emacs.start();
    agent = await McpStdio.start(["--share"]);
  });

  afterEach(async () => {
    await agent.end();
    await emacs.kill();
  });

  /** Connects as the server says on standard error, since there is no ~/.slime-secret. */
  async function join(): Promise<void> {
    await agent.call("lisp-status");
    const form = /^swank-mcp: (\(progn .*\))$/m.exec(agent.errorText)?.[1] ?? "(error)";
    await emacs.eval(form);
    await emacs.prompt();
  }

  it("lets Emacs work beside the agent, sends it errors of background threads, and keeps the image at reset-session", async () => {
    await join();
    await agent.evaluate("(defun joined () :by-the-agent)");
    expect(await emacs.evaluateInRepl("(joined)")).to.equal(":BY-THE-AGENT");
    await emacs.evaluateInRepl("(defun user-made () :by-the-user)");
    expect(await agent.evaluate("(user-made)")).to.deep.equal(["=> :BY-THE-USER"]);
    await emacs.evaluateInRepl('(progn (sb-thread:make-thread (lambda () (error "elsewhere"))) nil)');
    const { thread } = await emacs.debuggerShowing("elsewhere");
    expect(blocks(await agent.call("reset-session")).at(-1)).to.equal(
      "The image was kept because another client is connected to it.",
    );
    await emacs.pressInDebugger(thread, "q");
    await emacs.debuggerClosed(thread);
    expect(await emacs.evaluateInRepl("(list (user-made) (fboundp 'joined))")).to.equal("(:BY-THE-USER NIL)");
    await emacs.disconnect();
    let reset = blocks(await agent.call("reset-session"));
    // The image may not have detected yet that Emacs has disconnected.
    while (reset.length > 1) reset = blocks(await agent.call("reset-session"));
    expect(reset[0]).to.match(/A fresh image/);
    await join();
    expect(await emacs.evaluateInRepl("(fboundp 'user-made)")).to.equal("NIL");
    await agent.end();
    await emacs.until("(not (slime-connected-p))", "the end of the connection");
  });
});
