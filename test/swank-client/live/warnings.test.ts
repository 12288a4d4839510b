import { expect } from "chai";
import type { types } from "swank-client";
import { liveClient } from "./live-image.js";
import { returned, stopped } from "./outcomes.js";
import { placesOf } from "./places.js";

describe("Warnings of an evaluation", () => {
  const image = liveClient();

  async function warningsOf(code: string): Promise<readonly types.LispWarning[]> {
    const outcome = returned(await image.evaluate(code));
    expect(outcome.stderr).to.equal("");
    return outcome.warnings;
  }

  const CASES: readonly (readonly [title: string, code: string, type: types.LispWarning["type"], text: RegExp])[] = [
    ["a warning of the code's own", '(warn "careful: ~d" 42)', "WARNING", /^careful: 42$/],
    ["a style warning of its own", "(warn 'style-warning)", "STYLE-WARNING", /STYLE-WARNING/],
    [
      "an undefined variable",
      "(defun w-variable () no-such-variable)",
      "WARNING",
      /^undefined variable: .*NO-SUCH-VARIABLE$/,
    ],
    [
      "an undefined function",
      "(defun w-function () (no-such-function))",
      "STYLE-WARNING",
      /^undefined function: .*NO-SUCH-FUNCTION$/,
    ],
    ["an unused variable", "(defun w-unused (x) 1)", "STYLE-WARNING", /^The variable X is defined but never used\.$/],
    ["a conflict of types", '(defun w-type () (+ 1 "2"))', "WARNING", /conflicts with its asserted type|bound to/i],
    [
      "a wrong number of arguments",
      "(defun w-one (x) x) (defun w-count () (w-one 1 2))",
      "STYLE-WARNING",
      /called with two arguments, but wants exactly one/,
    ],
  ];
  for (const [title, code, type, text] of CASES) {
    it(`report ${title}`, async () => {
      const warnings = await warningsOf(code);
      expect(warnings).to.have.lengthOf(1);
      expect(warnings[0]?.type).to.equal(type);
      expect(warnings[0]?.message).to.match(text);
    });
  }

  it("name a condition class that the code defines", async () => {
    const [warning] = await warningsOf(
      '(define-condition my-warning (warning) () (:report "mine")) (warn \'my-warning)',
    );
    expect(warning).to.include({ type: "WARNING", class: "COMMON-LISP-USER::MY-WARNING", message: "mine" });
  });

  it("have the position of the form in the code, or of the top-level form", async () => {
    const code = `(defvar *w-p* "ünï 🙂") ; comment
(defun w-p (x)
  (list 'a #'car
    (car 5)))
(progn
  (warn "run"))
(dotimes (i 1)
  (eval '(lambda (unused)
     1)))`;
    const warnings = await warningsOf(code);
    expect(await placesOf(warnings, code)).to.deep.equal([
      "(defun w-p (x)",
      "(car 5)))",
      "(progn",
      "'(lambda (unused)",
    ]);
    expect(await placesOf(warnings.slice(0, 1))).to.deep.equal([
      "unknown: The warning is about the evaluated code, which was not given.",
    ]);
  });

  it("include compiler notes", async () => {
    const warnings = await warningsOf("(compile nil '(lambda (x y) (declare (optimize speed)) (+ x y)))");
    expect(warnings[0]).to.include({ type: "COMPILER-WARNING", class: "SB-INT:SIMPLE-COMPILER-NOTE" });
  });

  it("omit conditions that the code handles itself", async () => {
    expect(await warningsOf('(handler-case (warn "x") (warning () :handled))')).to.deep.equal([]);
    expect(await warningsOf('(handler-bind ((warning #\'muffle-warning)) (warn "x"))')).to.deep.equal([]);
    expect(
      await warningsOf("(defun h-f (x) (declare (sb-ext:muffle-conditions style-warning)) (let ((y x)) 1))"),
    ).to.deep.equal([]);
  });

  it("omit undefined names that a later form defines", async () => {
    const code = `(defun l-a () (l-b *l-special*)) (defun l-b (x) (check-type x l-type) x)
      (defvar *l-special*) (deftype l-type () 'integer)`;
    expect(await warningsOf(code)).to.deep.equal([]);
    expect(await warningsOf("(defun l-c () (l-d)) (defun l-d () 1)")).to.deep.equal([]);
    expect(await warningsOf("(defun l-e () (l-f) (l-g)) (defun l-f () 1)")).to.have.lengthOf(1);
    expect(
      await warningsOf("(defun l-h (x) (setf (l-place x) 1)) (defun (setf l-place) (new x) (list new x))"),
    ).to.deep.equal([]);
  });

  it("come with the next stop, and not again", async () => {
    const evaluation = image.client.evaluate('(warn "first") (cerror "go on" "stop") (warn "second")');
    const stop = stopped(await evaluation.next());
    expect(stop.warnings.map(({ message }) => message)).to.deep.equal(["first"]);
    await stop.stop.invokeRestart(0);
    expect((await evaluation.next()).warnings.map(({ message }) => message)).to.deep.equal(["second"]);
  });

  it("do not include warnings of inspecting a stop", async () => {
    const { evaluation, stop } = await image.stopIn('(defun s-f (x) (error "stop ~a" x)) (s-f 1)');
    await stop.frames(0, 10);
    await stop.frameLocals(0);
    await stop.abort();
    expect((await evaluation.next()).warnings).to.deep.equal([]);
  });

  it("are limited in number, and the omitted ones are counted", async () => {
    const outcome = returned(await image.evaluate('(dotimes (i 100000) (warn "number ~d" i))'));
    const numbers = [...Array(100).keys()].map((number) => `number ${number}`);
    expect(outcome.warnings.map(({ message }) => message)).to.deep.equal(numbers);
    expect(outcome.warningsOmitted).to.equal(99_900);
  });

  it("are counted for each outcome separately", async () => {
    const warn = '(dotimes (i 101) (warn "number ~d" i))';
    const evaluation = image.client.evaluate(`${warn} (break) ${warn}`);
    const stop = stopped(await evaluation.next());
    expect([stop.warnings.length, stop.warningsOmitted]).to.deep.equal([100, 1]);
    await stop.stop.continue();
    const end = returned(await evaluation.next());
    expect([end.warnings.length, end.warningsOmitted]).to.deep.equal([0, 101]);
  });

  it("may lack a MUFFLE-WARNING restart, or fail to print", async () => {
    expect(await warningsOf('(signal (make-condition \'simple-warning :format-control "signalled"))')).to.have.lengthOf(
      1,
    );
    const [bad] = await warningsOf(
      '(define-condition bad-warning (warning) () (:report (lambda (c s) (declare (ignore c s)) (error "no")))) (warn \'bad-warning)',
    );
    expect(bad?.message).to.contain("error printing");
  });

  it("do not hide a failure from COMPILE", async () => {
    const outcome = returned(await image.evaluate('(multiple-value-list (compile nil \'(lambda () (+ 1 "2"))))'));
    expect(outcome.values[0]).to.match(/^\(#<FUNCTION .*> T T\)$/);
    expect(outcome.warnings.map(({ type }) => type)).to.include("WARNING");
    const style = returned(await image.evaluate("(rest (multiple-value-list (compile nil '(lambda (x) 1))))"));
    expect(style.values).to.deep.equal(["(T NIL)"]);
    const fine = returned(await image.evaluate("(rest (multiple-value-list (compile nil '(lambda (x) x))))"));
    expect(fine.values).to.deep.equal(["(NIL NIL)"]);
  });
});
