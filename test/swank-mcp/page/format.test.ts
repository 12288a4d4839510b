import { expect } from "chai";
import { bytes, count, duration, elapsed, firstLine, lastLines } from "#swank-mcp-page/format.js";

describe("format of the page", () => {
  it("shows bytes with three digits", () => {
    expect([0, 1023, 1024, 1536, 512 * 1024 ** 2, 8 * 1024 ** 3, 1000 * 1024].map(bytes)).to.deep.equal([
      "0 B",
      "1023 B",
      "1 kB",
      "1.5 kB",
      "512 MB",
      "8 GB",
      "1000 kB",
    ]);
  });

  it("shows durations in the unit that fits", () => {
    expect([-5, 0, 999, 1000, 9949, 59_400, 60_000, 185_000, 7_260_000].map(duration)).to.deep.equal([
      "0 ms",
      "0 ms",
      "999 ms",
      "1.0 s",
      "9.9 s",
      "59 s",
      "1 min 0 s",
      "3 min 5 s",
      "2 h 1 min",
    ]);
  });

  it("shows time that passes in whole seconds", () => {
    expect([400, 1900, 61_999].map(elapsed)).to.deep.equal(["0 s", "1 s", "1 min 1 s"]);
  });

  it("cuts texts to the first and the last lines", () => {
    expect(firstLine("\n  (a\n b)", 10)).to.equal("(a");
    expect(firstLine("abcdef", 4)).to.equal("abc…");
    expect(lastLines("a\nb\nc\n\n", 2)).to.equal("b\nc");
  });

  it("counts things", () => {
    expect([count(1, "thread"), count(1200, "thread"), count(2, "query", "queries")]).to.deep.equal([
      "1 thread",
      "1,200 threads",
      "2 queries",
    ]);
  });
});
