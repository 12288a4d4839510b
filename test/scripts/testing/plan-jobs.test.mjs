import { expect } from "chai";
import { planJobs } from "../../../scripts/testing/plan-jobs.mjs";

/**
 * @param {Record<string, number>} files seconds by name; files that begin with "live" start programs
 */
function plan(files) {
  const needs = Object.keys(files).map((file) => ({ file, live: file.startsWith("live") }));
  const { together, alone } = planJobs(needs, ({ file }) => files[file] ?? 0, 2);
  return { together: together.map((job) => job.files), alone: alone.map((job) => job.files) };
}

describe("planJobs", () => {
  it("begins with files that start no programs, followed by the others, longest first", () => {
    const { together } = plan({ "live1.test.js": 20, "a.test.js": 12, "live2.test.js": 30, "b.test.js": 11 });
    expect(together).to.deep.equal([["a.test.js"], ["b.test.js"], ["live2.test.js"], ["live1.test.js"]]);
  });

  it("combines short files", () => {
    const { together } = plan({ "live1.test.js": 4, "live2.test.js": 3, "live3.test.js": 2, "a.test.js": 1 });
    expect(together).to.deep.equal([["a.test.js"], ["live1.test.js", "live2.test.js"], ["live3.test.js"]]);
  });

  it("makes jobs of a share of the work that is left, so that the last ones are short", () => {
    const files = [...Array(20).keys()].map((number) => [`live${number}.test.js`, 12]);
    const { together } = plan(Object.fromEntries(files));
    expect(together.map((job) => job.length)).to.deep.equal([4, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1]);
  });

  it("keeps files that must run alone separate", () => {
    const { together, alone } = plan({ "live.test.js": 1, "live.alone.test.js": 50, "alone.test.js": 1 });
    expect(together).to.deep.equal([["alone.test.js"], ["live.test.js"]]);
    expect(alone).to.deep.equal([["live.alone.test.js"]]);
  });
});
