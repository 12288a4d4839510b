import { expect } from "chai";
import type { McpStdio } from "../../support/mcp-stdio.js";
import { Snapshots } from "../../support/snapshots.js";
import { TestedSystems, testsText as text } from "../../support/tested-systems.js";

describe("run-tests", () => {
  const snapshots = new Snapshots(import.meta.url);
  let server: McpStdio;
  let systems: TestedSystems;

  before(async () => {
    systems = await TestedSystems.create();
    server = await systems.start();
  });

  after(async () => {
    await server.end();
    await systems.remove();
  });

  async function run(args: Record<string, unknown>) {
    return text(await server.call("run-tests", args));
  }

  it("runs a system's own tests, and reports each failure of FiveAM with its form, values and place", async () => {
    const result = await server.call("run-tests", { name: "orders" });
    snapshots.match("a system", text(result));
    expect(result.isError).to.equal(true);
    expect(result._meta?.["swank-mcp/tests"]).to.deep.include({ status: "run", passed: 1, failed: 4, skipped: 1 });
  });

  it("says what ended a run, unless that only says that tests failed", async () => {
    const ended = await run({ name: "halfway" });
    expect(ended).to.match(
      /^System halfway: 1 passed, 2 failed, 0 skipped in <seconds> \(FiveAM\)\.\n\nThe run ended with DIVISION-BY-ZERO:\n/,
    );
    expect(await run({ name: "orders" })).not.to.include("The run ended");
  });

  it("runs a suite or a test of FiveAM by name", async () => {
    expect(await run({ name: "orders-tests::sums" })).to.match(/^ORDERS-TESTS::SUMS: 1 passed, 4 failed, 1 skipped/);
    expect(await run({ name: "totals", framework: "fiveam" })).to.match(/^ORDERS-TESTS::TOTALS: 1 passed, 2 failed/);
  });

  it("reports values and errors of sb-rt, whose tests are named one by one or by their package", async () => {
    snapshots.match("a system with sb-rt", await run({ name: "sound", framework: "asdf" }));
    expect(await run({ name: "sound::doubled" })).to.equal(
      "SOUND::DOUBLED: 1 passed, 0 failed, 0 skipped in <seconds> (sb-rt).",
    );
    expect(await run({ name: "sound", framework: "sb-rt" })).to.match(/^Package SOUND: 1 passed, 2 failed, 0 skipped/);
  });

  it("lets show-source show a test, and say of one without a file that it is a test", async () => {
    await server.evaluate("(fiveam:test unfiled (fiveam:is-true t))");
    const names = ["orders-tests::broken", "orders-tests::sums", "sound::halved", "unfiled"];
    const shown = [];
    for (const name of names) shown.push(`> ${name}\n${text(await server.call("show-source", { name }))}`);
    snapshots.match("shown tests", shown.join("\n\n"));
  });

  it("says that nothing was counted for a system without a known framework, and shows what that printed", async () => {
    snapshots.match("a system without a known framework", await run({ name: "plain" }));
  });

  it("finds a framework that the test operation of a system loads", async () => {
    const fresh = await TestedSystems.create();
    const other = await fresh.start();
    expect(text(await other.call("run-tests", { name: "late" }))).to.match(
      /^System late: 1 passed, 2 failed, 0 skipped in <seconds> \(FiveAM\)\./,
    );
    await other.end();
    await fresh.remove();
  });

  it("finds the place of a test whose name is in a list with options", async () => {
    expect(await run({ name: "orders-tests::listed" })).to.equal(
      "ORDERS-TESTS::LISTED: 0 passed, 1 failed, 0 skipped in <seconds> (FiveAM).\n\norders-tests.lisp:19:1: ORDERS-TESTS::LISTED failed\n  form: (= 1 (total 'nil))\n  expected: 1\n  actual: 0",
    );
  });

  it("reports the error of a system that cannot be loaded, and names what is similar to an unknown name", async () => {
    expect(await run({ name: "unsound" })).to.match(
      /^System unsound: no test was counted in <seconds>\.\n\nThe run ended with \S+\n/,
    );
    snapshots.match("an unknown name", await run({ name: "totls" }));
    expect(await run({ name: "((" })).to.match(/^There is no system, and no loaded suite or test, named \(\(\./);
    expect(await run({ name: "gone::all" })).to.match(/^There is no system/);
  });

  snapshots.testCompleteness();
});
