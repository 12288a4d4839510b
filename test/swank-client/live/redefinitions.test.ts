import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { expect } from "chai";
import type { types } from "swank-client";
import { liveClient } from "./live-image.js";
import { returned, stopped } from "./outcomes.js";
import { testFolder } from "./test-folder.js";

describe("Redefinitions of an evaluation", () => {
  const image = liveClient();
  const folder = testFolder();

  async function redefinitionsOf(code: string): Promise<types.Redefinitions> {
    const outcome = returned(await image.evaluate(code));
    expect(outcome.warnings).to.deep.equal([]);
    return outcome.redefinitions;
  }

  it("name functions, macros, generic functions and methods, and are no warnings", async () => {
    await redefinitionsOf(
      `(defun again () 1) (defun (setf again) (new) new) (defmacro m-again () 1) (defgeneric g-again (x y))
       (defmethod g-again :around ((x integer) (y (eql 3))) 1)`,
    );
    const { count, files, stale } = await redefinitionsOf(
      `(defun again () 2) (defun (setf again) (new) (list new)) (defmacro m-again () 2)
       (defmethod g-again :around ((x integer) (y (eql 3))) 2) (defgeneric g-again (x y))`,
    );
    expect(files).to.have.lengthOf(1);
    const names = ["AGAIN", "(SETF AGAIN)", "M-AGAIN", "(METHOD G-AGAIN :AROUND (INTEGER (EQL 3)))", "G-AGAIN"];
    expect(files[0]?.names).to.deep.equal(names);
    expect([count, files[0]?.count, files[0]?.file, stale]).to.deep.equal([5, 5, undefined, []]);
  });

  it("say which functions and methods were compiled with an old macro", async () => {
    await redefinitionsOf(
      `(defmacro with-row (x) \`(list ,x)) (defgeneric row-of (x)) (defmethod row-of ((x integer)) (with-row x))
       (defun row-b (x) (with-row x)) (defun row-a (x) (lambda () (with-row x)))
       (defmacro row-c (x) (with-row x)) (defun row-d (x) x)`,
    );
    const { stale } = await redefinitionsOf("(defmacro with-row (x) `(vector ,x)) (defun row-b (x) (with-row x))");
    expect(stale).to.deep.equal([
      { name: "WITH-ROW", count: 3, users: ["(METHOD ROW-OF (INTEGER))", "ROW-A", "ROW-C"] },
    ]);
  });

  it("are searched without stopping, although the code breaks on errors", async () => {
    const file = folder.at("own-macro.lisp");
    await writeFile(
      file,
      "(defmacro own-macro (x) x)\n(defun own-user (x) (own-macro x))\n(defmacro own-macro (x) `(list ,x))",
    );
    await image.client.eval(`(compile-file "${file}")`);
    const load = `(let ((*break-on-signals* 'error)) (load "${folder.at("own-macro.fasl")}"))`;
    const { stale } = await redefinitionsOf(load);
    expect(stale).to.deep.equal([{ name: "OWN-MACRO", count: 1, users: ["OWN-USER"] }]);
  });

  it("say which functions were compiled with an old inline function", async () => {
    await redefinitionsOf(
      `(declaim (inline inlined)) (defun inlined (x) (+ x 1)) (defun calls-inlined (x) (inlined x))
       (defun calls-out-of-line (x) (declare (notinline inlined)) (inlined x))`,
    );
    const { stale } = await redefinitionsOf("(defun inlined (x) (+ x 2))");
    expect(stale).to.deep.equal([{ name: "INLINED", count: 1, users: ["CALLS-INLINED"] }]);
  });

  it("come with the next stop, and not again", async () => {
    await redefinitionsOf("(defun stopped-again () 1)");
    const evaluation = image.client.evaluate('(defun stopped-again () 2) (cerror "go on" "stop")');
    const stop = stopped(await evaluation.next());
    expect(stop.redefinitions.files[0]?.names).to.deep.equal(["STOPPED-AGAIN"]);
    await stop.stop.invokeRestart(0);
    expect((await evaluation.next()).redefinitions.count).to.equal(0);
  });

  it("by loaded files are counted by file, relative to the image's directory", async () => {
    const file = folder.at("model.lisp");
    const definitions = (value: number) =>
      [...Array(60).keys()].map((index) => `(defun model-${index} () ${value})`).join("\n");
    await writeFile(file, definitions(1));
    await redefinitionsOf(`(load "${file}")`);
    await writeFile(file, definitions(2));
    const { count, files } = await redefinitionsOf(
      `(let ((*default-pathname-defaults* #p"${tmpdir()}/")) (load "${file}"))`,
    );
    expect([count, files.length, files[0]?.count, files[0]?.names.length]).to.deep.equal([60, 1, 60, 50]);
    expect(files[0]?.file).to.match(/live-\w+\/model\.lisp$/);
    const compiled = await redefinitionsOf(
      `(let ((*error-output* (make-broadcast-stream)) (*standard-output* (make-broadcast-stream))) (load (compile-file "${file}")))`,
    );
    expect(compiled.files[0]?.file).to.match(/live-\w+\/model\.lisp$/);
  });
});

describe("methods on print-object for single objects", () => {
  const image = liveClient();

  for (const specializers of ["((x (eql :loud)) stream)", "((x (eql :loud)) (stream string-stream))"])
    it(`${specializers} can be defined by an evaluation, and are called at once and later`, async () => {
      const define = `(defmethod print-object ${specializers} (write-string "LOUD!" stream))`;
      expect(await image.values(`${define} (princ-to-string :loud)`)).to.deep.equal(['"LOUD!"']);
      expect(await image.values("(list (princ-to-string :loud) (princ-to-string :soft))")).to.deep.equal([
        '("LOUD!" "SOFT")',
      ]);
      const remove =
        "(let ((f #'print-object)) (remove-method f (first (sb-mop:specializer-direct-methods (sb-mop:intern-eql-specializer :loud)))) 1)";
      expect(await image.values(remove)).to.deep.equal(["1"]);
      expect(await image.values("(princ-to-string :loud)")).to.deep.equal(['"LOUD"']);
    });
});

// An image of its own: in SBCL from 2.5, removing a method that specializes the stream, as above, hides methods that are added later.
describe("methods on print-object that other code has loaded", () => {
  const image = liveClient();

  it("are called for single objects", async () => {
    await image.ask(
      '(cl:not (cl:eval (cl:read-from-string "(defmethod cl:print-object ((x (eql :calm)) stream) (cl:write-string \\"calm\\" stream))")))',
    );
    expect(await image.values("(princ-to-string :calm)")).to.deep.equal(['"calm"']);
  });
});
