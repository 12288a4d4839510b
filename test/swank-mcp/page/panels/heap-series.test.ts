import { expect } from "chai";
import fc from "fast-check";
import { chartOf, type HeapSample, seriesOf, ticksOf, withSample } from "#swank-mcp-page/panels/heap-series.js";

const sample = (time: number, bytes: Readonly<Record<string, number>>): HeapSample => ({
  time,
  summary: {
    collected: "yes",
    gc: 0,
    walk: 0,
    complete: true,
    used: 0,
    size: 1,
    id: 1,
    types: Object.entries(bytes).map(([name, size]) => ({ name, count: size / 16, bytes: size })),
    typeCount: 2,
    objects: 0,
    bytes: 0,
  },
});

const SIZE = { width: 100, height: 100, lines: 2 };

describe("the heap over time", () => {
  const samples = [
    sample(0, { cons: 1600, order: 160 }),
    sample(5000, { cons: 1600, order: 320, code: 16 }),
    sample(10_000, { cons: 1600, order: 640, code: 32 }),
  ];

  it("has the growth of each type since it was first seen", () => {
    const rows = seriesOf(samples).map(({ name, bytes, growth, countGrowth, points }) => [
      name,
      bytes,
      growth,
      countGrowth,
      points.length,
    ]);
    expect(rows).to.deep.equal([
      ["cons", 1600, 0, 0, 3],
      ["order", 640, 480, 30, 3],
      ["code", 32, 16, 1, 2],
    ]);
    expect(seriesOf([])).to.deep.equal([]);
  });

  it("is drawn from the first sample to the last, for the largest types or those that changed the most", () => {
    const { lines, seconds } = chartOf(seriesOf(samples), "bytes", SIZE);
    expect(lines.map(({ series }) => series.name)).to.deep.equal(["cons", "order"]);
    expect(lines[0]?.path).to.match(/^M0 [\d.]+L50 [\d.]+L100 [\d.]+$/);
    expect(seconds).to.equal(10);
    const growth = chartOf(seriesOf(samples), "growth", SIZE);
    expect(growth.lines.map(({ series }) => series.name)).to.deep.equal(["order", "code"]);
    expect(growth.lines[0]?.path).to.match(/^M0 100L/);
  });

  it("is drawn with no sample, or one", () => {
    expect(chartOf([], "bytes", SIZE)).to.include({ seconds: 0 });
    const [line] = chartOf(seriesOf(samples.slice(0, 1)), "bytes", SIZE).lines;
    expect(line?.end[0]).to.equal(0);
  });

  it("keeps a limited number of samples, the first and the latest among them", () => {
    let kept: HeapSample[] = [];
    for (let time = 0; time < 1000; time += 1) kept = withSample(kept, sample(time, {}));
    expect(kept.length).to.be.within(100, 241);
    expect([kept[0]?.time, kept.at(-1)?.time]).to.deep.equal([0, 999]);
  });
});

describe("the values at an axis", () => {
  it("are round", () => {
    expect(ticksOf(0, 70)).to.deep.equal([0, 20, 40, 60, 80]);
    expect(ticksOf(-15, 30)).to.deep.equal([-20, 0, 20, 40]);
    expect(ticksOf(0, 0)).to.deep.equal([0, 1]);
    expect(ticksOf(0, 1.1)).to.deep.equal([0, 0.5, 1, 1.5]);
  });

  it("cover all values, in few steps", () => {
    fc.assert(
      fc.property(fc.integer({ min: -(10 ** 12), max: 0 }), fc.integer({ min: 0, max: 10 ** 12 }), (low, high) => {
        const ticks = ticksOf(low, high);
        expect(ticks[0]).to.be.at.most(low);
        expect(ticks.at(-1)).to.be.at.least(high);
        expect(ticks.length).to.be.within(2, 7);
      }),
    );
  });
});
