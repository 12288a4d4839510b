import { expect } from "chai";
import { blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

describe("profile-code in the mode time", () => {
  let server: McpStdio;
  const timed = (args: Record<string, unknown>) => server.call("profile-code", { mode: "time", ...args });

  before(async function () {
    this.timeout(60_000);
    server = await McpStdio.start();
    await server.evaluate("(defvar *runs* 0)");
  });
  after(() => server.close());

  it("times code against other code in turn, with medians, spread, bytes, and how many times as fast it is", async () => {
    const result = await timed({ code: "(progn (sleep 0.001) (list 1 2))", against: "(sleep 0.02)" });
    expect(blocks(result)[0]).to.match(
      /^Time of one run, medians of \d+ rounds in turn without a profiler:\n {2}code: {4}\S+ ms \(half between \S+ ms and \S+ ms, \d+ runs a round\), \S+ [nu]s GC on average, .* allocated\n {2}against: \S+ ms \(.*\n {2}code is [\d.]+ times as fast as against, half of the rounds between [\d.]+ and [\d.]+\.\n=> \(1 2\)$/,
    );
    expect(result._meta).to.have.nested.property("swank-mcp/profile.ratio.low").that.is.greaterThan(1);
    expect(blocks(await timed({ code: "(sleep 0.02)", against: "(sleep 0.001)" }))[0]).to.match(/\n {2}against is /);
  });

  it("tells no difference where there is none, and repeats code that takes less than the clock can see", async () => {
    const [text = ""] = blocks(await timed({ code: "(incf *runs*)", against: "(incf *runs*)" }));
    expect(text).to.match(/code: .* runs a round\)/);
    expect(Number((await server.evaluate("*runs*"))[0]?.slice(3))).to.be.greaterThan(10_000);
    expect(blocks(await timed({ code: "(sleep 0.005)", against: "(sleep 0.005)" }))[0]).to.match(
      /No difference that can be told|is 1\.\d\d times as fast/,
    );
  });

  it("leaves an error in the code stopped", async () => {
    expect(blocks(await timed({ code: '(error "timed")' }))[0]).to.match(/^\[ERROR\] SIMPLE-ERROR\ntimed\n/);
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
  });

  for (const args of [
    { seconds: 1 },
    { code: "1", functions: ["car"] },
    { code: "1", package: "cl-user" },
    { code: "(1" },
  ])
    it(`refuses ${JSON.stringify(args)}`, async () => {
      expect(refusalType(await timed(args))).to.match(/^INVALID_ARGUMENTS?$/);
    });
});
