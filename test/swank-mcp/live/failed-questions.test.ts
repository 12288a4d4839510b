import { type ElicitResult, ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import { McpDebugger } from "../../support/mcp-debugger.js";
import { blocks } from "../../support/mcp-results.js";

describe("approval when the question fails", () => {
  let lisp: McpDebugger;
  let answer: () => Promise<ElicitResult>;

  before(async () => {
    lisp = await McpDebugger.start({ answer: () => answer() });
    await lisp.evaluate('(error "stopped")');
  });
  after(() => lisp.close());

  const cases: readonly [what: string, answer: () => Promise<ElicitResult>, why: RegExp][] = [
    [
      "the client cannot show the question",
      async () => {
        throw new Error("no window to ask in");
      },
      /; the question failed in the client \(.*no window to ask in\)\.$/,
    ],
    ["the answer contains no choice", async () => ({ action: "accept", content: {} }), /; .* names no choice\.$/],
    [
      "the answer is not a choice",
      async () => ({ action: "accept", content: { answer: "Perhaps" } }),
      /; .* is not one of the choices\.$/,
    ],
    ["the user says no", async () => ({ action: "decline" }), /; the user said no\.$/],
  ];

  for (const [what, given, why] of cases) {
    it(`gives the reason for the refusal: ${what}`, async () => {
      answer = given;
      const refused = await lisp.refusal("debugger_invoke_restart", { restart: "RETRY" });
      expect(refused.type).to.equal("APPROVAL_DENIED");
      expect(refused.message).to.match(why);
      expect(await lisp.stops()).to.have.length(1);
    });
  }

  it("goes through if the client has no such method, and never asks about ABORT of the own stop", async () => {
    let questions = 0;
    answer = async () => {
      questions += 1;
      throw new McpError(ErrorCode.MethodNotFound, "Method not found");
    };
    await lisp.evaluate("(break)");
    const aborted = await lisp.call("debugger_invoke_restart", { restart: "ABORT" });
    expect(aborted.isError).to.equal(false);
    expect(questions).to.equal(0);
    const retried = await lisp.call("debugger_invoke_restart", { restart: "RETRY" });
    expect(blocks(retried)[0]).to.include("stopped");
    expect(questions).to.equal(1);
    expect(await lisp.stops()).to.have.length(1);
  });

  it("asks about a restart of the program's own that is called ABORT", async () => {
    let questions = 0;
    answer = async () => {
      questions += 1;
      return { action: "decline" };
    };
    const fresh = await McpDebugger.start({ answer: () => answer() });
    await fresh.evaluate('(restart-case (error "x") (abort () :report "Return to top level." (print :deleted)))');
    const refused = await fresh.refusal("debugger_invoke_restart", { restart: "ABORT" });
    expect(refused.type).to.equal("APPROVAL_DENIED");
    expect(questions).to.equal(1);
    await fresh.close();
  });
});
