import { expect } from "chai";
import { closingLine, runResult } from "../../../scripts/testing/run-result.mjs";

describe("the result of a test run", () => {
  it("is what the reporter counted", () => {
    expect(runResult(0, { passed: 3, failed: 0 })).to.deep.equal({ counts: { passed: 3, failed: 0 } });
    expect(runResult(2, { passed: 3, failed: 2 })).to.deep.equal({ counts: { passed: 3, failed: 2 } });
  });

  it("is a failure that says so when the run crashed", () => {
    const { counts, why } = runResult(7, undefined);
    expect(counts).to.deep.equal({ passed: 0, failed: 1 });
    expect(why).to.include("exit code 7");
  });

  it("is a failure when no test ran", () => {
    expect(runResult(0, { passed: 0, failed: 0 })).to.deep.equal({
      counts: { passed: 0, failed: 1 },
      why: "No test ran.",
    });
  });

  it("is a failure when the run failed after its last test", () => {
    const { counts, why } = runResult(1, { passed: 3, failed: 0 });
    expect(counts).to.deep.equal({ passed: 3, failed: 1 });
    expect(why).to.include("exit code 1");
  });

  it("is told in one line", () => {
    expect(closingLine({ passed: 12, failed: 1 })).to.equal("12 passed, 1 failed");
  });
});
