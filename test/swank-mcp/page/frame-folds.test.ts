import { expect } from "chai";
import type { PageFrame } from "#swank-mcp/page/model.js";
import { foldedFrames } from "#swank-mcp-page/frame-folds.js";

/** Frames of these kinds, by their first letters. */
const frames = (kinds: string): readonly PageFrame[] =>
  [...kinds].map((letter, index) => ({
    index,
    call: `(F ${index})`,
    kind: letter === "u" ? "user" : letter === "s" ? "system" : "toplevel",
    isRestartable: true,
  }));

const shown = (kinds: string, total = kinds.length, open: readonly number[] = []) =>
  foldedFrames(frames(kinds), total, (first) => open.includes(first)).map((each) =>
    "kind" in each ? each.index : `${each.count}${each.isBelow ? " below" : ""}`,
  );

describe("foldedFrames", () => {
  it("folds runs of Lisp's own frames, but no single one, and all that is below, loaded or not", () => {
    expect(shown("ssuusut", 30)).to.deep.equal(["2", 2, 3, 4, 5, "24 below"]);
    expect(shown("uuu", 30)).to.deep.equal([0, 1, 2]);
    expect(shown("ut")).to.deep.equal([0, "1 below"]);
  });

  it("shows what the person has opened", () => {
    expect(shown("ssutt", 5, [0])).to.deep.equal([0, 1, 2, "2 below"]);
    expect(shown("ssutt", 5, [0, 3])).to.deep.equal([0, 1, 2, 3, 4]);
  });

  it("folds nothing where all frames are Lisp's own", () => {
    expect(shown("sst")).to.deep.equal([0, 1, 2]);
    expect(shown("")).to.deep.equal([]);
  });
});
