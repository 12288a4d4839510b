import { writeFile } from "node:fs/promises";
import { expect } from "chai";
import { decode, type types } from "swank-client";
import { rejection } from "../../support/caught.js";
import { loadLibrary } from "../../support/libraries.js";
import { liveClient } from "./live-image.js";
import { testFolder } from "./test-folder.js";

/** Milliseconds that compiling a library, or hundreds of questions, may take on a busy machine. */
const COMPILING = 600_000;

describe("SwankClient.code", () => {
  const image = liveClient();
  const folder = testFolder();

  before(async function () {
    this.timeout(COMPILING);
    const loader = await image.connect();
    await loader.eval(loadLibrary("cl-ppcre"), { policy: "keep" });
  });

  /** The names that a package exports, except those that name nothing. */
  async function exported(packageName: string): Promise<readonly string[]> {
    const code = `(let ((*package* (find-package :keyword)) (names '()))
      (do-external-symbols (name "${packageName}" names)
        (when (or (fboundp name) (boundp name) (find-class name nil)) (push (prin1-to-string name) names))))`;
    return image.client.eval(code, { decode: decode.list(decode.string) });
  }

  async function definitionsOf(name: string): Promise<readonly types.DefinitionText[]> {
    const shown = await image.client.code.showSource(name);
    if (shown.status !== "found") throw new Error(`${name}: ${JSON.stringify(shown)}`);
    return shown.definitions;
  }

  it("finds no callers that a file no longer has, nor their methods, macros and local functions", async () => {
    const file = folder.at("callers.lisp");
    const load = async (call: string) => {
      await writeFile(
        file,
        `(defgeneric gone-method (x))
        (defun gone-target (x) x)
        (defun gone-user (x) ${call})
        (let ((y 1)) (defun gone-closure (x) (list y ${call})))
        (defun gone-outer (x) (flet ((inner (x) (list ${call}))) (declare (notinline inner)) (list #'inner (inner x))))
        (defmethod gone-method ((x integer)) ${call})
        (defmacro gone-macro (x) ${call})
        (define-compiler-macro gone-compiler-macro (x) ${call} x)
        (defun kept-user (x) (gone-target x))`,
      );
      await image.client.eval(`(load (compile-file "${file}"))`);
    };
    const callers = async () => {
      const found = await image.client.code.findReferences("gone-target", "callers");
      if (found.status !== "found") throw new Error(JSON.stringify(found));
      return found.references.map(({ name }) => name).sort();
    };
    const all = [
      "(METHOD GONE-METHOD (INTEGER))",
      "GONE-CLOSURE",
      "GONE-COMPILER-MACRO",
      "GONE-MACRO",
      "GONE-OUTER",
      "GONE-USER",
      "KEPT-USER",
    ];
    await load("(gone-target x)");
    expect(await callers()).to.deep.equal(all);
    await load("(gone-target x)");
    expect(await callers()).to.deep.equal(all);
    await load("x");
    expect(await callers()).to.deep.equal(["KEPT-USER"]);
  });

  it("finds callers under the names that they have got, and those that a closure wraps", async () => {
    const file = folder.at("renamed.lisp");
    await writeFile(
      file,
      `(defun renamed-target (x) x)
      (defun renamed-old (x) (renamed-target x))
      (setf (fdefinition 'renamed-new) #'renamed-old)
      (fmakunbound 'renamed-old)
      (setf (fdefinition '(setf renamed-place)) (sb-int:named-lambda renamed-lambda (new x) (list new (renamed-target x))))
      (defun renamed-wrapped (x) (renamed-target x))
      (let ((old #'renamed-wrapped)) (setf (fdefinition 'renamed-wrapped) (lambda (x) (list (funcall old x)))))
      (defun renamed-twice (x) (renamed-target x))
      (loop repeat 2 do (let ((old #'renamed-twice)) (setf (fdefinition 'renamed-twice) (lambda (x) (list (funcall old x))))))`,
    );
    await image.client.eval(`(load (compile-file "${file}"))`);
    const found = await image.client.code.findReferences("renamed-target", "callers");
    if (found.status !== "found") throw new Error(JSON.stringify(found));
    const names = found.references.map(({ name }) => name).sort();
    expect(names).to.deep.equal(["(SETF RENAMED-PLACE)", "RENAMED-NEW", "RENAMED-TWICE", "RENAMED-WRAPPED"]);
  });

  it("finds the text of everything that CL-PPCRE exports, as it was loaded", async function () {
    this.timeout(COMPILING);
    const names = await exported("CL-PPCRE");
    expect(names.length).to.be.at.least(30);
    const strange: unknown[] = [];
    for (const name of names) {
      const definitions = await definitionsOf(name);
      const own = definitions.filter(({ file }) => file?.startsWith("SYS:") === false);
      const bad = own.filter(
        ({ state, text, line }) => state !== "loaded" || line === undefined || !text?.startsWith("("),
      );
      if (own.length === 0 || bad.length > 0) strange.push({ name, definitions });
    }
    expect(strange).to.deep.equal([]);
  });

  it("finds methods and accessors in the form that made them after their file has changed", async () => {
    const file = folder.at("inner.lisp");
    const text = `(defclass inner-box () ((v :reader inner-v)))
(defgeneric inner-size (x)
  (:method ((x inner-box)) (inner-v x)))
`;
    await writeFile(file, text);
    await image.client.eval(`(load (compile-file "${file}"))`);
    const places = async () => {
      const definitions = await Promise.all(["inner-v", "inner-size"].map(definitionsOf));
      return definitions
        .flat()
        .filter(({ kind }) => kind === "method")
        .map(({ state, line }) => [state, line]);
    };
    await writeFile(file, `;; a comment\n${text}`);
    expect(await places()).to.deep.equal([
      ["same-form", 2],
      ["same-form", 3],
    ]);
    await writeFile(file, text.replace("(inner-v x)", "(list (inner-v x))"));
    expect(await places()).to.deep.equal([
      ["same-form", 1],
      ["as-loaded", undefined],
    ]);
  });

  it("says that changes are loaded only if all of a file can be read and loaded", async () => {
    const file = folder.at("changed.lisp");
    await writeFile(file, "(defun changed () 1)\n");
    await image.client.eval(`(load ${JSON.stringify(file)})`);
    const statuses: unknown[] = [];
    for (const text of [
      "(defun changed () 2)",
      "(defun changed () 3",
      "(defun changed (x x) 3)",
      "(defun changed () 4)",
    ]) {
      await writeFile(file, `${text}\n`);
      statuses.push((await image.client.code.loadChanges({ file }).result()).status);
    }
    expect(statuses).to.deep.equal(["loaded", "incomplete", "incomplete", "loaded"]);
  });

  it("loads a system, and reports what is loaded so far", async () => {
    const task = image.client.code.loadSystem("cl-ppcre");
    expect(await task.soFar()).to.equal(undefined);
    const result = await task.result();
    expect(result).to.deep.include({ status: "loading", system: "cl-ppcre", problem: undefined, action: undefined });
    expect(await task.soFar()).to.deep.equal(result);
    expect(await image.client.code.loadSystem({ system: "cl-ppcre" }).result()).to.have.property("system", "cl-ppcre");
  });

  it("ends a question in the image when its signal is aborted", async () => {
    await image.client.eval("(defmacro code-test-endless () (loop))");
    const cancel = new AbortController();
    const expansion = rejection(
      image.client.code.macroexpand("(code-test-endless)", { signal: cancel.signal }),
      "CANCELLED",
    );
    // The image answers requests in the order in which it starts their threads.
    await image.client.code.macroexpand("(when 1 2)");
    cancel.abort();
    await expansion;
    // After each test, `liveImage` waits until no thread of a request is left.
  });

  it("does not set the package of the image, or intern names", async () => {
    const before = await image.ask("(cl:package-name (sb-ext:symbol-global-value 'cl:*package*))");
    await image.client.code.showSource("code-test-never-interned", { package: "cl-ppcre" });
    await image.client.code.macroexpand("(when code-test-never-interned 1)", { package: "cl-ppcre" });
    await image.client.code.apropos("code-test-never-interned");
    await image.client.code.searchSource("code-test-never-interned", { system: "cl-ppcre" });
    expect(await image.ask("(cl:package-name (sb-ext:symbol-global-value 'cl:*package*))")).to.equal(before);
    expect(await image.ask('(cl:find-all-symbols "CODE-TEST-NEVER-INTERNED")')).to.equal("NIL");
  });

  it("refuses wrong arguments of callers without types", async () => {
    const { code } = image.client;
    const calls: readonly (() => Promise<unknown>)[] = [
      () => Reflect.apply(code.showSource, code, [1]),
      () => Reflect.apply(code.showSource, code, ["car", { pakage: "cl" }]),
      () => Reflect.apply(code.showFile, code, ["x", { line: 0 }]),
      () => Reflect.apply(code.apropos, code, ["x", { kind: "verb" }]),
      () => Reflect.apply(code.apropos, code, ["x", { limit: -1 }]),
      () => Reflect.apply(code.searchSource, code, ["x", { start: "1" }]),
      () => Reflect.apply(code.macroexpand, code, ["(x)", { mode: "twice" }]),
      () => Reflect.apply(code.loadSystem, code, [{ system: 1 }]).result(),
      () => Reflect.apply(code.loadSystem, code, [{ file: undefined }]).result(),
      () => Reflect.apply(code.loadSystem, code, [{ system: "x" }, { forced: true }]).result(),
      () => Reflect.apply(code.loadSystem, code, [{ system: "x" }, { timeout: "1" }]).result(),
      () => Reflect.apply(code.runTests, code, ["x", { conditions: true }]).result(),
      () => Reflect.apply(code.runTests, code, [undefined]).result(),
      () => Reflect.apply(code.loadChanges, code, [{ file: 1 }]).result(),
    ];
    for (const call of calls) await rejection(call(), "INVALID_ARGUMENT");
  });
});

describe("SwankClient.code of a program that runs", () => {
  const image = liveClient();

  it("answers while other threads compile and collect garbage", async () => {
    const seconds = 6;
    const works = ["(compile nil (list 'lambda '(x) (list '+ 'x (random 1000))))", "(gc)"].map(
      (work) => `(loop until (> (get-internal-real-time) end) do ${work})`,
    );
    await image.client.eval(`(let ((end (+ (get-internal-real-time) (* ${seconds} internal-time-units-per-second))))
      ${works.map((work) => `(sb-thread:make-thread (lambda () ${work}))`).join("\n")}
      nil)`);
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) {
      const signal = AbortSignal.timeout(30_000);
      const callers = () => image.client.code.findReferences("gethash", "callers", { signal });
      for (const found of await Promise.all([callers(), callers(), callers()])) expect(found.status).to.equal("found");
    }
  });
});
