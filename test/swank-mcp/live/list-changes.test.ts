import { readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import { connect } from "swank-client";
import { expectFacts } from "../../support/facts.js";
import { attachedTo, liveEditor, liveFolder, liveServer, liveSwank } from "../../support/live-server.js";
import { blocks, markedText } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

const SOURCE = `;;; Stock. Größe 𝄞 (
(defpackage :stock (:use :cl))
(in-package :stock)

(defvar *limit* 10)
(defstruct (bin (:conc-name b-)) size)
(defclass crate () ((weight :initarg :weight :accessor weight)))

;; How much there is.
(defun amount (crate)
  (* 2 (weight crate)))

(defgeneric store (thing &key))
(defmethod store ((thing crate) &key)
  (list :crate thing))
(defmethod store ((thing (eql :none)) &key) nil)
(defmethod print-object ((crate crate) stream)
  (format stream "#<crate>"))

(defun unused () :unused)
(defun kept () :kept)
`;

/** A time before now, since SBCL compares files by the second in which they were written. */
const EARLIER = new Date(Date.now() - 60_000);

const UNCOMPARED =
  "Evaluated, and in no file with this text; save-changes does not know it. Write it into a file, or it is lost with the image";

describe("list-changes", () => {
  const folder = liveFolder("list changes", { each: true });
  const file = join(folder, "stock.lisp");
  const server = liveServer({ each: true });
  beforeEach(() => writeSource(SOURCE, EARLIER));

  async function writeSource(text: string, time = new Date()): Promise<void> {
    await writeFile(file, text);
    await utimes(file, time, time);
  }

  const load = async () => void (await server.evaluate(`(load ${JSON.stringify(file)})`));

  const changes = async (args: object = {}, of = server) =>
    markedText(await of.call("list-changes", args)).replaceAll(folder, "FOLDER");

  it("says that image and files agree, whatever was loaded", async () => {
    expect(await changes()).to.equal("Image and files agree.");
    await load();
    expect(await changes()).to.equal("Image and files agree.");
    await server.evaluate(`(load (compile-file ${JSON.stringify(file)}))`);
    expect(await changes()).to.equal("Image and files agree.");
    // What a name of a constant stands for is not known from its text.
    await writeSource(`${SOURCE}(defconstant +few+ 2)\n(defmethod store ((thing (eql +few+)) &key) :few)\n`, EARLIER);
    await load();
    expect(await changes()).to.equal("Image and files agree.");
    await server.evaluate("(in-package :stock) (defun kept () :kept) (asdf:load-system :alexandria)");
    expect(await changes()).to.equal("Image and files agree.");
  });

  it("does not say that a file agrees which is not loaded, or cannot be read", async () => {
    const not =
      "Not loaded, as far as Lisp has recorded (load-system loads a system or file, compile-code with load a file): FOLDER/stock.lisp";
    expect(await changes({ file })).to.equal(not);
    await load();
    expect(await changes({ file })).to.equal("Image and files agree.");
    await writeSource(`${SOURCE}(defun open-one (`);
    const unreadable = "Not compared, because not all forms can be read: FOLDER/stock.lisp";
    expect(await changes({ file })).to.equal(unreadable);
    expect(await changes()).to.equal(`Image and other files agree.\n\n${unreadable}`);
  });

  it("names the files that a failed load-system has not loaded", async () => {
    const part = (name: string, text: string) => writeFile(join(folder, name), text);
    await part(
      "parts.asd",
      `(defsystem "parts" :serial t :components ((:file "sound") (:file "wrong") (:file "unborn")))`,
    );
    await part("sound.lisp", "(defun sound () 1)\n");
    await part("wrong.lisp", "(defun wrong () (if))\n");
    await part("unborn.lisp", "(defun unborn () 1)\n");
    await server.call("load-system", { file: join(folder, "parts.asd") });
    expect(await changes()).to.equal(
      "Image and other files agree.\n\nNot loaded to its end, because loading failed or still runs (load-system loads it whole): FOLDER/wrong.lisp\n\nNot loaded, as far as Lisp has recorded (load-system loads a system or file, compile-code with load a file): FOLDER/unborn.lisp",
    );
    await part("wrong.lisp", "(defun wrong () (list))\n");
    await server.call("debugger_invoke_restart", { restart: "RETRY" });
    expect(await changes()).to.equal("Image and files agree.");
  });

  it("shows what evaluations have defined: without a file, and other than the file", async () => {
    await load();
    await server.evaluate(`(in-package :stock)
(defun amount (crate)
  ;; thrice
  (* 3 (weight crate)))
(defmethod store ((thing crate) &key) (list :evaluated thing))
(defmethod print-object ((crate crate) stream) (format stream "#<evaluated>"))
(progn (defun fresh () 1) (defvar *fresh* 2))
(defclass evaluated () ((part :accessor part)))
(defmethod store ((thing evaluated) &key) thing)
(setf *limit* 11 *fresh* 3) (let ((*limit* 3)) (setf *limit* 12))`);
    expectFacts(
      await changes(),
      "Only in the image, in no file:\n(METHOD STORE (EVALUATED))\n…variable *FRESH*\n…class EVALUATED\n…function FRESH\n",
      "Evaluated, and different from the file:\nfunction AMOUNT FOLDER/stock.lisp:10:1\n    (defun amount (crate)\n  -   (* 2 (weight crate)))\n  +   ;; thrice\n  +   (* 3 (weight crate)))\n",
      "(METHOD STORE (CRATE)) FOLDER/stock.lisp:14:1…(METHOD PRINT-OBJECT (CRATE T)) FOLDER/stock.lisp:17:1",
      "Variables set in this session; no file has these assignments:\n*LIMIT* = 11 (defined in FOLDER/stock.lisp)\n*FRESH* = 3 (no file defines it)",
    );
    expectFacts(
      await changes({ text: false }),
      "Only in the image, in no file:\n(METHOD STORE (EVALUATED))\nvariable *FRESH*\nclass EVALUATED\nfunction FRESH\n\nEvaluated, and different from the file:\nfunction AMOUNT FOLDER/stock.lisp:10:1\n(METHOD STORE",
    );
    expect(await changes({ file, text: false })).to.match(/^Evaluated, and different[\s\S]*FOLDER\/stock\.lisp:17:1$/);
  });

  it("counts what compile-code loads as evaluated in this session", async () => {
    await load();
    await server.evaluate("(in-package :stock)");
    const compiled = await server.call("compile-code", {
      code: "(list 1)\n(defun amount (crate)\n  (* 5 (weight crate)))\n(defmethod store ((thing crate) &key)\n  :compiled)\n(defun fresh () 1)",
      load: true,
    });
    expect(blocks(compiled)[0]).to.match(/It is loaded\.$/);
    expectFacts(
      await changes(),
      "Only in the image, in no file:\nfunction FRESH\n",
      "function AMOUNT FOLDER/stock.lisp:10:1…  +   (* 5 (weight crate)))\n",
      "(METHOD STORE (CRATE)) FOLDER/stock.lisp:14:1…  +   :compiled)",
    );
    const definitions = blocks(await server.call("list-definitions", {})).join("\n");
    expectFacts(
      definitions.replaceAll(folder, "FOLDER"),
      "[functions]\nSTOCK::AMOUNT (redefined)\nSTOCK::FRESH\n\n[methods]\nSTOCK::STORE (STOCK::CRATE) (redefined)\n\n[files]\nFOLDER/stock.lisp",
    );
    await server.evaluate("(sb-ext:gc :full t)");
    expectFacts(
      await changes(),
      "Only in the image, in no file:\nfunction FRESH\n",
      "function AMOUNT FOLDER/stock.lisp:10:1…  +   (* 5 (weight crate)))\n",
      "(METHOD STORE (CRATE)) FOLDER/stock.lisp:14:1…  +   :compiled)",
    );
  });

  it("finds the forms of a file that changed, are new, or were deleted since it was loaded, even of equal length", async () => {
    await load();
    await writeSource(
      SOURCE.replace("(* 2 ", "(* 4 ")
        .replace("(defun unused () :unused)\n", "")
        .replace("(list :crate thing)", "(list :heavy :crate thing)")
        .concat("(defun added () 1)\n(print :loaded)\n;; the end\n"),
      EARLIER,
    );
    expectFacts(
      await changes(),
      "Changed in the file since it was loaded:\nfunction STOCK::AMOUNT FOLDER/stock.lisp:10:1…  +   (* 4 (weight crate)))…(METHOD STOCK::STORE (STOCK::CRATE))",
      "New in the file since it was loaded:\nfunction added FOLDER/stock.lisp:21:1\nform (print :loaded) FOLDER/stock.lisp:22:1\n",
      "Deleted from the file, but still in the image:\nfunction STOCK::UNUSED FOLDER/stock.lisp",
    );
    await load();
    expect(await changes()).to.equal("Image and files agree.");
  });

  it("reports what this session has removed from the image", async () => {
    await load();
    await server.evaluate(`(in-package :stock) (fmakunbound 'amount) (unintern 'kept) (mapc #'makunbound '(*limit*))
(remove-method #'store (find-method #'store '() (list (find-class 'crate)))) (setf (find-class 'bin) nil)`);
    expectFacts(
      await changes(),
      "Defined by the file when it was loaded, but not in the image now. Evaluate it again, or delete it from the file:\nvariable *LIMIT* FOLDER/stock.lisp:5:1\nstructure bin FOLDER/stock.lisp:6:1\nfunction amount …(METHOD store (crate)) …function kept ",
    );
    await load();
    expect(await changes()).to.equal("Image and files agree.");
  });

  it("does not take definitions for removed that evaluated forms only name", async () => {
    await writeSource(`${SOURCE}(defun template () '(defclass size () ()))\n`, EARLIER);
    await load();
    await server.evaluate(`(in-package :stock) (find-class 'size nil) (list '(unintern kept) (find-class 'crate) "AMOUNT")
(defun look () (find-class 'bin)) (fmakunbound 'no-such-function)`);
    expect(await changes({ text: false })).to.equal("Only in the image, in no file:\nfunction LOOK");
  });

  it("does not count inner forms as definitions of the file, nor what a file removes itself", async () => {
    await writeSource(
      `${SOURCE}(defun make () (setf (symbol-value 'made) 1) (defun inner () 2) (defparameter *inner* 3))
(defstruct (pair (:type list)) left)
`,
      EARLIER,
    );
    await load();
    await server.evaluate("(in-package :stock) (find-class 'pair nil) (fmakunbound 'inner)");
    expect(await changes()).to.equal("Image and files agree.");
    await writeSource(`${SOURCE}(fmakunbound 'unused)\n`.replaceAll("\\n", "\n"), EARLIER);
    await load();
    expect(await changes()).to.equal("Image and files agree.");
  });

  it("lists no variable that is unbound again, and no class that a function has made", async () => {
    await server.evaluate(`(defpackage :factory (:use :cl)) (in-package :factory)
(defvar *gone* 1) (makunbound '*gone*) (defvar *unset*) (setf *unset* 2) (makunbound '*unset*)
(defvar *kept* 1)`);
    await server.evaluate(`(load (let ((file ${JSON.stringify(join(folder, "factory.lisp"))}))
  (with-open-file (out file :direction :output)
    (print '(in-package :factory) out)
    (print '(defun produce (name) (eval (list 'defclass (intern name :factory) '() '()))) out))
  file))`);
    await server.evaluate('(factory::produce "PRODUCT")');
    expect(await changes({ text: false })).to.equal(
      `Only in the image, in no file:\nvariable *KEPT*\nvariable *UNSET*\n\n${UNCOMPARED}:\npackage FACTORY`,
    );
  });

  it("names evaluated packages, methods on names of ASDF, and calls that register something, until a file has them", async () => {
    await writeSource(`${SOURCE}(defvar *checks* '())
(defmacro check (name &body body) \`(push (list ',name (lambda () ,@body)) *checks*))
(defmacro with-check ((name) &body body) (declare (ignore name)) \`(progn ,@body))
(check known (= 1 1))
`);
    await load();
    await server.evaluate(`(in-package :stock) (check known (= 1 1)) (with-check (known) 1)
;; a check
(progn (check unknown (= 1 1)) (check second-one (= 2 2)))
(defmethod asdf:perform ((operation asdf:test-op) (system (eql (asdf:find-system "sb-posix")))) 1)
(defpackage :stock (:use :cl) (:export #:amount))`);
    await server.call("compile-code", { code: "(check compiled 1)", load: true });
    const [packageLine, methodLine] = ["package STOCK FOLDER/stock.lisp:2:1", "(METHOD ASDF/ACTION:PERFORM (ASDF"];
    expectFacts(
      await changes({ text: false }),
      `${UNCOMPARED}:\n${packageLine}\n…${methodLine}`,
      "form (check compiled 1)\nform (check second-one (= 2 2))\nform (check unknown (= 1 1))",
    );
    expect(await changes()).to.include(
      `${packageLine}\n  - (defpackage :stock (:use :cl))\n  + (defpackage :stock (:use :cl) (:export #:amount))\n`,
    );
    const written = (await readFile(file, "utf8"))
      .replace("(:use :cl))", "(:use :cl) (:export #:amount))")
      .concat("(check second-one (= 2 2))\n(check unknown (= 1 2))\n(check compiled 1)\n");
    await writeSource(written);
    expectFacts(await changes({ text: false }), `${UNCOMPARED}:\n${methodLine}`, "\nform (check unknown (= 1 1))");
    // The order of an evaluation and of loading is known in seconds.
    await delay(1100);
    await load();
    expect(await changes({ text: false })).to.match(
      /^Evaluated, and in no file with this text[^\n]*\n\(METHOD ASDF[^\n]*$/,
    );
  });

  it("finds methods on Lisp's functions that are for objects only", async () => {
    await writeSource(
      `${SOURCE}(defmethod describe-object ((thing (eql :crate)) stream) (princ "crate" stream))\n`,
      EARLIER,
    );
    await load();
    expect(await changes()).to.equal("Image and files agree.");
    await server.evaluate(`(in-package :stock)
(defmethod describe-object ((thing (eql :crate)) stream) (princ "CRATE" stream))
(defmethod describe-object ((thing (eql :bin)) stream) (princ "bin" stream))`);
    expectFacts(
      await changes(),
      "Only in the image, in no file:\n(METHOD DESCRIBE-OBJECT ((EQL :BIN) T))\n",
      "Evaluated, and different from the file:\n(METHOD DESCRIBE-OBJECT ((EQL :CRATE) T)) FOLDER/stock.lisp:22:1\n",
    );
  });

  it("finds symbol macros, setf expanders, and the forms around definitions", async () => {
    await writeSource(
      `${SOURCE}(define-symbol-macro size 1)\n(defsetf kept (x) (y) \`(list ,x ,y))\n(let ((n 0)) (defun next () (incf n)))\n`,
      EARLIER,
    );
    await load();
    await server.evaluate(`(in-package :stock) (define-symbol-macro size 2)
(defsetf kept (x) (y) \`(vector ,x ,y)) (let ((n 9)) (defun next () (incf n))) (defmacro unused () :unused)`);
    expectFacts(
      await changes(),
      "macro UNUSED FOLDER/stock.lisp:20:1\n…symbol macro SIZE FOLDER/stock.lisp:22:1\n…setf expander KEPT FOLDER/stock.lisp:23:1\n",
      "function NEXT FOLDER/stock.lisp:24:1\n  - (let ((n 0)) (defun next () (incf n)))\n  + (let ((n 9)) (defun next () (incf n)))",
    );
  });

  it("does not take a file for changed that was last written before the image started, even if its code is gone", async () => {
    await writeFile(file, "(defpackage :stock (:use :cl))\n(in-package :stock)\n(defvar *limit* 10)\n");
    // an image is taken for up to three seconds older than it is
    await new Promise((resolve) => setTimeout(resolve, 3100));
    const launched = await McpStdio.start();
    const [port] = await launched.evaluate("(swank:create-server :port 0 :style :spawn :dont-close t)");
    const other = await connect({ port: Number(port?.replace("=> ", "")), runtime: false, foreignErrors: "theirs" });
    for (const form of [`(load ${JSON.stringify(file)})`, "(sb-ext:gc :full t)"])
      await other.request(read(`(swank:eval-and-grab-output ${JSON.stringify(form)})`), { label: form });
    expect(blocks(await launched.call("list-changes", {})).join("\n")).to.equal("Image and files agree.");
    await other.close();
    await launched.end();
  });

  describe("beside another client", () => {
    const lisp = liveSwank({ each: true });
    const editor = liveEditor(lisp);
    const attached = liveServer({ each: true, args: attachedTo(lisp) });

    it("compares files by dates and lengths if another client loaded them, and finds what was typed and compiled elsewhere", async () => {
      await editor.type(`(load (compile-file ${JSON.stringify(file)}))`);
      await editor.type("(defun cl-user::typed (x) (list x))");
      await editor.client.evaluate("(defun cl-user::theirs () 1)").next();
      await writeSource(
        SOURCE.replace("(* 2 ", "(* 20 ").replace("(defun unused () :unused)\n", "").concat("(defun added ())"),
      );
      expectFacts(
        await changes({}, attached),
        "Only in the image, in no file:\nfunction THEIRS (not from this session)\n…function TYPED (not from this session)\n",
        "Changed in the file since it was loaded, to judge by the lengths of forms:\nfunction STOCK::AMOUNT FOLDER/stock.lisp:10:1\n",
        "Perhaps changed in the file since it was loaded: as long as before, and the loaded text is not recorded:\npackage :STOCK …variable STOCK::*LIMIT* …(METHOD STOCK::STORE (STOCK::CRATE))…function STOCK::KEPT",
        "New in the file since it was loaded, to judge by the lengths of forms:\nfunction added…Deleted from the file…function STOCK::UNUSED",
        "Compared by the lengths of forms only, because the loaded text is not recorded: FOLDER/stock.lisp",
      );
    });

    it("finds what another client's file has changed form by form if it was listed before", async () => {
      // a file that changed in the second in which it was compiled is not known to have the compiled text
      await new Promise((resolve) => setTimeout(resolve, 1100));
      await editor.type(`(load (compile-file ${JSON.stringify(file)}))`);
      expect(await changes({}, attached)).to.equal("Image and files agree.");
      await writeSource(SOURCE.replace("(* 2 ", "(* 4 "));
      expectFacts(
        await changes({}, attached),
        "Changed in the file since it was loaded:\nfunction STOCK::AMOUNT FOLDER/stock.lisp:10:1\n    (defun amount (crate)\n  -   (* 2 (weight crate)))\n  +   (* 4 (weight crate)))",
      );
    });

    it("finds the file of what was evaluated, also in another package, and again after another client has compiled it", async () => {
      const elsewhere = join(folder, "elsewhere.lisp");
      await writeFile(elsewhere, "(in-package :cl-user)\n(defun stock::part (x) x)\n");
      await utimes(elsewhere, EARLIER, EARLIER);
      const loadBoth = [file, elsewhere].map((name) => `(load (compile-file ${JSON.stringify(name)}))`).join(" ");
      await editor.type(`(progn ${loadBoth})`);
      await attached.evaluate("(in-package :stock) (defun part (x) (list x)) (defun kept () 2)");
      await editor.type("(sb-ext:gc :full t)");
      const evaluated = await changes({}, attached);
      const compile = (code: string) =>
        editor.type(`(let ((*package* (find-package :stock)))
             (swank/backend:swank-compile-string ${JSON.stringify(code)} :buffer "scratch" :position 1 :filename nil :policy nil))`);
      await compile("(defun part (x) (vector x))");
      await compile("(defun kept () 3)");
      const compiled = await changes({}, attached);
      await editor.type(`(progn ${loadBoth})`);
      expectFacts(
        [evaluated, compiled, await changes({}, attached)].join("\n==\n"),
        "function PART FOLDER/elsewhere.lisp:2:1\n  - (defun stock::part (x) x)\n  + (defun part (x) (list x))\nfunction KEPT FOLDER/stock.lisp:21:1\n",
        "==…function PART FOLDER/elsewhere.lisp:2:1 (not from this session)\n…  + (defun part (x) (vector x))\nfunction KEPT FOLDER/stock.lisp:21:1 (not from this session)",
        "==\nImage and files agree.",
      );
    });

    it("takes a file neither for changed nor for unchanged that got an old date after the core of the image was saved", async () => {
      const old = new Date("2001-01-01");
      await writeFile(file, "(defpackage :stock (:use :cl))\n(in-package :stock)\n(defvar *limit* 10)\n");
      await utimes(file, old, old);
      await editor.type(`(load ${JSON.stringify(file)})`);
      await editor.type("(sb-ext:gc :full t)");
      expect(await changes({}, attached)).to.match(/^Image and other files agree\.\n\nNot compared, .*stock\.lisp$/);
    });
  });
});
