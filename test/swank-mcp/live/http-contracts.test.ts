import { expect } from "chai";
import { expectApprovalExample, expectSymbolExamples } from "../../support/contract-examples.js";
import { followOverHttp } from "../../support/last-error-runs.js";
import { liveHttp } from "../../support/live-server.js";
import { McpDebugger } from "../../support/mcp-debugger.js";
import { McpHttp } from "../../support/mcp-http.js";
import { McpUser } from "../../support/mcp-user.js";

describe("the contracts over HTTP", () => {
  const http = liveHttp({ args: ["--max-stops", "2"] });

  it("are followed by describe-symbol", async () => {
    const server = await McpHttp.start(http.client());
    await expectSymbolExamples(server);
    await server.close();
  });

  it("are followed by approvals", async () => {
    const user = new McpUser();
    const lisp = await McpDebugger.start({ answer: user.answer, at: http.client("asking") });
    await lisp.evaluate("(defun g (x) (* x 2)) (defun f (x) (list (car x) (g x)))");
    await expectApprovalExample(lisp, user);
    expect(await lisp.json("debugger_restarts")).to.have.property("restarts");
    await lisp.close();
  });

  it("are followed by describe-last-error and get-backtrace after any sequence of calls", () =>
    followOverHttp(http, 3)).timeout(600_000);
});
