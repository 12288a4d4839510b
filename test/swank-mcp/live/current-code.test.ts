import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { attachedTo, liveEditor, liveServer, liveSwank } from "../../support/live-server.js";
import { loadingSuite, loadText } from "../../support/loadable-systems.js";

/** A time at which no file was compiled: files that are copied with their dates, or unpacked, have such. */
const EARLIER = new Date(Date.now() - 3_600_000);

describe("code whose text is not the one that was loaded", () => {
  const suite = loadingSuite();

  /** Writes a file, by default with a date before its last compilation. */
  async function write(name: string, text: string, time: Date | undefined = EARLIER): Promise<void> {
    await suite.systems.write(name, text);
    if (time !== undefined) await utimes(join(suite.systems.folder, name), time, time);
  }

  const load = async (args: Record<string, unknown>, to = suite.server) => loadText(await to.call("load-system", args));
  const value = async (code: string, of = suite.server) => (await of.evaluate(code)).join("\n");

  /** Writes a file with the date that it has, as an edit in the second of its last compilation does. */
  async function writeInTheSameSecond(name: string, text: string): Promise<void> {
    const [date = ""] = await suite.server.evaluate(
      `(file-write-date ${JSON.stringify(join(suite.systems.folder, name))})`,
    );
    const time = new Date((Number(date.replace("=> ", "")) - 2_208_988_800) * 1000);
    await writeFile(join(suite.systems.folder, name), text);
    await utimes(join(suite.systems.folder, name), time, time);
  }

  it("is compiled by load-system, with what uses it, whatever the date of the file", async () => {
    await write("pair.asd", `(defsystem "pair" :serial t :components ((:file "rule") (:file "user")))`);
    await write("rule.lisp", "(defmacro rule () 1)\n");
    await write("user.lisp", "(defun user () (rule))\n");
    expect(await load({ system: "pair" })).to.match(/^System pair is loaded: 2 files, compiled now\./);
    expect(await load({ system: "pair" })).to.match(/up to date/);
    await writeInTheSameSecond("rule.lisp", "(defmacro rule () 2)\n");
    expect(await load({ system: "pair" })).to.match(/^System pair is loaded: 2 files, compiled now\./);
    expect(await value("(user)")).to.equal("=> 2");
    await write("rule.lisp", "(defmacro rule () 3)\n", new Date(EARLIER.getTime() - 60_000));
    expect(await load({ system: "pair" })).to.match(/^System pair is loaded: 2 files, compiled now\./);
    expect(await value("(user)")).to.equal("=> 3");
    await writeInTheSameSecond("user.lisp", "(defun user () (rule)\n");
    expect(await load({ system: "pair" })).to.include("READ-ERROR: the list that begins here never ends");
    await suite.server.call("debugger_invoke_restart", { restart: "ABORT" });
    await writeInTheSameSecond("user.lisp", "(defun user () (list (rule)))\n");
    expect(await load({ system: "pair" })).to.match(/^System pair is loaded: 1 file, compiled now\./);
    expect(await load({ system: "pair" })).to.match(/up to date/);
    expect(await value("(user)")).to.equal("=> (3)");
  });

  it("is compiled by load-system if another process compiled an earlier text", async () => {
    await write("lone.asd", `(defsystem "lone" :components ((:file "lone")))`);
    await write("lone.lisp", "(defun lone () 1)\n", new Date(EARLIER.getTime() + 60_000));
    await load({ system: "lone" });
    await write("lone.lisp", "(defun lone () 2)\n");
    // a file that changed in the second in which it was compiled is not known to have the compiled text
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const other = await suite.systems.start();
    expect(await load({ system: "lone" }, other)).to.equal("System lone is loaded: 1 file, compiled now.");
    expect(await value("(lone)", other)).to.equal("=> 2");
    await other.end();
    const third = await suite.systems.start();
    expect(await load({ system: "lone" }, third)).to.equal("System lone is loaded: 1 file, compiled before.");
    await third.end();
  });

  it("is not assumed where source and compiled file were unpacked with their dates", async () => {
    await write("packed.asd", `(defsystem "packed" :components ((:file "packed")))`);
    await write("packed.lisp", "(defun packed () 1)\n");
    await load({ system: "packed" });
    const compiled = JSON.parse(
      (
        await value(`(sb-ext:native-namestring (asdf:apply-output-translations (compile-file-pathname
        ${JSON.stringify(join(suite.systems.folder, "packed.lisp"))})))`)
      ).replace("=> ", ""),
    );
    const later = new Date(EARLIER.getTime() + 60_000);
    await utimes(String(compiled), later, later);
    const other = await suite.systems.start();
    expect(await load({ system: "packed" }, other)).to.equal("System packed is loaded: 1 file, compiled before.");
    await other.end();
  });

  describe("beside another client", () => {
    const lisp = liveSwank({ each: true });
    const editor = liveEditor(lisp);
    const attached = liveServer({ each: true, args: attachedTo(lisp) });

    it("is compiled by load-system if an editor has loaded a newer text since, and the file has the earlier one again", async () => {
      await write("back.asd", `(defsystem "back" :components ((:file "back")))`);
      await write("back.lisp", "(defun cl-user::back () 1)\n");
      const args = { file: join(suite.systems.folder, "back.asd") };
      await load(args, attached);
      await write("back.lisp", "(defun cl-user::back () 22)\n", new Date(Date.now() + 5_000));
      await editor.type(
        `(let ((file ${JSON.stringify(join(suite.systems.folder, "back.lisp"))})) (swank:compile-file-for-emacs file t) (load (compile-file-pathname file)))`,
      );
      expect(await value("(cl-user::back)", attached)).to.equal("=> 22");
      await write("back.lisp", "(defun cl-user::back () 1)\n");
      expect(await load(args, attached)).to.match(/1 file, compiled now/);
      expect(await value("(cl-user::back)", attached)).to.equal("=> 1");
    });

    it("is compiled by load-system, and not called unchanged, if another client loaded an earlier text before", async () => {
      await write("seen.asd", `(defsystem "seen" :components ((:file "seen")))`);
      await write("seen.lisp", "(defun cl-user::seen () 1)\n");
      const file = JSON.stringify(join(suite.systems.folder, "seen.lisp"));
      await editor.type(
        `(progn (require :asdf) (asdf:load-asd ${JSON.stringify(join(suite.systems.folder, "seen.asd"))}) (asdf:load-system "seen"))`,
      );
      await writeInTheSameSecond("seen.lisp", "(defun cl-user::seen () 2)\n");
      const listed = async () =>
        loadText(await attached.call("list-changes", { file: join(suite.systems.folder, "seen.lisp") }));
      expect(await value(`(with-open-file (in ${file}) (read-line in))`, attached)).to.contain("2");
      expect(await listed()).to.not.match(/agree/);
      expect(loadText(await attached.call("list-changes", {}))).to.match(
        /^Image and other files agree\.\n\nNot compared, .*seen\.lisp/,
      );
      expect(await load({ system: "seen" }, attached)).to.match(/1 file, compiled now/);
      expect(await value("(cl-user::seen)", attached)).to.equal("=> 2");
      expect(await listed()).to.equal("Image and files agree.");
    });
  });

  it("is compiled by run-tests, so that no test passes that the file breaks", async () => {
    await write(
      "proved.asd",
      `(defsystem "proved" :depends-on ("sb-rt") :components ((:file "proved")) :perform (test-op (o c) (symbol-call :sb-rt :do-tests)))`,
    );
    const text = "(defun proved () 1)\n(sb-rt:deftest proved-1 (proved) 1)\n";
    await write("proved.lisp", text);
    expect(loadText(await suite.server.call("run-tests", { name: "proved" }))).to.match(/1 passed/);
    await writeInTheSameSecond("proved.lisp", text.replace("() 1)", "() 2)"));
    expect(loadText(await suite.server.call("run-tests", { name: "proved" }))).to.match(/1 failed/);
  });

  it("is found in the definition of a system, too", async () => {
    await write("grown.asd", `(defsystem "grown" :components ((:file "first")))`);
    await write("first.lisp", "(defun first-part () 1)\n");
    await write("second.lisp", "(defun second-part () 2)\n");
    await load({ system: "grown" });
    await writeInTheSameSecond("grown.asd", `(defsystem "grown" :components ((:file "first") (:file "second")))`);
    await load({ system: "grown" });
    expect(await value("(second-part)")).to.equal("=> 2");
  });

  it("is compiled by force in the systems that are inferred from packages, too", async () => {
    await write(
      "inferred/inferred.asd",
      `(defsystem "inferred" :class :package-inferred-system :depends-on ("inferred/src/main"))`,
    );
    await write("inferred/src/main.lisp", "(defpackage :inferred/src/main (:use :cl :inferred/src/base))\n");
    await write("inferred/src/base.lisp", "(defpackage :inferred/src/base (:use :cl))\n");
    expect(await load({ file: "inferred/inferred.asd" })).to.match(
      /^System inferred is loaded: 2 files, compiled now\./,
    );
    expect(await load({ system: "inferred", force: true })).to.match(
      /^System inferred is loaded: 2 files, compiled now\./,
    );
  });

  it("is not called loaded after its load has failed, whatever its first form is", async () => {
    const forms = [
      "(in-package :cl-user)",
      "(defpackage :half (:use :cl))",
      "(defmacro half () 1)",
      "(defun half-1 () 1)",
    ];
    for (const [number, form] of forms.entries()) {
      const name = `half-${number}.lisp`;
      await write(name, `${form}\n(error "not to the end")\n(defun cl-user::rest-${number} () 1)\n`);
      for (const code of [undefined, `(ignore-errors (load ${JSON.stringify(join(suite.systems.folder, name))}))`]) {
        if (code === undefined) await suite.server.call("load-system", { file: name });
        else await suite.server.evaluate(code);
        expect(loadText(await suite.server.call("list-changes", {})), form).to.match(
          new RegExp(`\\n\\nNot loaded to its end,[^\\n]*: .*${name}`),
        );
        expect(loadText(await suite.server.call("load-changes", { file: name })), form).to.match(
          /^Not loaded to its end/,
        );
        if (code === undefined) await suite.server.call("debugger_invoke_restart", { restart: "ABORT" });
      }
      await write(name, `${form}\n(defun cl-user::rest-${number} () 1)\n`);
      await load({ file: name });
      expect(loadText(await suite.server.call("list-changes", { file: name })), form).to.equal(
        "Image and files agree.",
      );
    }
  });

  it("of a single file is compiled into the cache and loaded under the file's name", async () => {
    await write("beside.lisp", "(defvar *beside* 5)\n");
    await write(
      "around.lisp",
      `(load (merge-pathnames "beside.lisp" *load-truename*))
(defvar *places* (list *load-pathname* *load-truename* #.*compile-file-truename* *package* *readtable*))
(defun around () *load-truename*)
`,
    );
    expect(await load({ file: "around.lisp" })).to.match(/^around\.lisp is loaded: 1 file, compiled now\./);
    const file = join(suite.systems.folder, "around.lisp");
    expect(await value(`(list *beside* (mapcar #'namestring (subseq *places* 0 3)) *load-truename*)`)).to.equal(
      `=> (5 ("${file}" "${file}" "${file}") NIL)`,
    );
    expect(loadText(await suite.server.call("show-source", { name: "around" }))).to.include("around.lisp:3:1");
    expect(loadText(await suite.server.call("list-changes", { file: "around.lisp" }))).to.equal(
      "Image and files agree.",
    );
    expect(loadText(await suite.server.call("list-definitions", {}))).to.include("around.lisp");
  });

  it("of a file whose first line begins with #! is read without that line", async () => {
    const text = "#!/usr/bin/env -S sbcl --script (\n(defun script () 1)\n(defun script-2 () 2)\n";
    await write("script.lisp", text);
    expect(await load({ file: "script.lisp" })).to.equal("script.lisp is loaded: 1 file, compiled now.");
    await write("script.lisp", text.replace("() 1)", "() 11)"));
    expect(loadText(await suite.server.call("list-changes", { file: "script.lisp", text: false }))).to.equal(
      "Changed in the file since it was loaded:\nfunction SCRIPT script.lisp:2:1",
    );
    expect(loadText(await suite.server.call("load-changes", { file: "script.lisp" }))).to.equal(
      "Loaded:\nfunction SCRIPT script.lisp:2:1",
    );
    expect(await value("(script)")).to.equal("=> 11");
    expect(loadText(await suite.server.call("compile-code", { file: "script.lisp", load: true }))).to.equal(
      "script.lisp compiles. It is loaded.",
    );
  });

  it("that compiles only with a warning is loaded by the restart LOAD-ANYWAY", async () => {
    await write("warned.asd", `(defsystem "warned" :components ((:file "warned")))`);
    await write("warned.lisp", "(defun warned () (+ 1 :a))\n");
    for (const args of [{ system: "warned" }, { file: "warned.lisp" }]) {
      const stopped = await load(args);
      expect(stopped).to.include("\nCompiled with warnings, which ASDF takes for a failure: warned.lisp\n");
      expect(stopped).to.include(
        "1. LOAD-ANYWAY - Compile warned.lisp again, and load it despite its warnings and errors.",
      );
      await suite.server.evaluate("(fmakunbound 'warned)");
      expect(loadText(await suite.server.call("debugger_invoke_restart", { restart: "LOAD-ANYWAY" }))).to.match(
        /is loaded: 1 file, compiled now\.\nThe compiler: 1 warning/,
      );
      expect(await value("(fboundp 'warned)")).to.match(/FUNCTION WARNED/);
      // ASDF compiles the file again, because its compiled file is as old as the text.
      await write("warned.lisp", `(defun warned () (+ 2 :a)) ; ${JSON.stringify(args)}\n`);
    }
    await write("warned.lisp", "(defun warned () (+ 1 :a)\n");
    expect(await load({ file: "warned.lisp" })).to.not.include("LOAD-ANYWAY");
    await suite.server.call("debugger_invoke_restart", { restart: "ABORT" });
    expect(loadText(await suite.server.call("run-tests", { name: "warned" }))).to.match(
      /^The run ended with UIOP\/LISP-BUILD:COMPILE-FILE-ERROR:\n.*\nload-system shows what the compiler found/m,
    );
  });
});
