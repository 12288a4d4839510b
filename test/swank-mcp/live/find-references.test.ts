import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { LOAD_FIVEAM } from "../../support/fiveam.js";
import { markedText } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { Snapshots } from "../../support/snapshots.js";

const MAIL = `;;; Mail. Größe 𝄞
(in-package :mail)

(defvar *limit* 10)
(defconstant +page+ 20)
(defmacro with-limit ((limit) &body body) \`(let ((*limit* ,limit)) ,@body))
(define-symbol-macro the-limit *limit*)
(declaim (inline half))
(defun half (n) (/ n 2))
(defun shorten (text) ; "shorten"
  (subseq text 0 (min *limit* (length text))))
(defun sort-mail (box)
  "Does not call (shorten)."
  (let ((first (shorten (first box)))) ; shorten
    (list first #'shorten
          (mail:shorten (second box)))))
(defun set-limit (n)
  (setf *limit* (half n)))
(defun (setf limit) (n) (set-limit n))
(defun reset-limit () (setf (limit) +page+))
(defmacro shortened (text) (shorten text))

(defclass message () ((text :initarg :text :reader message-text)))
(defclass letter (message) ((stamp :accessor stamp)))
(defclass urgent-letter (letter) ())
(defgeneric show (message stream))
(defmethod show ((message message) stream)
  (with-limit (5)
    (write-string (shorten (message-text message)) stream)))
(defmethod show :around ((message letter) stream)
  (call-next-method))
(defmethod print-object ((message message) stream)
  (show message stream))
(defvar *shortener* (lambda (text) (shorten text)))
(deftype text () 'string)
(locally (declare (optimize (space 3)))
  (defun unrecorded (text) (shorten text)))
`;

/** A time before now, since files are compared by the second in which they were written. */
const EARLIER = new Date(Date.now() - 60_000);

describe("find-references", () => {
  const snapshots = new Snapshots(import.meta.url);
  let server: McpStdio;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "references "));
    server = await McpStdio.start();
    await server.evaluate("(defpackage :mail (:use :cl) (:export #:shorten))");
    await load("mail.lisp", MAIL);
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  async function write(name: string, text: string): Promise<string> {
    const file = join(folder, name);
    await writeFile(file, text);
    await utimes(file, EARLIER, EARLIER);
    return file;
  }

  async function load(name: string, text: string): Promise<void> {
    const file = await write(name, text);
    await server.evaluate(`(load (compile-file ${JSON.stringify(file)}))`);
  }

  /** The whole answer, marked if it is an error, with the folder's name replaced. */
  async function found(name: string, mode: string, args: object = {}): Promise<string> {
    const result = await server.call("find-references", { package: "mail", ...args, name, mode });
    return `> ${name} ${mode}\n${markedText(result)
      .replaceAll(folder, "FOLDER")
      .replace(/evaluation \d+/g, "evaluation N")}`;
  }

  async function allFound(...asked: readonly (readonly [string, string])[]): Promise<string> {
    const texts = await Promise.all(asked.map(([name, mode]) => found(name, mode)));
    return texts.join("\n\n");
  }

  it("lists callers by file and line, with the lines of the calls", async () => {
    snapshots.match(
      "callers",
      await allFound(["shorten", "callers"], ["half", "callers"], ["(setf limit)", "callers"]),
    );
  });

  it("lists what a function, a generic function and a macro call, Lisp's own functions by name", async () => {
    snapshots.match("callees", await allFound(["sort-mail", "callees"], ["show", "callees"], ["shortened", "callees"]));
  });

  it("lists uses of special variables and macros", async () => {
    snapshots.match(
      "variables and macros",
      await allFound(
        ["*limit*", "references"],
        ["*limit*", "bindings"],
        ["*limit*", "assignments"],
        ["with-limit", "macro-uses"],
      ),
    );
  });

  it("lists methods on a class, and all classes that inherit from it", async () => {
    snapshots.match(
      "classes",
      await allFound(
        ["message", "specializers"],
        ["letter", "specializers"],
        ["message", "subclasses"],
        ["urgent-letter", "subclasses"],
      ),
    );
  });

  it("lists callers in evaluated code and in several files", async () => {
    await load("more.lisp", "(in-package :mail)\n\n(defun far (x) (set-limit x))\n");
    await server.evaluate("(defun mail::evaluated (x)\n  (list (mail::set-limit x)))");
    await server.evaluate("(defun mail::evaluated (x)\n  (list x (mail::set-limit x)))");
    snapshots.match("several places", await allFound(["set-limit", "callers"]));
  });

  it("lists each form of evaluated code, also of one evaluation", async () => {
    await server.evaluate("(defun called () 1) (defun first-caller () (called)) (defun second-caller () (called))");
    await server.evaluate("(defun third-caller () (called))");
    expect((await found("called", "callers", { package: "cl-user" })).split("\n").sort()).to.deep.equal(
      [
        "> called callers",
        "3 callers of CALLED:",
        "",
        "evaluation N: (defun first-caller () (called))",
        "evaluation N: (defun second-caller () (called))",
        "evaluation N: (defun third-caller () (called))",
      ].sort(),
    );
  });

  it("says that a file has changed since it was loaded", async () => {
    await write("more.lisp", "(in-package :mail)\n;; moved\n\n(defun far (x)\n  (list (set-limit x)))\n");
    await utimes(join(folder, "more.lisp"), new Date(), new Date());
    snapshots.match("changed file", await allFound(["set-limit", "callers"]));
  });

  it("says why there are none", async () => {
    snapshots.match(
      "none",
      await allFound(
        ["reset-limit", "callers"],
        ["shorten", "macro-uses"],
        ["with-limit", "callers"],
        ["if", "callers"],
        ["*limit*", "callers"],
        ["shorten", "references"],
        ["+page+", "assignments"],
        ["+page+", "references"],
        ["the-limit", "references"],
        ["text", "subclasses"],
        ["shorten", "specializers"],
        ["*limit*", "macro-uses"],
        ["cl:if", "callees"],
        ["letter", "callers"],
      ),
    );
  });

  it("says if references are missing because code was interpreted, or compiled without cross references", async () => {
    await server.evaluate(`(defpackage :slow (:use :cl))
      (let ((sb-ext:*evaluator-mode* :interpret))
        (eval '(progn (defvar slow::*x* 1) (defun slow::one () slow::*x*) (defun slow::two () (slow::one)))))`);
    await server.evaluate("(defpackage :small (:use :cl))");
    await load(
      "small.lisp",
      "(in-package :small)\n(declaim (optimize (sb-c::store-xref-data 0)))\n(defvar *x* 1)\n(defun one () *x*)\n(defun two () (one))\n",
    );
    snapshots.match(
      "no data",
      (
        await Promise.all([
          found("one", "callers", { package: "slow" }),
          found("two", "callees", { package: "slow" }),
          found("*x*", "references", { package: "small" }),
          found("one", "callers", { package: "small" }),
          found("two", "callers", { package: "small" }),
        ])
      ).join("\n\n"),
    );
  });

  it("counts the uses in Lisp itself instead of listing them", async () => {
    expect(await found("cl:row-major-aref", "callers")).to.match(
      /^> cl:row-major-aref callers\nNo callers of ROW-MAJOR-AREF in the program\.\nIn Lisp itself: [^\n]+$/,
    );
  });

  it("leaves this server's own functions and methods out", async () => {
    for (const [name, mode] of [
      ["cl:car", "callers"],
      ["cl:*package*", "references"],
      ["cl:*package*", "bindings"],
      ["swank::*emacs-connection*", "references"],
      ["cl:print-object", "callers"],
      ["cl:structure-object", "subclasses"],
      ["cl:error", "subclasses"],
      ["cl:with-open-file", "macro-uses"],
    ] as const)
      expect(await found(name, mode)).not.to.match(/SWANK-CLIENT|SWANK-OBJECTS/i);
    expect(await found("cl:*package*", "references")).to.include("In Lisp itself: ");
  });

  it("pages through a thousand callers in the order of the file", async () => {
    const callers = Array.from({ length: 1000 }, (_, index) => `(defun caller-${index} (x)\n  (busy (1+ x)))\n`);
    await load("busy.lisp", `(in-package :mail)\n(defun busy (x) x)\n${callers.join("")}`);
    const first = await found("busy", "callers");
    expect(first).to.include("1000 callers of BUSY; 1-50:\n\nFOLDER/busy.lisp:3:1: (defun caller-0 (x)  [line 4]\n");
    expect(first).to.match(/:101:1: \(defun caller-49 \(x\) {2}\[line 102\]\n\nFor more, pass start: 50\.$/);
    const last = await found("busy", "callers", { start: 990 });
    expect(last.split("\n").at(3)).to.equal("FOLDER/busy.lisp:1983:1: (defun caller-990 (x)  [line 1984]");
    expect(last.split("\n")).to.have.lengthOf(13);
    expect(await found("busy", "callers", { start: 1000 })).to.include("1000 callers of BUSY; none from 1000 on.");
  });

  it("finds references in the files of a library", async () => {
    await server.evaluate(LOAD_FIVEAM);
    const text = await found("add-result", "callers", { package: "it.bese.fiveam" });
    expect(text).to.match(/\d+ callers of ADD-RESULT in 3 files:/);
    expect(text).to.match(/fiveam\/src\/check\.lisp:\d+:1: \(defun process-failure /);
  });

  it("names what is near a name that does not exist, and interns nothing", async () => {
    snapshots.match(
      "not found",
      (
        await Promise.all([
          found("shortne", "callers"),
          found("never-interned", "callers"),
          found("shorten", "callers", { package: "mial" }),
        ])
      ).join("\n\n"),
    );
    expect(await server.evaluate('(find-symbol "NEVER-INTERNED" :mail)')).to.deep.equal(["=> NIL\n=> NIL"]);
  });

  it("gives the places as data", async () => {
    const { _meta } = await server.call("find-references", { name: "half", mode: "callers", package: "mail" });
    expect(_meta).to.deep.equal({
      "swank-mcp/references": {
        status: "found",
        name: "HALF",
        references: [
          {
            kind: "function",
            name: "SET-LIMIT",
            state: "loaded",
            file: join(folder, "mail.lisp"),
            line: 17,
            column: 1,
            uses: [18],
          },
        ],
        count: 1,
        files: 1,
        lisp_count: 0,
      },
    });
  });

  it("refuses an unknown mode, and calls without a name or mode", async () => {
    for (const args of [
      { name: "car" },
      { mode: "callers" },
      { name: "car", mode: "users" },
      { name: "", mode: "callers" },
    ]) {
      const result = await server.call("find-references", args);
      expect(result.structuredContent, JSON.stringify(args)).to.have.nested.property(
        "error.data.type",
        "INVALID_ARGUMENTS",
      );
    }
  });

  it("lists each test of FiveAM and each closure that calls a function, but not the code that loaded them", async () => {
    await server.evaluate(LOAD_FIVEAM);
    const names = ["one", "two", "three"];
    const tests = names.map((name) => `(fiveam:test ${name}\n  (fiveam:is (equal "" (tested))))\n`);
    await load("tests.lisp", `(in-package :mail)\n(defun tested () "")\n${tests.join("")}`);
    await load("hooks.lisp", "(in-package :mail)\n(defvar *hook* (lambda () (tested)))\n");
    snapshots.match("tests", await allFound(["tested", "callers"]));
  });

  snapshots.testCompleteness();
});
