import { writeFile } from "node:fs/promises";
import { expect } from "chai";
import type { types } from "swank-client";
import { liveClient } from "./live-image.js";
import { returned, stopped } from "./outcomes.js";
import { placesOf } from "./places.js";
import { testFolder } from "./test-folder.js";

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
  for (const [title, code, type, text] of CASES)
    it(`report ${title}`, async () => {
      const warnings = await warningsOf(code);
      expect(warnings).to.have.lengthOf(1);
      expect(warnings[0]?.type).to.equal(type);
      expect(warnings[0]?.message).to.match(text);
    });

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

describe("Warnings of an evaluation in a file", () => {
  const image = liveClient();
  const folder = testFolder();

  it("are reported, and COMPILE-FILE returns the same as without the runtime", async () => {
    const file = await folder.write(
      "bad.lisp",
      '(defun file-bad () (+ 1 "2"))\n(defun file-style (x) 1)\n(defun file-undefined () (file-nowhere))\n',
    );
    const outcome = returned(await image.evaluate(`(multiple-value-list (compile-file "${file}"))`));
    expect(outcome.values[0]).to.match(/^\(#P".*bad\.fasl" T T\)$/);
    expect(outcome.warnings.map(({ type }) => type).sort()).to.include.members(["STYLE-WARNING", "WARNING"]);
    expect([outcome.stdout, outcome.stderr]).to.deep.equal(["", ""]);
  });

  it("are counted by file and type, with the definitions that full and style warnings are about", async () => {
    const file = await folder.write(
      "counted.lisp",
      `(defun counted-bad () (+ 1 "2"))
         (defun counted-style (x) 1)
         (defun counted-later () (counted-undefined) (counted-defined))
         (defun counted-note (x y) (declare (optimize speed)) (+ x y))
         (defun counted-defined () 1)`,
    );
    const outcome = returned(
      await image.evaluate(`(warn "own") (rest (multiple-value-list (compile-file "${file}")))`),
    );
    expect(outcome.values).to.deep.equal(["(T T)"]);
    const [own, ...inFile] = outcome.warnings;
    expect(own).to.include({ type: "WARNING", class: "SIMPLE-WARNING", message: "own" });
    expect(own?.file).to.equal(undefined);
    expect(inFile.map(({ type, definition }) => [type, definition])).to.deep.equal([
      ["WARNING", "(DEFUN COUNTED-BAD)"],
      ["STYLE-WARNING", "(DEFUN COUNTED-STYLE)"],
      ["STYLE-WARNING", "(DEFUN COUNTED-LATER)"],
    ]);
    for (const warning of inFile) expect(warning.file).to.match(/^live-\w+\/counted\.lisp$/);
    const counts = outcome.warningsInFiles.map(({ type, count }) => [type, count] as const);
    expect(counts).to.deep.include.members([
      ["WARNING", 1],
      ["STYLE-WARNING", 2],
    ]);
    expect(new Map(counts).get("COMPILER-WARNING")).to.be.at.least(1);
  });

  it("have the position of the form in the file", async () => {
    const file = folder.at("placed.lisp");
    const text = `(defun placed-a () "ünï" 1)
;; no form
(defun placed-b (x)
  (list x
    (car 5)))
(placed-none 1)
`;
    await writeFile(file, text);
    const outcome = returned(await image.evaluate(`(compile-file "${file}") (values)`));
    expect(await placesOf(outcome.warnings)).to.deep.equal(["(car 5)))", "(placed-none 1)"]);
    for (const { path } of outcome.warnings) expect(path).to.equal(file);
    const loaded = returned(await image.evaluate(`(ignore-errors (load "${file}")) (values)`));
    expect((await placesOf(loaded.warnings))[0]).to.equal("(car 5)))");
    const ran = returned(await image.evaluate('(with-open-file (s "/dev/null") (warn "own") (load s))'));
    const elsewhere = `(let ((*default-pathname-defaults* #p"/nowhere/")) (compile-file "${file}")) (values)`;
    const moved = returned(await image.evaluate(elsewhere));
    expect(await placesOf(moved.warnings)).to.deep.equal(["(car 5)))", "(placed-none 1)"]);
    expect(ran.warnings[0]?.position).to.deep.equal({ kind: "path", path: [0], offset: undefined });
  });

  it("include code that cannot be compiled, as errors before all warnings, which the compiler then does not print", async () => {
    const file = folder.at("errors.lisp");
    const text = `(defun errors-style (x) 1)
(warn "full")
(defmacro errors-macro (x) (car x))
(defun errors-a ()
  (list (if)))
(defun errors-b () (errors-macro 3))
(eval-when (:compile-toplevel) (eval '(defun errors-c () (let (1) 2))))
`;
    await writeFile(file, text);
    const types = ["ERROR", "ERROR", "ERROR", "STYLE-WARNING"];
    const compiled = returned(await image.evaluate(`(rest (multiple-value-list (compile-file "${file}")))`));
    expect([compiled.values, compiled.stdout, compiled.stderr]).to.deep.equal([["(T T)"], "", ""]);
    expect(compiled.warnings.map(({ type }) => type)).to.deep.equal(types);
    const [first] = compiled.warnings;
    expect(first).to.include({ path: file, definition: "(DEFUN ERRORS-A)" });
    expect(first?.class).to.match(/::?ARG-COUNT-ERROR$/);
    expect(first?.message).to.match(/^Error while parsing arguments to special operator IF:/);
    expect((await placesOf(compiled.warnings)).slice(0, 2)).to.deep.equal(["(if)))", "(errors-macro 3))"]);
    const counts = new Map(compiled.warningsInFiles.map(({ type, count }) => [type, count]));
    expect(counts.get("ERROR")).to.equal(3);
    const loaded = returned(await image.evaluate(`(load "${file}")`));
    expect([loaded.values, loaded.stderr]).to.deep.equal([["T"], ""]);
    expect(loaded.warnings.map(({ type }) => type)).to.deep.equal(["ERROR", "ERROR", "WARNING", "STYLE-WARNING"]);
    expect((await image.evaluate("(errors-a)")).status).to.equal("stopped");
  });

  it("include an error of the reader, which ends the compilation", async () => {
    const file = await folder.write("unread.lisp", "(defun unread-a () 1)\n(defun unread-b () (no-such-package:f))\n");
    const outcome = returned(await image.evaluate(`(multiple-value-list (compile-file "${file}"))`));
    expect(outcome.values).to.deep.equal(["(NIL T T)"]);
    expect(outcome.warnings.map(({ type, path }) => [type, path])).to.deep.equal([["ERROR", file]]);
    expect(outcome.warnings[0]?.message).to.match(/NO-SUCH-PACKAGE does not exist/);
  });

  it("are counted if more cannot be compiled than are sent", async () => {
    const file = await folder.write("many.lisp", "(defun many () (if))\n".repeat(70));
    const outcome = returned(await image.evaluate(`(compile-file "${file}") (values)`));
    expect(outcome.warnings).to.have.lengthOf(50);
    expect(outcome.warningsInFiles.find(({ type }) => type === "ERROR")?.count).to.equal(70);
  });

  it("do not count undefined names that a later form of the file defines", async () => {
    const file = await folder.write("later.lisp", "(defun later-a () (later-b))\n(defun later-b () 1)\n");
    const outcome = returned(await image.evaluate(`(load "${file}")`));
    expect([outcome.warnings, outcome.warningsInFiles]).to.deep.equal([[], []]);
  });

  it("are preceded by the progress: the name of each file that is compiled", async () => {
    const file = await folder.write("progress.lisp", "(defun progress-a () 1)\n(defun progress-b () 2)\n");
    const progress: string[] = [];
    const code = `(compile-file "${file}") (defun progress-c () 1) (values)`;
    const outcome = returned(await image.evaluate(code, { onProgress: (text) => progress.push(text) }));
    expect(progress.map((text) => text.replace(/-\w+\//, "-N/"))).to.deep.equal(["Compiling live-N/progress.lisp"]);
    expect([outcome.stdout, outcome.stderr]).to.deep.equal(["", ""]);
  });

  it("do not hide from COMPILE-FILE that it only gave style warnings, or none", async () => {
    const file = folder.at("style.lisp");
    const results = `(rest (multiple-value-list (compile-file "${file}")))`;
    await writeFile(file, "(defun style-only (x) 1)\n");
    expect(await image.values(results)).to.deep.equal(["(T NIL)"]);
    await writeFile(file, "(defun style-none (x) x)\n");
    expect(await image.values(results)).to.deep.equal(["(NIL NIL)"]);
  });

  it("are reported for a source file, whose load succeeds, full warnings first", async () => {
    const file = await folder.write("source.lisp", '(defun source-style (x) 1)\n(warn "loading")\n');
    const outcome = returned(await image.evaluate(`(load "${file}")`));
    expect(outcome.values).to.deep.equal(["T"]);
    expect(outcome.warnings.map(({ message }) => message)).to.deep.equal([
      "loading",
      "The variable X is defined but never used.",
    ]);
  });
});
