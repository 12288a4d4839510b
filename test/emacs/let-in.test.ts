import { expect } from "chai";
import * as z from "zod";
import { BesideEmacs, freePort } from "../support/beside-emacs.js";
import { Emacs } from "../support/emacs.js";
import { blocks } from "../support/mcp-results.js";
import { McpStdio } from "../support/mcp-stdio.js";

/** Returns the form that a refusal asks the user to evaluate. */
function formToType(text: string): string {
  const form = /^ {2}(\(.+\))$/m.exec(text)?.[1];
  if (form === undefined) throw new Error(`No form to type is told of: ${text}`);
  return form;
}

describe("swank-mcp --attach to the user's image", function () {
  this.timeout(200_000);

  it("works after the user evaluates the refusal's form in a Lisp that Emacs started", async () => {
    const emacs = await Emacs.start(["slime-fancy"]);
    const server = await McpStdio.start(["--attach", String(await freePort())]);
    try {
      const pid = await emacs.startLisp();
      const refusal = await server.call("evaluate-lisp", { code: "(+ 1 2)" });
      expect(refusal.structuredContent).to.have.nested.property("error.data.type", "LISP_UNREACHABLE");
      await emacs.evaluateInRepl(formToType(blocks(refusal).join("\n")));
      expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
      expect(await server.imagePid()).to.equal(pid);
      expect(await emacs.evaluateInRepl("(* 6 7)")).to.equal("42");
    } finally {
      await Promise.all([emacs.kill(), server.end()]);
    }
  });

  describe("started by hand", () => {
    let user: BesideEmacs;

    beforeEach(async () => {
      user = await BesideEmacs.startedByHand();
    });

    afterEach(() => user.end());

    for (const first of ["Emacs", "the agent"])
      it(`works when ${first} connects first`, async () => {
        const { emacs, port } = user;
        if (first === "Emacs") await emacs.connect(port);
        const agent = await user.agent();
        expect(await agent.evaluate("(defvar *shared* :by-agent)")).to.deep.equal(["=> *SHARED*"]);
        if (first !== "Emacs") await emacs.connect(port);
        expect(await emacs.evaluateInRepl("(shiftf *shared* :by-user)")).to.equal(":BY-AGENT");
        expect(await agent.evaluate("*shared*")).to.deep.equal(["=> :BY-USER"]);
        await emacs.typeInRepl('(sb-thread:make-thread (lambda () (error "nobody\'s")))');
        const { thread } = await emacs.debuggerShowing("nobody's");
        const { structuredContent } = await agent.call("lisp-status");
        const { stopped } = z
          .object({ stopped: z.array(z.object({ thread: z.string(), owner: z.string() })) })
          .parse(structuredContent);
        expect(stopped).to.have.lengthOf(1);
        expect(stopped[0]).to.have.property("thread", `${thread}/1`);
        expect(stopped[0]?.owner).to.match(/^Emacs /);
      });
  });
});

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
