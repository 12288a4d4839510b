import { expect } from "chai";
import { median, ratio, settings } from "../../../bench/measure.mjs";

describe("benchmark ratio", () => {
  it("compares medians, which a single outlier does not change", () => {
    expect(median([3, 1, 1000])).to.equal(3);
    expect(median([4, 1, 2, 1000])).to.equal(3);
    expect(median([7])).to.equal(7);
  });

  it("times both operations equally often, alternately, after an uncounted round", async () => {
    let order = "";
    const subject = (/** @type {string} */ letter) => ({ what: letter, run: () => (order += letter) });
    const figure = await ratio("a to b", subject("a"), subject("b"), 3);
    expect(order).to.equal("abababab");
    expect(figure).to.include({ name: "a to b", unit: "ratio" });
    expect(figure.of).to.match(/^a \(.* ms\)$/);
    expect(figure.against).to.match(/^b \(.* ms\)$/);
  });

  it("has half of the rounds in a quick run", async () => {
    let runs = 0;
    settings.isQuick = true;
    try {
      await ratio("quick", { what: "a", run: () => (runs += 1) }, { what: "b", run: () => undefined }, 21);
    } finally {
      settings.isQuick = false;
    }
    expect(runs).to.equal(12);
  });
});
