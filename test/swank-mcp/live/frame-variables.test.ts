import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { liveDebugger, liveFolder } from "../../support/live-server.js";

const FILE = `(defun total (prices unused)
  (let ((sum (reduce #'+ prices)))
    (print sum)
    (print sum)
    (car (length prices))))
`;

describe("Variables of frames", () => {
  const folder = liveFolder("swank-mcp-variables");
  const lisp = liveDebugger({
    // From 2.5 on, SBCL drops variables that are no longer needed.
    code: `(defun arm (&key due issued)
      (list (let ((issued (list (or issued 5) due))) (list (car (first issued)) issued)) due issued))`,
  });
  before(() => writeFile(join(folder, "total.lisp"), FILE));

  const localsOf = async (call: string) =>
    (await lisp.locals(call)).map(({ object_id, ...local }) => ({ ...local, hasId: object_id !== undefined }));

  it("mark arguments, and those that an inner binding shadows", async () => {
    const [, live] = await lisp.evaluate("(arm :due 1)");
    expect(await localsOf("(ARM")).to.deep.equal([
      { name: "DUE", value: "1", argument: true, hasId: true },
      { name: "ISSUED", value: "NIL", argument: true, shadowed: true, hasId: true },
      { name: "ISSUED", value: "(5 1)", hasId: true },
    ]);
    expect(live).to.match(/\n {2}DUE = 1\n {2}ISSUED = NIL \(argument, shadowed\)\n {2}ISSUED = \(5 1\)$/);
  });

  it("evaluate in a frame with the innermost binding of a name, as the code does", async () => {
    await lisp.evaluate("(arm :due 1)");
    const { index } = await lisp.frame("(ARM");
    expect(await lisp.valuesInFrame(index, "(list due issued)")).to.deep.equal(["(1 (5 1))"]);
    expect(await lisp.valuesInFrame(index, "(setf issued :set)")).to.deep.equal([":SET"]);
    expect((await localsOf("(ARM")).map(({ value }) => value)).to.deep.equal(["1", "NIL", ":SET"]);
  });

  it("find the innermost of many bindings, in loops and local functions", async () => {
    const cases: readonly (readonly [definition: string, value: string])[] = [
      ["(defun s (x) (let ((x (list x 2))) (let ((x (list x 3))) (car (the fixnum (car (last x)))))))", "((1 2) 3)"],
      ["(defun s (x) (dolist (x (list 4 x)) (let ((x (list x))) (dolist (x x) (print (car x))))))", "4"],
      ['(defun s (x) (flet ((f (x) (let ((x (list x 7))) (error "~a" x)))) (list (f (+ x 5)))))', "(6 7)"],
      [
        '(defun s (x) (destructuring-bind (x y) (list (+ x 8) 2) (multiple-value-bind (x z) (floor x y) (error "~a ~a" x z))))',
        "4",
      ],
    ];
    for (const [definition, value] of cases) {
      await lisp.evaluate(definition);
      await lisp.evaluate("(list (s 1))");
      const { frames } = await lisp.frames();
      const frame = frames.find(({ call }) => /^\(S |^\(\(FLET F/.test(call));
      expect(await lisp.valuesInFrame(frame?.index ?? 0, "x"), definition).to.deep.equal([value]);
      await lisp.abortAll();
    }
  });

  it("list variables that the compiler dropped as unavailable", async () => {
    await lisp.evaluate(
      `(sb-ext:restrict-compiler-policy 'debug 0) (load ${JSON.stringify(join(folder, "total.lisp"))})`,
    );
    await lisp.evaluate("(list (total '(1 2) :unused))");
    const locals = await localsOf("(TOTAL");
    expect(locals).to.deep.include({
      name: "UNUSED",
      value: "#<not available>",
      argument: true,
      unavailable: true,
      hasId: false,
    });
    expect(locals.find(({ name }) => name === "PRICES")).to.include({ argument: true });
  });
});
