import { expect } from "chai";
import { closingLine, runResult } from "../../../scripts/testing/run-result.mjs";

describe("runResult", () => {
  it("returns the reporter's counts", () => {
    expect(runResult(0, { passed: 3, failed: 0 })).to.deep.equal({ counts: { passed: 3, failed: 0 } });
    expect(runResult(2, { passed: 3, failed: 2 })).to.deep.equal({ counts: { passed: 3, failed: 2 } });
  });

  it("returns a failure with a reason if the run crashed", () => {
    const { counts, why } = runResult(7, undefined);
    expect(counts).to.deep.equal({ passed: 0, failed: 1 });
    expect(why).to.include("exit code 7");
  });

  it("returns a failure if no test ran", () => {
    expect(runResult(0, { passed: 0, failed: 0 })).to.deep.equal({
      counts: { passed: 0, failed: 1 },
      why: "No test ran.",
    });
  });

  it("returns a failure if the run failed after its last test", () => {
    const { counts, why } = runResult(1, { passed: 3, failed: 0 });
    expect(counts).to.deep.equal({ passed: 3, failed: 1 });
    expect(why).to.include("exit code 1");
  });
});

describe("closingLine", () => {
  it("shows the counts on one line", () => {
    expect(closingLine({ passed: 12, failed: 1 })).to.equal("12 passed, 1 failed");
  });
});
