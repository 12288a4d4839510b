import { expect } from "chai";
import { noteLines } from "swank-mcp";
import { SILENT } from "../../support/mcp-outcomes.js";

type Redefinitions = (typeof SILENT)["redefinitions"];

describe("noteLines", () => {
  const linesOf = (redefinitions: Partial<Redefinitions>) =>
    noteLines({ transcript: { ...SILENT, redefinitions: { ...SILENT.redefinitions, ...redefinitions } } });

  it("names few redefinitions by a file", () => {
    const files = [{ file: "depot/model.lisp", count: 2, names: ["A", "B"] }];
    expect(linesOf({ count: 2, files })).to.deep.equal(["Redefined by depot/model.lisp: A, B"]);
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
