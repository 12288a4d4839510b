import { expect } from "chai";
import { liveStopText } from "#swank-mcp/report/stop.js";
import { expectFacts } from "../../support/facts.js";
import { frames, restarts, snapshot } from "../../support/mcp-outcomes.js";

describe("liveStopText", () => {
  const error = snapshot({
    restarts: restarts("USE-VALUE - Use another value", "ABORT - Return to top level"),
    frames: frames("system:(ERROR)", "(FACT 0)"),
  });

  it("shows the thread, the restarts and the locals of the first user frame", () => {
    const locals = [
      { name: "N", value: "0", marks: ["argument"] as const },
      { name: "TEXT", value: '"two\nlines"', marks: [] },
    ];
    expectFacts(
      liveStopText({ thread: 7, level: 2, locals }, error),
      "Stopped, nothing unwound: thread 7/2. Other evaluations can still run.\nRestarts:\n  1. USE-VALUE - Use another value\n  2. ABORT - Return to top level\n",
      'Locals of frame 1, (FACT 0):\n  N = 0\n  TEXT = "two lines"',
    );
  });

  it("lists restarts with one name and description once, with the numbers of the others", () => {
    const repeated = restarts(
      ...["AGAIN - Do it again", "SKIP - Skip 1", "AGAIN - Do it again", "SKIP - Skip 2"],
      ...["AGAIN - Do it again", "AGAIN - Do it again", "ABORT - Return to top level"],
    );
    expectFacts(
      liveStopText({ thread: 7, level: 1, locals: [] }, { ...error, restarts: repeated }),
      "  1. AGAIN - Do it again (also 3, 5-6)\n  2. SKIP - Skip 1\n  4. SKIP - Skip 2\n  7. ABORT - Return to top level",
    );
    const alternating = Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? "AGAIN - Again" : `SKIP - Skip ${n}`));
    const [, , again] = liveStopText(
      { thread: 7, level: 1, locals: [] },
      { ...error, restarts: restarts(...alternating) },
    ).split("\n");
    expect(again).to.match(/^ {2}1\. AGAIN - Again \(also 3, 5, 7, .*, 41, \.\.\.\)$/);
  });

  it("omits the locals if there are none", () => {
    expect(liveStopText({ thread: 7, level: 1, locals: [] }, error)).to.match(/Return to top level$/);
  });

  it("limits the number and length of locals", () => {
    const locals = Array.from({ length: 12 }, (_, index) => ({ name: `V${index}`, value: "x".repeat(500), marks: [] }));
    const lines = liveStopText({ thread: 7, level: 1, locals }, error).split("\n");
    expect(lines.at(-1)).to.equal("  ... 2 more locals");
    expect(lines.at(-2)).to.equal(`  V9 = ${"x".repeat(117)}...`);
  });
});
