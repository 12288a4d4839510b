import { writeFile } from "node:fs/promises";
import { expect } from "chai";
import { liveClient } from "./live-image.js";
import { returned } from "./outcomes.js";
import { placesOf } from "./places.js";
import { testFolder } from "./test-folder.js";

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
