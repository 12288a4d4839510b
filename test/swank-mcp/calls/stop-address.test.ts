import { expect } from "chai";
import fc from "fast-check";
import { Refusal } from "swank-mcp";
import { readStopAddress } from "#swank-mcp/call/stop-tool.js";
import { innermost } from "#swank-mcp/session/stops.js";

describe("readStopAddress and findStop", () => {
  it("read auto, a thread id, or id/level", () => {
    for (const text of ["auto", " auto "]) expect(readStopAddress(text)).to.deep.equal({ kind: "latest" });
    expect(readStopAddress("12")).to.deep.equal({ kind: "thread", thread: 12, level: undefined });
    expect(readStopAddress(" 12/3 ")).to.deep.equal({ kind: "thread", thread: 12, level: 3 });
  });

  it("refuse any other text", () => {
    for (const text of ["", "x", "1/", "/1", "1/2/3", "-1", "1.5", "Auto", "null", "1 2", "1234567890123456"]) {
      expect(() => readStopAddress(text), text).to.throw(Refusal, text);
    }
  });

  it("find the deepest level of a thread, and the latest stop of several threads", () => {
    const level = fc.record({ thread: fc.integer({ min: 1, max: 4 }), level: fc.integer({ min: 1, max: 4 }) });
    fc.assert(
      fc.property(fc.uniqueArray(level, { selector: ({ thread, level }) => `${thread}/${level}` }), (stops) => {
        const kept = innermost(stops);
        expect(kept.map(({ thread }) => thread)).to.have.members([...new Set(stops.map(({ thread }) => thread))]);
        for (const stop of kept) {
          const levels = stops.filter(({ thread }) => thread === stop.thread).map((other) => other.level);
          expect(stop.level).to.equal(Math.max(...levels));
        }
        expect(stops.filter((stop) => kept.includes(stop))).to.deep.equal(kept);
      }),
    );
  });
});
