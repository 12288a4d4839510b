import { expect } from "chai";
import * as z from "zod";
import { blocks } from "../support/mcp-results.js";
import type { McpStdio } from "../support/mcp-stdio.js";
import { eachUser } from "./user.js";

const status = z.object({ stopped: z.array(z.object({ message: z.string(), owner: z.string().optional() })) });

async function text(agent: McpStdio, tool: string, args: object = {}): Promise<string> {
  return blocks(await agent.call(tool, args)).join("\n");
}

/** Returns the server's own stops, without those that it lists for other clients. */
async function stopped(agent: McpStdio): Promise<string[]> {
  const { structuredContent } = await agent.call("lisp-status");
  const all = status.parse(structuredContent).stopped;
  return all.filter(({ owner }) => owner === undefined).map(({ message }) => message);
}

describe("two swank-mcp servers beside Emacs", function () {
  this.timeout(200_000);
  const user = eachUser();
  let one: McpStdio;
  let other: McpStdio;

  beforeEach(async () => {
    [one, other] = await Promise.all([user().agent(), user().agent()]);
  });

  it("have separate stops and last errors, and leave errors of background threads to Emacs", async () => {
    await Promise.all([one.evaluate('(error "of one")'), other.evaluate('(error "of the other")')]);
    expect([await stopped(one), await stopped(other)]).to.deep.equal([["of one"], ["of the other"]]);
    expect(await text(one, "describe-last-error")).to.include("of one");
    expect(await text(other, "describe-last-error")).to.include("of the other");
    await user().emacs.typeInRepl('(sb-thread:make-thread (lambda () (error "nobody\'s")))');
    await user().emacs.debuggerShowing("nobody's");
    expect((await user().emacs.debuggerBuffers()).map(({ condition }) => condition)).to.deep.equal(["nobody's"]);
    await one.evaluate("(values)");
    expect(await text(one, "describe-last-error")).to.include("No error information available.");
    expect(await text(other, "describe-last-error")).to.include("of the other");
    expect([await stopped(one), await stopped(other)]).to.deep.equal([["of one"], ["of the other"]]);
  });

  it("receive each error of a background thread only once while Emacs is disconnected, and Emacs takes the stops over", async () => {
    await user().prepareFailures();
    await user().emacsLeaves(one);
    await user().fail(other, "while Emacs is away");
    let both: string[] = [];
    while (both.length === 0) both = (await Promise.all([stopped(one), stopped(other)])).flat();
    await user().emacs.connect(user().port);
    await user().fail(one, "after its return");
    await user().emacs.debuggerShowing("after its return");
    await user().emacs.debuggerShowing("while Emacs is away");
    while ((await Promise.all([stopped(one), stopped(other)])).flat().length > 0);
  });
});
