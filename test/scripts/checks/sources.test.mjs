import { expect } from "chai";
import { AUDITED, MOST_LINES, textProblems } from "../../../scripts/checks/sources.mjs";

describe("textProblems", () => {
  it("allows a file of the maximum length", () => {
    expect(textProblems("a.lisp", "x\n".repeat(MOST_LINES))).to.deep.equal([]);
  });

  it("refuses a longer file", () => {
    expect(textProblems("a.ts", "x\n".repeat(MOST_LINES + 1))).to.deep.equal([
      `a.ts: ${MOST_LINES + 1} lines; the maximum is ${MOST_LINES}. Split it by subject.`,
    ]);
  });

  for (const word of ["TODO", "FIXME", "@ts-ignore", "@ts-expect-error", "@ts-nocheck", "biome-ignore"]) {
    it(`refuses ${word} and names the line`, () => {
      const problems = textProblems("a.ts", `const a = 1;\n// ${word}: later\n`);
      expect(problems).to.have.lengthOf(1);
      expect(problems[0])
        .to.match(/^a\.ts:2: /)
        .and.include(word);
    });
  }

  it("allows the audited file to disable a check, and nothing else", () => {
    expect(textProblems(AUDITED, "// biome-ignore lint/x: vouched for\n")).to.deep.equal([]);
    expect(textProblems(AUDITED, "// TODO\n")).to.have.lengthOf(1);
  });
});
