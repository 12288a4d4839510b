import { readFile, writeFile } from "node:fs/promises";
import { expect } from "chai";
import type { SwankClient, types } from "swank-client";
import { liveClient } from "./live-image.js";
import { testFolder } from "./test-folder.js";

describe("Code.undoDefinition", () => {
  const image = liveClient();
  const folder = testFolder();
  let person: SwankClient;

  beforeEach(async () => {
    person = await image.connect();
  });

  /** Loads a file with this text as a client of the program does, and waits until it is loaded. */
  async function loaded(name: string, text: string): Promise<string> {
    const file = folder.at(name);
    await writeFile(file, text);
    await image.client.eval(`(load (compile-file "${file}"))`);
    return file;
  }

  async function undone(name: string, options?: types.UndoOptions): Promise<types.UndoneDefinition> {
    return person.code.undoDefinition(name, options).result();
  }

  async function changed(): Promise<readonly string[]> {
    const changes = await person.code.listChanges();
    return changes.status === "found" ? changes.changes.map(({ name }) => name) : [];
  }

  it("evaluates the form of the file again, which another client has replaced, and the file's form has its place again", async () => {
    const file = await loaded("undo-a.lisp", "(defun undo-a (x)\n  (list :file x))\n(defvar *undo-a* 1)\n");
    await image.client.eval("(defun undo-a (x) (list :agent x))");
    expect(await changed()).to.include("UNDO-A");
    const result = await undone("undo-a", { kind: "function" });
    expect(result).to.have.property("status", "loaded");
    expect(result).to.have.nested.property("forms[0].name", "UNDO-A");
    expect(await image.client.eval("(undo-a 1)")).to.deep.equal(["(:FILE 1)"]);
    expect(await changed()).not.to.include("UNDO-A");
    const shown = await person.code.showSource("undo-a");
    expect(shown).to.have.nested.property("definitions[0].file").that.includes("undo-a.lisp");
    expect(await undone("undo-a")).to.deep.equal({ status: "refused", reason: "unchanged" });
    expect(await readFile(file, "utf8")).to.include(":file x");
  });

  it("removes what no file has: functions, macros, variables and methods", async () => {
    await loaded("undo-b.lisp", "(defgeneric undo-b (x))\n(defmethod undo-b ((x t)) :file)\n");
    await image.client.eval(`(defun undo-f () 1)
      (defmacro undo-m () 2)
      (defvar *undo-v* 3)
      (defmethod undo-b ((x integer)) :agent)`);
    expect(await undone("undo-f")).to.deep.equal({ status: "removed", kind: "function", name: "UNDO-F" });
    expect(await undone("undo-m")).to.deep.equal({ status: "removed", kind: "macro", name: "UNDO-M" });
    expect(await undone("*undo-v*")).to.deep.equal({ status: "removed", kind: "variable", name: "*UNDO-V*" });
    const method = "(METHOD UNDO-B (INTEGER))";
    expect(await undone(method, { kind: "method" })).to.deep.equal({ status: "removed", kind: "method", name: method });
    const left = "(list (fboundp 'undo-f) (fboundp 'undo-m) (boundp '*undo-v*) (undo-b 1))";
    expect(await image.client.eval(left)).to.deep.equal(["(NIL NIL NIL :FILE)"]);
    expect(await undone("undo-f")).to.deep.equal({ status: "refused", reason: "undefined" });
  });

  it("refuses what it cannot undo, and says why", async () => {
    await loaded("undo-c.lisp", "(defstruct undo-s a)\n(defmethod undo-g ((x t)) x)\n");
    await image.client.eval("(defclass undo-c () ())");
    await image.client.eval("(progn (defun undo-two () 1) (defvar undo-two 2))");
    expect(await undone("undo-c")).to.deep.equal({ status: "refused", reason: "kind" });
    expect(await undone("undo-two")).to.deep.equal({ status: "refused", reason: "ambiguous" });
    expect(await undone("undo-two", { kind: "variable" })).to.include({ status: "removed" });
    expect(await undone("undo-no-such-name")).to.deep.equal({ status: "refused", reason: "undefined" });
    await image.client.eval('(defgeneric undo-g (x) (:documentation "of an agent"))');
    expect(await undone("undo-g", { kind: "generic-function" })).to.deep.equal({
      status: "refused",
      reason: "extended",
    });
    await image.client.eval("(defstruct undo-s (a nil) )");
    const structure = await undone("undo-s", { kind: "structure" });
    expect(structure).to.have.property("status", "incomplete");
    expect(structure).to.have.nested.property("forms[0].outcome", "structure");
  });

  it("leaves to saveChanges the other way: who did not evaluate a definition can save it", async () => {
    const file = await loaded("undo-d.lisp", "(defun undo-d (x)\n  (list :file x))\n");
    await image.client.eval("(defun undo-d (x) (list :agent x))");
    const saves = await person.code.saveChanges({ name: "undo-d", dryRun: false });
    expect(saves).to.have.nested.property("saves[0].outcome", "saved");
    expect(await readFile(file, "utf8")).to.equal("(defun undo-d (x) (list :agent x))\n");
  });
});
