import { expect } from "chai";
import { AUDITED, MOST_LINES, textProblems } from "../../../scripts/checks/text-rules.mjs";

describe("the rules on a file's text", () => {
  it("allow a file of the greatest length", () => {
    expect(textProblems("a.lisp", "x\n".repeat(MOST_LINES))).to.deep.equal([]);
  });

  it("refuse a longer one", () => {
    expect(textProblems("a.ts", "x\n".repeat(MOST_LINES + 1))).to.deep.equal([
      `a.ts: ${MOST_LINES + 1} lines; the most is ${MOST_LINES}. Split it by what it says.`,
    ]);
  });

  for (const word of ["TODO", "FIXME", "@ts-ignore", "@ts-expect-error", "@ts-nocheck", "biome-ignore"]) {
    it(`refuse ${word}, naming the line`, () => {
      const problems = textProblems("a.ts", `const a = 1;\n// ${word}: later\n`);
      expect(problems).to.have.lengthOf(1);
      expect(problems[0])
        .to.match(/^a\.ts:2: /)
        .and.include(word);
    });
  }

  it("let one audited file switch a check off, and no more than that", () => {
    expect(textProblems(AUDITED, "// biome-ignore lint/x: vouched for\n")).to.deep.equal([]);
    expect(textProblems(AUDITED, "// TODO\n")).to.have.lengthOf(1);
  });
});
