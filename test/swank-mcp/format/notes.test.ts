import { expect } from "chai";
import { noteLines } from "#swank-mcp/report/report.js";
import { SILENT, snapshot } from "../../support/mcp-outcomes.js";

type Redefinitions = (typeof SILENT)["redefinitions"];

const ending = { kind: "values", values: [], cutValues: [], count: 0 } as const;

describe("noteLines", () => {
  const linesOf = (redefinitions: Partial<Redefinitions>) =>
    noteLines({ transcript: { ...SILENT, redefinitions: { ...SILENT.redefinitions, ...redefinitions } }, ending });

  it("says the time of an evaluation that took longer than a second", () => {
    const timeOf = (milliseconds: number) => noteLines({ transcript: { ...SILENT, milliseconds }, ending });
    expect([1000, 1051, 9940, 61_500].map(timeOf)).to.deep.equal([
      [],
      ["Time: 1.1 s"],
      ["Time: 9.9 s"],
      ["Time: 62 s"],
    ]);
  });

  it("leaves the time to the message of a timeout", () => {
    const timeout = { kind: "condition", tag: "TIMEOUT", error: snapshot() } as const;
    expect(noteLines({ transcript: { ...SILENT, milliseconds: 30_000 }, ending: timeout })).to.deep.equal([]);
  });

  it("names the forms whose values are not shown, and where Lisp keeps those of the latest", () => {
    const linesFor = (count: number, unshown: readonly number[]) =>
      noteLines({ transcript: SILENT, ending: { ...ending, forms: { count, unshown } } });
    expect(linesFor(3, [])).to.deep.equal([]);
    expect(linesFor(4, [1])).to.deep.equal(["Not shown: the values of form 1."]);
    expect(linesFor(3, [1])).to.deep.equal(["Not shown: the values of form 1. Kept for the next call: /// (form 1)."]);
    expect(linesFor(5, [1, 3, 4])).to.deep.equal([
      "Not shown: the values of forms 1, 3, 4. Kept for the next call: // (form 4), /// (form 3).",
    ]);
  });

  it("names few redefinitions by a file", () => {
    const files = [{ file: "depot/model.lisp", count: 2, names: ["A", "B"] }];
    expect(linesOf({ count: 2, files })).to.deep.equal(["Redefined by depot/model.lisp: A, B"]);
  });

  it("shows the name of a file on one line", () => {
    const files = [{ file: "a\nTime: 9 s.lisp", count: 1, names: ["A"] }];
    expect(linesOf({ count: 1, files })).to.deep.equal(["Redefined by a Time: 9 s.lisp: A"]);
    const many = [{ file: "a\nb.lisp", count: 20, names: ["A"] }];
    expect(linesOf({ count: 20, files: many })).to.deep.equal(["20 redefinitions: a b.lisp 20"]);
  });

  it("counts many redefinitions by file, the most first", () => {
    const files = [
      { file: undefined, count: 1, names: ["OWN"] },
      { file: "depot/a.lisp", count: 38, names: ["A"] },
      { file: "depot/model.lisp", count: 41, names: ["B"] },
    ];
    expect(linesOf({ count: 80, files })).to.deep.equal([
      "Redefined: OWN",
      "79 redefinitions: depot/model.lisp 41, depot/a.lisp 38",
    ]);
  });

  it("names at most 12 of many names, and counts the others", () => {
    const names = [...Array(50).keys()].map((index) => `F${index}`);
    expect(linesOf({ count: 50, files: [{ file: undefined, count: 50, names }] })).to.deep.equal([
      "Redefined: F0, F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, 38 more",
    ]);
    expect(linesOf({ stale: [{ name: "WITH-ROW", count: 70, users: names }] })[0]).to.match(
      /^Compiled with the old WITH-ROW: F0, .*F11, 58 more \(evaluate their definitions again\)$/,
    );
  });
});
