import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import { McpDebugger } from "../../support/mcp-debugger.js";

describe("a question to the user that fails", () => {
  let lisp: McpDebugger;
  let answer: () => Promise<ElicitResult>;

  before(async () => {
    lisp = await McpDebugger.start({ answer: () => answer() });
    await lisp.evaluate('(error "stopped")');
  });
  after(() => lisp.close());

  const cases: readonly [what: string, answer: () => Promise<ElicitResult>, why: RegExp][] = [
    [
      "because the client cannot show it",
      async () => {
        throw new Error("no window to ask in");
      },
      /; the question failed in the client \(.*no window to ask in\)\.$/,
    ],
    ["because the answer holds no choice", async () => ({ action: "accept", content: {} }), /; .* names no choice\.$/],
    [
      "because the answer is no choice",
      async () => ({ action: "accept", content: { answer: "Perhaps" } }),
      /; .* is none of the choices\.$/,
    ],
    ["because the user says no", async () => ({ action: "decline" }), /; the user said no\.$/],
  ];

  for (const [what, given, why] of cases) {
    it(`is refused with that reason, ${what}`, async () => {
      answer = given;
      const refused = await lisp.refusal("debugger_invoke_restart", { restart: "RETRY" });
      expect(refused.type).to.equal("APPROVAL_DENIED");
      expect(refused.message).to.match(why);
      expect(await lisp.stops()).to.have.length(1);
    });
  }
});
