import { expect } from "chai";
import { McpStdio } from "../../support/mcp-stdio.js";
import { type OtherImage, startOtherLisp } from "../../support/other-lisps.js";

/** Names of the tools in an answer to `tools/list`. */
function namesIn(answer: unknown): readonly string[] {
  const names = [...JSON.stringify(answer).matchAll(/"name":"([^"]+)","title"/g)];
  return names.map(([, name = ""]) => name);
}

describe("swank-mcp attached to ECL", () => {
  let image: OtherImage;
  let server: McpStdio;

  before(async function () {
    // alone, this test compiles Swank first
    this.timeout(200_000);
    image = await startOtherLisp("ecl");
    server = await McpStdio.start(["--attach", String(image.port), "--no-secret"]);
  });

  after(async () => {
    await server.close();
    await image.stop();
  });

  it("lists all tools until the image is known, and then those that it can serve", async () => {
    expect(namesIn(await server.request("tools/list"))).to.include.members(["heap", "find-references"]);
    expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
    await server.notified("notifications/tools/list_changed");
    const names = namesIn(await server.request("tools/list"));
    expect(names).to.include.members(["evaluate-lisp", "debugger_frame_locals", "describe-symbol", "compile-code"]);
    for (const lacking of ["heap", "find-references", "debugger_step", "breakpoint_set", "inspect-object"])
      expect(names).to.not.include(lacking);
  });

  it("refuses the others with the ability, the implementation and what works instead", async () => {
    const [inspected] = (await server.call("inspect-object", { object: "1" })).content;
    expect(inspected)
      .to.have.property("text")
      .that.matches(/^inspect-object: ECL \S+ cannot do this \(inspect\)\.\nEvaluate code that takes the object apart/);
  });

  it("names in lisp-status what the image cannot do", async () => {
    const { structuredContent } = await server.call("lisp-status");
    expect(structuredContent).to.include({ image: "attached", implementation: "ECL" });
    expect(structuredContent)
      .to.have.property("cannot")
      .that.deep.equals(["restart-frame", "return-from-frame", "stepping", "xref", "inspect", "runtime"]);
  });

  it("reports an error, shows the variables, and goes on through a restart", async () => {
    await server.evaluate("(defun share (sum people) (restart-case (/ sum people) (use-value (v) v)))");
    const report = (await server.evaluate("(list (share 7 0))")).join("\n");
    expect(report).to.include("[ERROR] DIVISION-BY-ZERO").and.include("Operation was (/ 7 0).");
    expect(report).to.include("SUM = 7").and.include("1. USE-VALUE");
    const { structuredContent } = await server.call("debugger_frames", {});
    expect(JSON.stringify(structuredContent)).to.include('"function":"SHARE"');
    const [resumed] = (await server.call("debugger_invoke_restart", { restart: 2 })).content;
    expect(resumed).to.have.property("text").that.includes("Evaluation aborted");
  });
});
