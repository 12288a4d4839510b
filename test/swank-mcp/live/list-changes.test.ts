import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { decode } from "sexp-parser";
import { connect, lispFunction } from "swank-client";
import { blocks, markedText } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { startRealSwank } from "../../support/real-swank.js";
import { Snapshots } from "../../support/snapshots.js";

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

/** Evaluates as another client's editor does, without the runtime. */
const typed = lispFunction({
  name: "swank:eval-and-grab-output",
  encode: (form: string) => [form],
  decode: decode.any,
});

describe("list-changes", () => {
  const snapshots = new Snapshots(import.meta.url);
  let server: McpStdio;
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "list changes "));
    file = join(folder, "stock.lisp");
    server = await McpStdio.start();
    await writeSource(SOURCE, EARLIER);
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  async function writeSource(text: string, time = new Date()): Promise<void> {
    await writeFile(file, text);
    await utimes(file, time, time);
  }

  const load = async () => void (await server.evaluate(`(load ${JSON.stringify(file)})`));

  /** The whole answer, marked if it is an error, with the folder's name replaced. */
  async function changes(args: object = {}): Promise<string> {
    const result = await server.call("list-changes", args);
    return markedText(result).replaceAll(folder, "FOLDER");
  }

  it("says that image and files agree, whatever was loaded", async () => {
    expect(await changes()).to.equal("Image and files agree.");
    await load();
    expect(await changes()).to.equal("Image and files agree.");
    await server.evaluate(`(load (compile-file ${JSON.stringify(file)}))`);
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
    snapshots.match("evaluated", await changes());
    snapshots.match("evaluated without text", await changes({ text: false }));
    snapshots.match("evaluated in one file", await changes({ file, text: false }));
  });

  it("counts what compile-code loads as evaluated in this session", async () => {
    await load();
    await server.evaluate("(in-package :stock)");
    const compiled = await server.call("compile-code", {
      code: "(list 1)\n(defun amount (crate)\n  (* 5 (weight crate)))\n(defmethod store ((thing crate) &key)\n  :compiled)\n(defun fresh () 1)",
      load: true,
    });
    expect(blocks(compiled)[0]).to.match(/It is loaded\.$/);
    snapshots.match("compiled", await changes());
    const definitions = blocks(await server.call("list-definitions", {})).join("\n");
    snapshots.match("definitions compiled", definitions.replaceAll(folder, "FOLDER"));
    await server.evaluate("(sb-ext:gc :full t)");
    snapshots.match("compiled", await changes());
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
    snapshots.match("file", await changes());
    await load();
    snapshots.match("file loaded again", await changes());
  });

  it("compares files by dates and lengths if another client loaded them, and finds what was typed and compiled elsewhere", async () => {
    const lisp = await startRealSwank();
    const other = await connect({ port: lisp.port });
    const attached = await McpStdio.start(["--attach", String(lisp.port)]);
    const type = (form: string) => other.run(typed, form);
    await type(`(load (compile-file ${JSON.stringify(file)}))`);
    await type("(defun cl-user::typed (x) (list x))");
    await other.evaluate("(defun cl-user::theirs () 1)").next();
    const listed = async () => {
      const result = await attached.call("list-changes", {});
      return markedText(result).replaceAll(folder, "FOLDER");
    };
    await writeSource(
      SOURCE.replace("(* 2 ", "(* 20 ").replace("(defun unused () :unused)\n", "").concat("(defun added ())"),
    );
    snapshots.match("other clients", await listed());
    await attached.end();
    await other.close();
    await lisp.stop();
  });

  it("finds what another client's file has changed form by form if it was listed before", async () => {
    const lisp = await startRealSwank();
    const other = await connect({ port: lisp.port });
    const attached = await McpStdio.start(["--attach", String(lisp.port)]);
    // a file that changed in the second in which it was compiled is not known to have the compiled text
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await other.run(typed, `(load (compile-file ${JSON.stringify(file)}))`);
    const listed = async () =>
      blocks(await attached.call("list-changes", {}))
        .join("\n")
        .replaceAll(folder, "FOLDER");
    expect(await listed()).to.equal("Image and files agree.");
    await writeSource(SOURCE.replace("(* 2 ", "(* 4 "));
    snapshots.match("listed before", await listed());
    await attached.end();
    await other.close();
    await lisp.stop();
  });

  it("finds the file of what was evaluated, also in another package, and again after another client has compiled it", async () => {
    const lisp = await startRealSwank();
    const other = await connect({ port: lisp.port });
    const attached = await McpStdio.start(["--attach", String(lisp.port)]);
    const elsewhere = join(folder, "elsewhere.lisp");
    await writeFile(elsewhere, "(in-package :cl-user)\n(defun stock::part (x) x)\n");
    await utimes(elsewhere, EARLIER, EARLIER);
    const loadBoth = [file, elsewhere].map((name) => `(load (compile-file ${JSON.stringify(name)}))`).join(" ");
    await other.run(typed, `(progn ${loadBoth})`);
    const listed = async () =>
      blocks(await attached.call("list-changes", {}))
        .join("\n")
        .replaceAll(folder, "FOLDER");
    await attached.evaluate("(in-package :stock) (defun part (x) (list x)) (defun kept () 2)");
    await other.run(typed, "(sb-ext:gc :full t)");
    const evaluated = await listed();
    const compile = (code: string) =>
      other.run(
        typed,
        `(let ((*package* (find-package :stock)))
           (swank/backend:swank-compile-string ${JSON.stringify(code)} :buffer "scratch" :position 1 :filename nil :policy nil))`,
      );
    await compile("(defun part (x) (vector x))");
    await compile("(defun kept () 3)");
    const compiled = await listed();
    await other.run(typed, `(progn ${loadBoth})`);
    snapshots.match("evaluated, compiled, loaded", [evaluated, compiled, await listed()].join("\n==\n"));
    await attached.end();
    await other.close();
    await lisp.stop();
  });

  it("reports what this session has removed from the image", async () => {
    await load();
    await server.evaluate(`(in-package :stock) (fmakunbound 'amount) (unintern 'kept) (mapc #'makunbound '(*limit*))
(remove-method #'store (find-method #'store '() (list (find-class 'crate)))) (setf (find-class 'bin) nil)`);
    snapshots.match("removed", await changes());
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
      "Only in the image, in no file:\nvariable *KEPT*\nvariable *UNSET*",
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
    snapshots.match("methods for objects", await changes());
  });

  it("finds symbol macros, setf expanders, and the forms around definitions", async () => {
    await writeSource(
      `${SOURCE}(define-symbol-macro size 1)\n(defsetf kept (x) (y) \`(list ,x ,y))\n(let ((n 0)) (defun next () (incf n)))\n`,
      EARLIER,
    );
    await load();
    await server.evaluate(`(in-package :stock) (define-symbol-macro size 2)
(defsetf kept (x) (y) \`(vector ,x ,y)) (let ((n 9)) (defun next () (incf n))) (defmacro unused () :unused)`);
    snapshots.match("other kinds", await changes());
  });

  it("does not take a file for changed that was last written before the image started, even if its code is gone", async () => {
    await writeFile(file, "(defpackage :stock (:use :cl))\n(in-package :stock)\n(defvar *limit* 10)\n");
    // an image is taken for up to three seconds older than it is
    await new Promise((resolve) => setTimeout(resolve, 3100));
    const launched = await McpStdio.start();
    const [port] = await launched.evaluate("(swank:create-server :port 0 :style :spawn :dont-close t)");
    const other = await connect({ port: Number(port?.replace("=> ", "")) });
    await other.run(typed, `(load ${JSON.stringify(file)})`);
    await other.run(typed, "(sb-ext:gc :full t)");
    expect(blocks(await launched.call("list-changes", {})).join("\n")).to.equal("Image and files agree.");
    await other.close();
    await launched.end();
  });

  it("takes a file neither for changed nor for unchanged that got an old date after the core of the image was saved", async () => {
    const old = new Date("2001-01-01");
    await writeFile(file, "(defpackage :stock (:use :cl))\n(in-package :stock)\n(defvar *limit* 10)\n");
    await utimes(file, old, old);
    const lisp = await startRealSwank();
    const other = await connect({ port: lisp.port });
    const attached = await McpStdio.start(["--attach", String(lisp.port)]);
    await other.run(typed, `(load ${JSON.stringify(file)})`);
    await other.run(typed, "(sb-ext:gc :full t)");
    expect(blocks(await attached.call("list-changes", {})).join("\n")).to.match(
      /^Image and other files agree\.\n\nNot compared, .*stock\.lisp$/,
    );
    await attached.end();
    await other.close();
    await lisp.stop();
  });

  it("names similar files for one that is not there, and refuses bad arguments", async () => {
    expect(await changes({ file: join(folder, "stok.lisp") })).to.equal(
      "ERROR The image has no file FOLDER/stok.lisp\n--\nSimilar files: FOLDER/stock.lisp\nGive the path of a file that exists, absolute or relative to the image's directory.",
    );
    expect(await changes({ file: folder })).to.equal(
      "ERROR FOLDER is a folder, not a file.\n--\nGive the path of a file that exists, absolute or relative to the image's directory.",
    );
    for (const args of [{ file: "" }, { file: 1 }, { text: "yes" }, { name: "x" }]) {
      expect((await server.call("list-changes", args)).isError, JSON.stringify(args)).to.equal(true);
    }
  });

  snapshots.testCompleteness();
});
