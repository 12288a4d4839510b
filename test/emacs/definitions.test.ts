import { expect } from "chai";
import { blocks } from "../support/mcp-results.js";
import type { McpStdio } from "../support/mcp-stdio.js";
import { eachUser } from "./user.js";

describe("evaluate-lisp beside Emacs", function () {
  this.timeout(200_000);
  const user = eachUser();
  let agent: McpStdio;

  beforeEach(async () => {
    agent = await user().agent();
  });

  async function described(name: string): Promise<string> {
    return blocks(await agent.call("describe-symbol", { name })).join("\n");
  }

  it("shares definitions with Emacs, and the latest one wins", async () => {
    const { emacs } = user();
    await agent.evaluate('(defun greet (name) "Says hello." (format nil "Hello ~a" name))');
    expect(await emacs.evaluateInRepl('(greet "you")')).to.equal('"Hello you"');
    expect(await emacs.evaluateInRepl('(defun greet (name &key loudly) "Greets." (list name loudly))')).to.match(
      /GREET$/,
    );
    expect(await agent.evaluate('(greet "me" :loudly t)')).to.deep.equal(['=> ("me" T)']);
    expect(await described("greet"))
      .to.include("(NAME &KEY LOUDLY)")
      .and.include("Greets.")
      .and.not.include("Says hello");
    expect(blocks(await agent.call("list-definitions"))[0]).to.not.include("Says hello");
    expect(blocks(await agent.call("reset-session")).join("\n")).to.match(/GREET/);
    expect(await emacs.evaluateInRepl('(greet "you")')).to.equal('("you" NIL)');
  });

  it("sees definitions from Emacs's editor, even during a stop", async () => {
    const { emacs } = user();
    await agent.evaluate("(defun halve (number) (/ number zero))");
    const [report] = await agent.evaluate("(halve 10)");
    expect(report).to.include("[ERROR] UNBOUND-VARIABLE");
    await emacs.compile('(defun halve (number) "By two." (/ number 2))');
    expect(await described("halve")).to.include("By two.");
    const continued = await agent.call("debugger_invoke_restart", { restart: "RETRY" });
    expect(blocks(continued)[0]).to.equal("=> 5");
  });
});
