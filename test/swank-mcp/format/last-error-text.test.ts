import { expect } from "chai";
import { fullBacktrace, lastErrorText } from "#swank-mcp/report/stop.js";
import { frames, restarts, snapshot } from "../../support/mcp-outcomes.js";
import { Snapshots } from "../../support/snapshots.js";

const snapshots = new Snapshots(import.meta.url);

describe("lastErrorText", () => {
  it("has the contract's form", () => {
    const error = snapshot({
      restarts: restarts("ABORT - Return to top level", "RETRY - Retry SLIME REPL evaluation request"),
      frames: frames("(/ 1 0)", "(EVAL (/ 1 0))", "(A)", "(B)", "(C)", "(D)"),
    });
    snapshots.match("an error", lastErrorText(error));
  });

  it("keeps blank lines of a message empty", () => {
    expect(lastErrorText(snapshot({ message: "one\n\ntwo" }))).to.include("\n  one\n\n  two\n\n");
  });

  it("shows restarts without a name, each on one line", () => {
    const error = snapshot({ restarts: [{ index: 0, name: "", description: "Go\n  on." }] });
    expect(lastErrorText(error)).to.include("Available Restarts:\n  1. (unnamed) - Go on.\n");
  });

  it("has neither restarts nor frames for a lost image", () => {
    const error = snapshot({ type: "IMAGE-LOST", message: "Gone.", restarts: [], frames: [] });
    expect(lastErrorText(error)).to.equal("Error: IMAGE-LOST\n  Gone.\n\nAvailable Restarts:\n  none");
  });
});

describe("fullBacktrace", () => {
  const error = snapshot({ frames: frames("system:(ERROR)", "(A)", "toplevel:(EVAL)"), totalFrames: 10 });

  it("says that a deep stack was not kept whole", () => {
    const deep = snapshot({ frames: frames(...Array.from({ length: 200 }, () => "(F)")), totalFrames: 5000 });
    expect(fullBacktrace(deep, 200)).to.match(/\n199: \(F\)\n\.\.\. 4800 more frames, not kept$/);
  });

  it("shows every frame, including Lisp's own, and counts those of the evaluator", () => {
    expect(fullBacktrace(error, 20)).to.equal(
      "[Backtrace]\n0: (ERROR)\n1: (A)\n2: (EVAL)\n... 7 more frames, of the evaluator and Swank",
    );
  });

  it("shows at most the requested number of frames, and how to see the others", () => {
    expect(fullBacktrace(error, 1)).to.equal(
      "[Backtrace]\n0: (ERROR)\n... 9 more frames: max-frames up to 3 shows them",
    );
  });

  it("shows a whole stack without a remark", () => {
    expect(fullBacktrace(snapshot({ frames: frames("(A)") }), 1)).to.equal("[Backtrace]\n0: (A)");
  });

  it("says that there is no stack", () => {
    expect(fullBacktrace(snapshot({ type: "IMAGE-LOST", frames: [] }), 5)).to.equal(
      "IMAGE-LOST left no frames: there is no stack to show.",
    );
  });
});

snapshots.testCompleteness();
