import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { encapsulated, TestedSystems, testingSuite, testsText as text } from "../../support/tested-systems.js";

describe("run-tests", () => {
  const suite = testingSuite();

  it("runs a system's own tests, and reports each failure of FiveAM with its form, values and place", async () => {
    const result = await suite.server.call("run-tests", { name: "orders" });
    expectFacts(
      text(result),
      "System orders: 1 passed, 4 failed, 1 skipped in <seconds> (FiveAM).\n\norders-tests.lisp:8:1: ORDERS-TESTS::TOTALS failed\n  form: (= 7 (total '(1 2 3)))\n  expected: 7\n  actual: 6\n",
      "reason: A total of 1 is not zero",
      "orders-tests.lisp:13:1: ORDERS-TESTS::BROKEN was ended by TYPE-ERROR\n  reason: The value :TWO is not of type NUMBER",
      "orders-tests.lisp:19:1: ORDERS-TESTS::LISTED failed\n  form: (= 1 (total 'nil))\n  expected: 1\n  actual: 0",
    );
    expect(result.isError).to.equal(true);
    expect(result._meta?.["swank-mcp/tests"]).to.deep.include({ status: "run", passed: 1, failed: 4, skipped: 1 });
  });

  it("says what ended a run, unless that only says that tests failed", async () => {
    const ended = await suite.run({ name: "halfway" });
    expect(ended).to.match(
      /^System halfway: 1 passed, 2 failed, 0 skipped in <seconds> \(FiveAM\)\.\n\nThe run ended with DIVISION-BY-ZERO:\n/,
    );
    expect(await suite.run({ name: "orders" })).not.to.include("The run ended");
  });

  it("runs a suite or a test of FiveAM by name", async () => {
    expect(await suite.run({ name: "orders-tests::sums" })).to.match(
      /^ORDERS-TESTS::SUMS: 1 passed, 4 failed, 1 skipped/,
    );
    expect(await suite.run({ name: "totals", framework: "fiveam" })).to.match(
      /^ORDERS-TESTS::TOTALS: 1 passed, 2 failed/,
    );
  });

  it("runs each test of FiveAM in a package once, without its suites", async () => {
    await suite.run({ name: "orders" });
    expect(await suite.run({ name: "orders-tests", framework: "fiveam" })).to.match(
      /^Package ORDERS-TESTS: \d+ passed, \d+ failed, \d+ skipped in <seconds> \(FiveAM\)\./,
    );
  });

  it("says that the framework named has nothing of a name, and that a system has that name", async () => {
    expectFacts(
      await suite.run({ name: "orders", framework: "sb-rt" }),
      "sb-rt has no loaded suite, test or package of tests named orders.",
      "Another framework, or ASDF as a system, has orders.",
    );
  });

  it("reports values and errors of sb-rt, whose tests are named one by one or by their package", async () => {
    expectFacts(
      await suite.run({ name: "sound", framework: "asdf" }),
      "System sound: 1 passed, 2 failed, 0 skipped in <seconds> (sb-rt).\n\nsound.lisp:5:1: SOUND::HALVED failed\n  form: (floor 7 2)\n  expected: 3 2\n  actual: 3 1\n",
      "SOUND::DIVIDED was ended by DIVISION-BY-ZERO\n  form: (/ 1 0)\n  expected: 0\n  reason: ",
      "[stdout]\nDoing 3 pending tests",
    );
    expect(await suite.run({ name: "sound::doubled" })).to.equal(
      "SOUND::DOUBLED: 1 passed, 0 failed, 0 skipped in <seconds> (sb-rt).",
    );
    expect(await suite.run({ name: "sound", framework: "sb-rt" })).to.match(
      /^Package SOUND: 1 passed, 2 failed, 0 skipped/,
    );
  });

  it("lets show-source show a test, and say of one without a file that it is a test", async () => {
    await suite.server.evaluate("(fiveam:test unfiled (fiveam:is-true t)) (gc :full t)");
    const names = ["orders-tests::broken", "orders-tests::sums", "sound::halved", "unfiled"];
    const shown = [];
    for (const name of names) shown.push(`> ${name}\n${text(await suite.server.call("show-source", { name }))}`);
    expectFacts(
      shown.join("\n\n"),
      "orders-tests.lisp:13:1 test ORDERS-TESTS::BROKEN (as loaded)\n13  (test broken\n14 ",
      "test ORDERS-TESTS::SUMS (as loaded)",
      "sound.lisp:5:1 test SOUND::HALVED (as loaded)",
      "test UNFILED (Lisp has not recorded where it came from)",
    );
  });

  it("says that nothing was counted for a system without a known framework, and shows what that printed", async () => {
    expectFacts(
      await suite.run({ name: "plain" }),
      "System plain: asdf:test-system returned after <seconds>, but no test of a known framework ran in it",
      "[stdout]\nplain: 1 test failed",
    );
  });

  it("says that a suite without tests, or a test without checks, has nothing to check, and what to do", async () => {
    await suite.server.evaluate("(fiveam:def-suite hollow) (fiveam:test idle 1)");
    for (const name of ["hollow", "idle"])
      expect(await suite.run({ name })).to.equal(
        `${name.toUpperCase()}: FiveAM ran in <seconds>, but found no check: there are no tests, or they check nothing. Load the files that define them, or name another system, suite or test.`,
      );
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

  it("reports the error of a system that cannot be loaded, and names what is similar to an unknown name", async () => {
    expect(await suite.run({ name: "unsound" })).to.match(
      /^System unsound: no test was counted in <seconds>\.\n\nThe run ended with \S+\n/,
    );
    expectFacts(
      await suite.run({ name: "totls" }),
      "There is no system, and no loaded suite or test, named totls.\n\nSimilar: ORDERS-TESTS::TOTALS",
    );
    expect(await suite.run({ name: "((" })).to.match(/^There is no system, and no loaded suite or test, named \(\(\./);
    expect(await suite.run({ name: "gone::all" })).to.match(/^There is no system/);
  });

  describe("that does not end", () => {
    before(async () => {
      await suite.run({ name: "orders" });
      await suite.server.call("load-system", { system: "sound" });
      await suite.server.call("load-system", { file: "waiting.lisp" });
    });

    /** The rounds that endless tests have made when no thread is left that has begun since they were loaded, except that of this question. */
    async function finalRounds(): Promise<string> {
      await suite.server.evaluate(
        "(loop while (remove sb-thread:*current-thread* (set-difference (sb-thread:list-all-threads) waiting::*threads*)) do (sleep 0.01))",
      );
      return (await suite.server.evaluate("waiting::*rounds*")).join();
    }

    it("stops in the first failed check, and reports all results when that is resumed", async () => {
      const stopped = text(
        await suite.server.call("run-tests", { name: "orders-tests::totals", "stop-on-failure": true }),
      );
      const check =
        "[ERROR] IT.BESE.FIVEAM::CHECK-FAILURE\nThe following check failed: (= 7 (ORDERS:TOTAL (QUOTE (1 2 3))))";
      expectFacts(stopped, check, "evaluated to…6…which is not…7…TEST-TOTALS");
      await suite.server.call("debugger_invoke_restart", { restart: "IGNORE-FAILURE" });
      const ended = text(await suite.server.call("debugger_invoke_restart", { restart: "IGNORE-FAILURE" }));
      expect(ended).to.match(
        /^ORDERS-TESTS::TOTALS: 1 passed, 2 failed, 0 skipped in <seconds>, with the time that it was stopped \(FiveAM\)\./,
      );
    });

    it("stops in an error of a test, with the frames of the code that signalled it, and without those that run tests", async () => {
      const stopped = text(
        await suite.server.call("run-tests", { name: "orders-tests::broken", "stop-on-failure": true }),
      );
      expect(stopped).to.match(/^\[ERROR\] TYPE-ERROR\n/);
      expect(stopped).to.match(/ORDERS:TOTAL[\s\S]*\n\d+: .*TEST-BROKEN.*\n\nStopped/);
      await suite.server.call("debugger_invoke_restart", { restart: "ABORT" });
    });

    it("stops at wrong values of sb-rt, too", async () => {
      const stopped = text(await suite.server.call("run-tests", { name: "sound::halved", "stop-on-failure": true }));
      expect(stopped).to.match(
        /^\[ERROR\] SIMPLE-ERROR\nTest SOUND::HALVED failed\.\nForm: \(floor 7 2\)\nExpected: 3\n2\nActual: 3\s+1\n/,
      );
      expect(text(await suite.server.call("debugger_invoke_restart", { restart: "CONTINUE" }))).to.match(
        /^SOUND::HALVED: 0 passed, 1 failed/,
      );
    });

    it("runs no test any more when it was cancelled, and leaves neither a thread nor a changed function", async () => {
      const call = suite.server.startCall("run-tests", { name: "waiting::both" });
      await suite.server.evaluate("(loop while (zerop waiting::*rounds*) do (sleep 0.01))");
      expect(await suite.server.evaluate(encapsulated("fiveam:run"))).to.deep.equal(["=> (IT.BESE.FIVEAM:RUN)"]);
      suite.server.cancel(call.id);
      const rounds = await finalRounds();
      expect(await finalRounds()).to.equal(rounds);
      expect(await suite.server.evaluate(encapsulated("fiveam:run fiveam:explain!"))).to.deep.equal(["=> NIL"]);
      expect(await suite.server.evaluate("fiveam:*on-failure*")).to.deep.equal(["=> NIL"]);
      expect(text(await suite.server.call("run-tests", { name: "waiting::quick" }))).to.match(
        /^WAITING::QUICK: 1 passed, 0 failed/,
      );
    });

    it("stops when its time is up, says where, and continues", async () => {
      const stopped = text(await suite.server.call("run-tests", { name: "waiting::endless", timeout: 1 }));
      expect(stopped).to.match(/\[TIMEOUT\][\s\S]*TEST-ENDLESS/);
      const ended = text(await suite.server.call("debugger_invoke_restart", { restart: "ABORT" }));
      expect(ended).not.to.include("passed");
      const rounds = await finalRounds();
      expect(await finalRounds()).to.equal(rounds);
    });

    it("leaves the frameworks as they were", async () => {
      const value = await suite.server.evaluate(
        "(list (let ((*standard-output* (make-broadcast-stream))) (sb-rt:do-test 'sound::divided)) fiveam:*on-failure*)",
      );
      expect(value).to.include("=> (NIL NIL)");
    });
  });
});
