import { expect } from "chai";
import { liveClient } from "./live-image.js";
import { aborted, returned } from "./outcomes.js";

/** A form that the compiler cannot make sense of, in a function that is never called. */
const MALFORMED = "(defun malformed () (let (1) 2))";

describe("Evaluation of code that cannot be compiled", () => {
  const image = liveClient();

  const CASES: readonly [code: string, type: string, message: RegExp][] = [
    [MALFORMED, "PROGRAM-ERROR", /1 is not a symbol/],
    ["(let ((x 1 2)) x)", "PROGRAM-ERROR", /LET binding spec \(X 1 2\) is malformed/],
    ["(defun e-if () (if))", "ERROR|PROGRAM-ERROR", /IF/],
    ['(defmacro bad () (error "in a macro")) (defun user () (bad))', "PROGRAM-ERROR", /in a macro/],
    ["(let ((x 1)) (y . x))", "PROGRAM-ERROR", /not a proper list/],
  ];
  for (const [code, type, message] of CASES) {
    it(`is an error instead of a value: ${code}`, async () => {
      const outcome = aborted(await image.evaluate(code));
      expect(outcome.error?.type).to.match(new RegExp(`^(${type})$`));
      expect(outcome.error?.message).to.match(message);
      expect(outcome.stderr).to.equal("");
      expect(image.client.stops).to.deep.equal([]);
    });
  }

  it("defines nothing, and keeps the effects of earlier forms", async () => {
    aborted(await image.evaluate(`(princ "first") (defparameter *before* 1) ${MALFORMED}`));
    expect(await image.values("(list *before* (fboundp 'malformed))")).to.deep.equal(["(1 NIL)"]);
  });

  for (const code of [
    "(compile nil '(lambda () (let (1) 2)))",
    "(ignore-errors (eval '(let (1) 2)))",
    "(handler-case (eval '(let (1) 2)) (program-error () :caught))",
  ]) {
    it(`is no error if the code itself compiles it: ${code}`, async () => {
      returned(await image.evaluate(code));
    });
  }

  it("keeps earlier output and warnings", async () => {
    const outcome = aborted(await image.evaluate(`(princ "out") (warn "careful") ${MALFORMED}`));
    expect(outcome.stdout).to.equal("out");
    expect(outcome.warnings.map(({ message }) => message)).to.deep.equal(["careful"]);
  });
});
