import { expect } from "chai";
import type { types } from "swank-client";
import { liveClient } from "./live-image.js";
import { aborted, returned, values } from "./outcomes.js";

describe("Evaluation of code that cannot be read", () => {
  const image = liveClient();
  beforeEach(() => image.values("(defparameter *ran* nil)"));

  async function refused(code: string): Promise<types.Aborted & Required<Pick<types.Aborted, "error">>> {
    const outcome = aborted(await image.evaluate(code));
    if (outcome.error === undefined) throw new Error("The outcome tells no error.");
    expect(image.client.stops).to.deep.equal([]);
    return { ...outcome, error: outcome.error };
  }

  const UNBALANCED: readonly (readonly [code: string, type: string, message: RegExp])[] = [
    [
      "(setf *ran* t)\n(list 1\n  (list 2)",
      "END-OF-FILE",
      /^Unexpected end of file\.\nLine 2, column 1: the list that begins here never ends; a closing parenthesis is missing, probably in line 3\. Nothing has been evaluated\.\n3: {3}\(list 2\)$/,
    ],
    [
      "(defun odd-f (x)\n  (let ((y (car x))\n    (setf *ran* y)\n    (list y)))",
      "END-OF-FILE",
      /^Unexpected end of file\.\nLine 1, column 1: the list .* missing, probably in line 2\. Nothing has been evaluated\.\n2: {3}\(let \(\(y \(car x\)\)$/,
    ],
    [
      "(defun odd-f (x)\n  (let ((y x)\n    (list y\n\n(defun odd-g (x)\n  (list x)",
      "END-OF-FILE",
      /5 closing parentheses are missing, probably in line 2 and line 3 and line 6\. Nothing has been evaluated\.\n2: .*\n3: .*\n6: {3}\(list x\)$/,
    ],
    [
      "(setf *ran* t)\n(defun odd-f (x)\n  (let ((y x)))\n    (print y)\n    (list y)))",
      "READER-ERROR",
      /^Unmatched close parenthesis\nLine 5, column 14: this parenthesis closes nothing; line 3 probably has one too many\. Nothing has been evaluated\.\n3: {3}\(let \(\(y x\)\)\)$/,
    ],
    [
      "(setf *ran* t)\n (list 1))",
      "READER-ERROR",
      /^Unmatched close parenthesis\nLine 2, column 10: this parenthesis closes nothing\. Nothing has been evaluated\.$/,
    ],
    [
      '(setf *ran* t) (princ "abc',
      "END-OF-FILE",
      /Line 1, column 23: the string that begins here never ends\. Nothing has been evaluated\.$/,
    ],
    [
      "(setf *ran* t)\n#| never",
      "END-OF-FILE",
      /Line 2, column 1: the .*comment that begins here never ends\. Nothing/,
    ],
    ["(setf *ran* t) |odd", "END-OF-FILE", /Line 1, column 16: the .* that begins here never ends\. Nothing/],
    ["(setf *ran* t) '", "END-OF-FILE", /Line 1, column 16: a form is missing after this prefix\. Nothing/],
    ['(setf *ran* t) "あ🙂" )', "READER-ERROR", /Line 1, column \d+: this parenthesis closes nothing\. Nothing/],
    ["(setf *ran* t) nosuch::x #.(setf *ran* t) (", "END-OF-FILE", /Nothing has been evaluated\.$/],
  ];
  for (const [code, type, message] of UNBALANCED)
    it(`runs nothing of unbalanced code: ${JSON.stringify(code)}`, async () => {
      const { error } = await refused(code);
      expect(error.type).to.equal(type);
      expect(error.message).to.match(message);
      expect(await image.values("*ran*")).to.deep.equal(["NIL"]);
    });

  const UNREADABLE: readonly (readonly [code: string, type: string, message: RegExp])[] = [
    [
      "(setf *ran* t)\n  (nosuch::x)",
      "READER-ERROR",
      /NOSUCH does not exist.*\nLine 2, column 4\. The form before it has been evaluated\.$/s,
    ],
    [
      "1 (setf *ran* t) (cl:nosuch 1)",
      "READER-ERROR",
      /NOSUCH.*\nLine 1, column \d+\. The 2 forms before it have been evaluated\.$/s,
    ],
    ["(setf *ran* t) (list #\\nosuchchar)", "READER-ERROR", /\nLine 1, column \d+\. The form before it/s],
    ["(setf *ran* t) #<no> 2", "READER-ERROR", /\nLine 1, column \d+\. The form before it/s],
    ["(setf *ran* t) (a . b c)", "READER-ERROR", /\nLine 1, column \d+\. The form before it/s],
    [
      '(setf *ran* t) #.(error "while reading")',
      "SIMPLE-ERROR|READER-ERROR",
      /while reading.*\nLine 1, column \d+\. The form before it/s,
    ],
    ['(setf *ran* t) "🙂" nosuch::x', "READER-ERROR", /\nLine 1, column 21\. The 2 forms before it/s],
  ];
  for (const [code, type, message] of UNREADABLE)
    it(`runs the forms before the unreadable one: ${JSON.stringify(code)}`, async () => {
      const { error } = await refused(code);
      expect(error.type).to.match(new RegExp(`^(${type})$`));
      expect(error.message).to.match(message);
      expect(await image.values("*ran*")).to.deep.equal(["T"]);
    });

  it("names the packages that have the symbol, and those with similar names", async () => {
    await image.values(
      "(defpackage :read-depot (:use :cl)) (defpackage :read-store (:use :cl) (:export #:such-that)) (list 'read-depot::such-that)",
    );
    const hintOf = async (code: string) => (await refused(code)).error.message.split("\n").at(-1);
    const all = "SUCH-THAT is in READ-DEPOT, READ-STORE; internal symbols need ::";
    expect(await hintOf("(read-depot:such-that 1)")).to.equal(all);
    expect(await hintOf("(cl:such-that 1)")).to.equal(all);
    await image.values("(defun read-store:such-that () 1)");
    expect(await hintOf("(cl:such-that 1)")).to.equal("SUCH-THAT is in READ-STORE");
    expect(await hintOf("(read-depo:such-that)")).to.equal("Packages with similar names: READ-DEPOT");
    expect(await hintOf("(cl:mapcra 1)")).to.equal("Similar names in COMMON-LISP: MAPCAN, MAPCAR, MAPCON, MAPC");
    expect(await hintOf("(read-store:such-thta)")).to.equal("Similar names in READ-STORE: SUCH-THAT");
    expect(await hintOf("(cl:no-such-name-anywhere)")).to.match(/^Line 1, /);
  });

  it("shows the stack only of code that the reader runs", async () => {
    for (const code of ["cl:nosuch", "'(1 . 2 3)", "(list 1", "nosuch::x", "sb-ext::brand-new-typo"])
      expect((await refused(code)).error, code)
        .to.include({ totalFrames: 0 })
        .and.to.have.property("frames").that.is.empty;
    const { error } = await refused('(list #.(error "while reading"))');
    expect(error.frames.map(({ call }) => call)).to.include('(EVAL (ERROR "while reading"))');
    await image.values(
      '(defun bad-macro-reader (s c) (declare (ignore s c)) (error "bad")) (set-macro-character #\\! #\'bad-macro-reader)',
    );
    const calls = (await refused("!")).error.frames.map(({ call }) => call);
    expect(calls.some((call) => call.startsWith("(BAD-MACRO-READER "))).to.equal(true);
  });

  it("reports the class, its superclasses, and the restarts", async () => {
    const { error } = await refused("nosuch::x");
    expect(error.class).to.match(/^SB-INT:SIMPLE-READER-PACKAGE-ERROR$/);
    expect(error.supertypes).to.include.members(["READER-ERROR", "ERROR", "CONDITION"]);
    expect(error.restarts.at(-1)).to.include({ name: "ABORT", description: "Return to top level" });
    expect(error.message).not.to.contain("STREAM");
  });

  it("nested beyond the stack is an ordinary error, and the image stays usable", async () => {
    const deep = `${"(".repeat(1_000_000)}${")".repeat(1_000_000)}`;
    for (let round = 0; round < 3; round += 1) {
      expect((await refused(`(setf *ran* t) '${deep}`)).error.type).to.equal("STORAGE-CONDITION");
    }
    expect(await image.values("*ran*")).to.deep.equal(["T"]);
  });

  it("interns nothing of unbalanced code", async () => {
    await refused("(list never-interned-before");
    expect(await image.values('(find-symbol (format nil "NEVER-~a" "INTERNED-BEFORE"))')).to.deep.equal(["NIL", "NIL"]);
  });

  it("leaves no lock behind, so that every client can intern new symbols", async () => {
    const other = await image.connect();
    for (const code of [
      "(sb-ext::brand-new-typo)",
      "'cl::brand-new-typo",
      '(intern "BRAND-NEW-TYPO" :cl)',
      "(defun car (x) x)",
    ]) {
      const evaluation = image.client.evaluate(code);
      expect((await evaluation.next()).status, code).to.be.oneOf(["aborted", "stopped"]);
      expect(await values(other, `'fresh-symbol-${String(Math.random()).slice(2)}`), code).to.have.lengthOf(1);
      await evaluation.abort();
    }
  });
});

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
  for (const [code, type, message] of CASES)
    it(`is an error instead of a value: ${code}`, async () => {
      const outcome = aborted(await image.evaluate(code));
      expect(outcome.error?.type).to.match(new RegExp(`^(${type})$`));
      expect(outcome.error?.message).to.match(message);
      expect(outcome.stderr).to.equal("");
      expect(image.client.stops).to.deep.equal([]);
    });

  it("defines nothing, and keeps the effects of earlier forms", async () => {
    aborted(await image.evaluate(`(princ "first") (defparameter *before* 1) ${MALFORMED}`));
    expect(await image.values("(list *before* (fboundp 'malformed))")).to.deep.equal(["(1 NIL)"]);
  });

  for (const code of [
    "(compile nil '(lambda () (let (1) 2)))",
    "(ignore-errors (eval '(let (1) 2)))",
    "(handler-case (eval '(let (1) 2)) (program-error () :caught))",
  ])
    it(`is no error if the code itself compiles it: ${code}`, async () => returned(await image.evaluate(code)));

  it("keeps earlier output and warnings", async () => {
    const outcome = aborted(await image.evaluate(`(princ "out") (warn "careful") ${MALFORMED}`));
    expect(outcome.stdout).to.equal("out");
    expect(outcome.warnings.map(({ message }) => message)).to.deep.equal(["careful"]);
  });
});
