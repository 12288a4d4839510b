import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import { McpDebugger } from "../../support/mcp-debugger.js";

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
});
