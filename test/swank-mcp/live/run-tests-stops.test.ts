import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { encapsulated, testingSuite, testsText as text } from "../../support/tested-systems.js";

describe("run-tests that does not end", () => {
  const suite = testingSuite();

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
