import { expect } from "chai";
import { growthText, shareText, shortPath, timeText } from "#swank-mcp-page/panels/figures.js";

describe("figures of the page's panels", () => {
  it("show times in the unit that fits", () => {
    expect([0, 12.4, 999, 1000, 3456, 123_456, 999_499, 2_100_000, 123_456_789].map(timeText)).to.deep.equal([
      "0 µs",
      "12 µs",
      "999 µs",
      "1 ms",
      "3.46 ms",
      "123 ms",
      "999 ms",
      "2.1 s",
      "123 s",
    ]);
  });

  it("show shares, differences and the ends of paths", () => {
    expect([shareText(1, 3), shareText(1, 30), shareText(0, 3), shareText(1, 0)]).to.deep.equal([
      "33 %",
      "3.3 %",
      "0 %",
      "0 %",
    ]);
    expect([growthText(2048), growthText(-512), growthText(0)]).to.deep.equal(["+2 kB", "−512 B", ""]);
    expect([shortPath("src/a.lisp"), shortPath("/home/x/app/src/a.lisp")]).to.deep.equal([
      "src/a.lisp",
      "…/src/a.lisp",
    ]);
  });
});
