import { expect } from "chai";
import { argumentsOf, localsBesideCall } from "#swank-mcp/report/stop.js";

describe("argumentsOf", () => {
  const CALLS: readonly (readonly [call: string, args: readonly string[]])[] = [
    ["(H)", []],
    ["(H 1 (5 0 6))", ["1", "(5 0 6)"]],
    ['(H "a b)" #\\( :KEY)', ['"a b)"', "#\\(", ":KEY"]],
    ["(H #<NODE 1 (A B)> #(1 2) |odd name|)", ["#<NODE 1 (A B)>", "#(1 2)", "|odd", "name|"]],
    ["((SETF AREA) 2 #<SQUARE>)", ["2", "#<SQUARE>"]],
    ["(< 1 2)", ["1", "2"]],
    ["((LAMBDA (X) :IN -> ) 1)", ["1"]],
  ];
  for (const [call, args] of CALLS) it(`of ${call}`, () => expect(argumentsOf(call)).to.deep.equal(args));
});

describe("localsBesideCall", () => {
  const local = (name: string, value: string, ...marks: readonly "argument"[]) => ({ name, value, marks });

  it("leaves out the arguments that the call shows, each once", () => {
    const locals = [local("ITEMS", "(5 0 6)", "argument"), local("N", "0", "argument"), local("R", "(5 0 6)")];
    expect(localsBesideCall(locals, "(H (5 0 6))").map(({ name }) => name)).to.deep.equal(["N", "R"]);
    const same = [local("A", "0", "argument"), local("B", "0", "argument")];
    expect(localsBesideCall(same, "(H 0)").map(({ name }) => name)).to.deep.equal(["B"]);
    expect(localsBesideCall(same, "(H 0 0)")).to.deep.equal([]);
  });
});
