import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { sizeProblems } from "../../../scripts/checks/page-size.mjs";

describe("the check of the page's size", () => {
  it("accepts files that are small when they are compressed", () => {
    expect(sizeProblems([new Uint8Array(1_000_000)])).to.deep.equal([]);
  });

  it("reports files that are too large together", () => {
    const [problem] = sizeProblems([randomBytes(30_000), randomBytes(31_000)]);
    expect(problem).to.match(/^The page takes 6\d{4} bytes, compressed; the maximum is 60000\./);
  });
});
