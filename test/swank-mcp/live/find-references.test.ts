import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { LOAD_FIVEAM } from "../../support/fiveam.js";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { markedText } from "../../support/mcp-results.js";

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
  const folder = liveFolder("references");
  const server = liveServer({ code: "(defpackage :mail (:use :cl) (:export #:shorten))" });
  before(() => load("mail.lisp", MAIL));

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
    expectFacts(
      await allFound(["shorten", "callers"], ["half", "callers"], ["(setf limit)", "callers"]),
      "5 callers of SHORTEN:",
      "mail.lisp:12:1: (defun sort-mail (box)  [lines 14, 15, 16]…:21:1: (defmacro shortened",
      "(defmethod show ((message message) stream)  [line 29]…(defvar *shortener*…(defun unrecorded",
      "1 caller of HALF:…  [line 18]",
      "1 caller of (SETF LIMIT):…(defun reset-limit",
    );
  });

  it("lists what a function, a generic function and a macro call, Lisp's own functions by name", async () => {
    expectFacts(
      await allFound(["sort-mail", "callees"], ["show", "callees"], ["shortened", "callees"]),
      "1 function is called by SORT-MAIL:",
      "2 functions are called by SHOW:…  [(METHOD MESSAGE-TEXT (MESSAGE))]\n\nLisp's own: WRITE-STRING",
      "1 function is called by SHORTENED:",
    );
  });

  it("lists uses of special variables and macros", async () => {
    expectFacts(
      await allFound(
        ["*limit*", "references"],
        ["*limit*", "bindings"],
        ["*limit*", "assignments"],
        ["with-limit", "macro-uses"],
      ),
      "1 definition refers to *LIMIT*:…[line 11]",
      "1 definition binds *LIMIT*:…(defmethod show",
      "1 definition assigns *LIMIT*:…[line 18]",
      "1 definition uses the macro WITH-LIMIT:…[line 28]",
    );
  });

  it("lists methods on a class, and all classes that inherit from it", async () => {
    expectFacts(
      await allFound(
        ["message", "specializers"],
        ["letter", "specializers"],
        ["message", "subclasses"],
        ["urgent-letter", "subclasses"],
      ),
      "3 methods specialize on MESSAGE:",
      "3 methods specialize on LETTER:…  [(METHOD (SETF STAMP) (T LETTER)); (METHOD STAMP (LETTER))]",
      "2 subclasses of MESSAGE:…(defclass letter…(defclass urgent-letter",
      "No subclasses of URGENT-LETTER.",
    );
  });

  it("lists callers in evaluated code and in several files", async () => {
    await load("more.lisp", "(in-package :mail)\n\n(defun far (x) (set-limit x))\n");
    await server.evaluate("(defun mail::evaluated (x)\n  (list (mail::set-limit x)))");
    await server.evaluate("(defun mail::evaluated (x)\n  (list x (mail::set-limit x)))");
    expectFacts(
      await allFound(["set-limit", "callers"]),
      "3 callers of SET-LIMIT in 2 files:…mail.lisp:19:1: …more.lisp:3:1: (defun far (x) (set-limit x))\n\nevaluation N: (defun mail::evaluated (x)",
    );
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
    expectFacts(
      await allFound(["set-limit", "callers"]),
      "mail.lisp:19:1: (defun (setf limit) (n) (set-limit n))\n\n",
      "more.lisp:4:1: (defun far (x) (set-limit x))  [the file has changed since it was loaded]",
    );
  });

  it("says why there are none", async () => {
    expectFacts(
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
      "No callers of RESET-LIMIT.\nUses by a name that is computed at run time are not recorded, and none outside of compiled code.",
      "SHORTEN is a function: ask for mode callers.",
      "WITH-LIMIT is a macro: ask for mode macro-uses.",
      "IF is a special operator: its uses are not recorded.",
      "*LIMIT* is not a function.\n*LIMIT* is a special variable: ask for mode references.",
      "SHORTEN is not a special variable: uses of lexical variables are not recorded.",
      "+PAGE+ is a constant: it cannot be bound or assigned.",
      "1 definition refers to +PAGE+:",
      "THE-LIMIT is a symbol macro: its uses are not recorded.",
      "TEXT is a type, not a class.",
      "SHORTEN is not a class.",
      "*LIMIT* is not a macro.",
      "No function is called by IF.",
      "LETTER is a class: ask for mode specializers or subclasses.",
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
    expectFacts(
      (
        await Promise.all([
          found("one", "callers", { package: "slow" }),
          found("two", "callees", { package: "slow" }),
          found("*x*", "references", { package: "small" }),
          found("one", "callers", { package: "small" }),
          found("two", "callers", { package: "small" }),
        ])
      ).join("\n\n"),
      "2 functions of package SLOW evaluated with sb-ext:*evaluator-mode* :interpret: their references are not recorded.",
      "TWO was evaluated with sb-ext:*evaluator-mode* :interpret: what it calls is not recorded.",
      "2 functions of package SMALL, and none has cross references: SBCL records none with (space 3).",
      "1 caller of ONE:",
      "No callers of TWO.\n2 functions of package SMALL",
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

  it("lists each test of FiveAM and each closure that calls a function, but not the code that loaded them", async () => {
    await server.evaluate(LOAD_FIVEAM);
    const names = ["one", "two", "three"];
    const tests = names.map((name) => `(fiveam:test ${name}\n  (fiveam:is (equal "" (tested))))\n`);
    await load("tests.lisp", `(in-package :mail)\n(defun tested () "")\n${tests.join("")}`);
    await load("hooks.lisp", "(in-package :mail)\n(defvar *hook* (lambda () (tested)))\n");
    expectFacts(
      await allFound(["tested", "callers"]),
      "4 callers of TESTED:…hooks.lisp:2:1:…tests.lisp:7:1: (fiveam:test three  [line 8]…tests.lisp:5:1: …tests.lisp:3:1: ",
    );
  });
});
