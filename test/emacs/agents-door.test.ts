import { expect } from "chai";
import { freePort } from "../support/beside-emacs.js";
import { Emacs } from "../support/emacs.js";
import { blocks } from "../support/mcp-results.js";
import { McpStdio } from "../support/mcp-stdio.js";
import { followsAgents, modeLineShowing, useSwankMcp } from "../support/swank-mcp-el.js";
import { USUAL_SERVER } from "../support/usual-server.js";
import { eachUser, following } from "./user.js";

describe("swank-mcp-listen and swank-mcp-kick", function () {
  this.timeout(300_000);

  it("let an agent in with a secret, and throw it out for good with all that it runs and has stopped", async () => {
    const emacs = await Emacs.start();
    let agent: McpStdio | undefined;
    try {
      await emacs.startLisp();
      await following(emacs);
      const port = await freePort();
      const command = JSON.parse(await emacs.eval(`(swank-mcp-listen ${port} "Claude Code")`));
      expect(command).to.match(
        /^claude mcp add lisp -- \/\S+\/swank-mcp\.js --attach \d+(?: --secret-file \/\S+\/\.sly-secret)?$/,
      );
      expect(JSON.parse(await emacs.eval("(current-kill 0)"))).to.equal(command);
      const secret = JSON.parse(await emacs.eval('(expand-file-name "~/.slime-secret")'));
      expect(await emacs.eval('(format "%o" (file-modes "~/.slime-secret"))')).to.equal('"600"');
      agent = await McpStdio.start(["--attach", String(port), "--secret-file", secret]);
      await agent.evaluate('(error "stopped")');
      const running = agent.evaluate("(progn (defvar *began* t) (sleep 300))");
      await emacs.until("(eql 2 (swank-mcp-test-open-calls))", "two calls");
      // Before the command ends, or the hint of M-x would hide it.
      const messages = '(with-current-buffer "*Messages*" (buffer-string))';
      expect(await emacs.eval(`(progn (swank-mcp-kick) ${messages})`)).to.include("thrown out");
      expect(await emacs.messageMatching("thrown out")).to.equal(
        `1 agent was thrown out.  Port ${port} is closed; M-x swank-mcp-listen opens it again.`,
      );
      expect((await running)[0]).to.match(/aborted|lost/i);
      const kicked = (await agent.evaluate("(+ 1 2)"))[0];
      expect(kicked).to.match(
        /^\S*The user has disconnected all agents, with M-x swank-mcp-kick in Emacs\. No Lisp can be reached/,
      );
      expect(kicked).to.include("M-x swank-mcp-listen in Emacs lets agents in again.");
      await modeLineShowing(emacs, "");
      expect((await agent.evaluate("(+ 1 2)"))[0]).to.include("No Lisp can be reached");
      const left =
        '(progn (loop repeat 500 while (find "worker" (sb-thread:list-all-threads) :key (function sb-thread:thread-name) :test (function equal)) do (sleep 0.01)) (count "worker" (sb-thread:list-all-threads) :key (function sb-thread:thread-name) :test (function equal)))';
      expect(await emacs.evaluateInRepl(left)).to.equal("0");
      await emacs.eval(`(swank-mcp-listen ${port} "Claude Code")`);
      expect((await agent.evaluate("(+ 1 2)"))[0]).to.equal("=> 3");
    } finally {
      await agent?.end();
      await emacs.kill();
    }
  });

  it("let agents into a Lisp whose connection to Emacs has no threads, and their clients ask then", async () => {
    const emacs = await Emacs.start();
    let agent: McpStdio | undefined;
    try {
      await emacs.eval('(with-temp-file "~/.swank.lisp" (insert "(setf swank:*communication-style* :fd-handler)"))');
      await emacs.startLisp();
      expect(await emacs.eval("(slime-communication-style)")).to.equal(":fd-handler");
      await useSwankMcp(emacs);
      await emacs.openFrame();
      const port = await freePort();
      await emacs.eval(`(swank-mcp-listen ${port} "other")`);
      await emacs.messageMatching("Agents can join.");
      await emacs.messageMatching("This Emacs cannot show what they do or ask you for them");
      const secret = JSON.parse(await emacs.eval('(expand-file-name "~/.slime-secret")'));
      agent = await McpStdio.start(["--attach", String(port), "--secret-file", secret]);
      expect(await agent.evaluate("(defun fact (n) n)")).to.deep.equal(["=> FACT"]);
      const [refused] = blocks(await agent.call("breakpoint_set", { function: "fact", thread: "any" }));
      expect(refused).to.include("this client cannot ask");
      expect(await emacs.evaluateInRepl("(fact 3)")).to.equal("3");
    } finally {
      await agent?.end();
      await emacs.kill();
    }
  });
});

describe("swank-mcp-listen and swank-mcp-kick with a Lisp that Emacs has joined", function () {
  this.timeout(300_000);
  const user = eachUser(following);

  it("say what is wrong: no agent, or a secret that others can read", async () => {
    const { emacs } = user();
    await emacs.eval("(swank-mcp-kick)");
    expect(await emacs.messageMatching("No agent")).to.equal(
      "No agent was thrown out: none has finished connecting.  If one is connecting now, kick again.",
    );
    await emacs.eval('(with-temp-file "~/.slime-secret" (insert "known"))');
    await emacs.eval('(set-file-modes "~/.slime-secret" #o644)');
    const refused = await emacs.eval(
      `(condition-case problem (swank-mcp-listen ${user().port} "other") (error (error-message-string problem)))`,
    );
    expect(refused).to.match(/^"Other users can read \S+\/\.(?:slime|sly)-secret\. {2}Correct this first: chmod 600/);
  });

  it("close only the ports that agents use, also in a Lisp without a runtime, and count each agent once", async () => {
    const { emacs } = user();
    const others = await freePort();
    await emacs.evaluateInRepl(`(swank:create-server :port ${others} :dont-close t)`);
    const ports = "(mapcar (function second) swank::*servers*)";
    const agents = [await user().agent(), await user().agent()];
    // Both have set up their connections, and none has loaded what evaluates.
    for (const agent of agents) await agent.call("lisp-status");
    const isAgent =
      USUAL_SERVER === "swank"
        ? "(typep (swank::connection.user-output each) 'synonym-stream)"
        : "(gethash each (get :swank-client :slynk-streams))";
    const prepared = `(count-if (lambda (each) ${isAgent}) swank::*connections*)`;
    while ((await emacs.evaluateInRepl(prepared)) !== "2");
    expect(await emacs.evaluateInRepl("(null (car (get :swank-mcp :runtimes)))")).to.equal("T");
    await emacs.eval("(swank-mcp-kick)");
    expect(await emacs.messageMatching("thrown out")).to.equal(
      `2 agents were thrown out.  Port ${user().port} is closed; M-x swank-mcp-listen opens it again.`,
    );
    expect(await emacs.evaluateInRepl(ports)).to.equal(`(${others})`);
    expect((await agents[0]?.evaluate("(+ 1 2)"))?.[0]).to.include(
      "M-x swank-mcp-kick in Emacs. No Lisp can be reached",
    );
  });

  it("count each agent once when several versions of the runtime answer", async () => {
    const { emacs } = user();
    await useSwankMcp(emacs);
    await emacs.eval("(require 'swank-mcp-door)");
    await emacs.eval(
      "(swank-mcp--report-kick '((:kicked 2 :stayed 0 :ports (4005)) (:kicked 2 :stayed 0 :ports (4005))))",
    );
    expect(await emacs.messageMatching("thrown out")).to.match(/^2 agents were thrown out\. {2}Port 4005 is closed/);
  });

  it("leave an Emacs without events once swank-mcp-mode is off, and agents can still be thrown out", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    await agent.evaluate("1");
    await modeLineShowing(emacs, "agent idle");
    await emacs.eval("(swank-mcp-mode 0)");
    expect(await emacs.evaluateInRepl("(car (get :swank-mcp :listeners))")).to.equal("NIL");
    await emacs.eval("(swank-mcp-kick)");
    expect(await emacs.messageMatching("thrown out")).to.match(/^1 agent was thrown out\./);
    expect(await emacs.evaluateInRepl("(car (get :swank-mcp :listeners))")).to.equal("NIL");
    await emacs.eval("(swank-mcp-mode 1)");
    await followsAgents(emacs);
  });
});
