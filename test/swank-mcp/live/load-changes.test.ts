import { utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { LOAD_FIVEAM } from "../../support/fiveam.js";
import { attachedTo, liveEditor, liveFolder, liveServer, liveSwank } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { normalized } from "../../support/normalized.js";

const SOURCE = `;;; Stock. Größe 𝄞 (
(defpackage :stock (:use :cl) (:export #:amount))
(in-package :stock)

(defvar *limit* 10)
(defvar *here* *load-truename*)
(defstruct bin size)
(defconstant +most+ 5)
(defmacro twice (form) \`(* 2 ,form))

;; How much there is.
(defun amount (crate)
  (twice crate))
(defun doubled (crate) (twice crate))

(defgeneric store (thing))
(defmethod store ((thing integer)) (list :integer thing))
(defmethod store ((thing (eql :none))) nil)
(defun unused () :unused)
`;

/** A time before now, since SBCL compares files by the second in which they were written. */
const EARLIER = new Date(Date.now() - 60_000);

describe("load-changes", () => {
  const folder = liveFolder("load changes", { each: true });
  const file = join(folder, "stock.lisp");
  const server = liveServer({ each: true });
  beforeEach(async () => {
    await write(SOURCE, EARLIER);
    await server.evaluate(`(load (compile-file ${JSON.stringify(file)}))`);
  });

  async function write(text: string, time = new Date()): Promise<void> {
    await writeFile(file, text);
    await utimes(file, time, time);
  }

  async function call(tool: string, args: object = {}, of = server): Promise<string> {
    return blocks(await of.call(tool, args))
      .join("\n--\n")
      .replaceAll(folder, "FOLDER")
      .replaceAll(basename(folder), "FOLDER");
  }

  const load = (args: object = {}) => call("load-changes", args);
  const value = async (code: string) => (await server.evaluate(code)).join("\n");

  it("loads only the forms that changed, in their package, and then nothing again", async () => {
    expect(await load()).to.equal("Nothing to load.");
    await write(
      SOURCE.replace("(twice crate))\n(defun", "(1+ (twice crate)))\n(defun")
        .replace("(list :integer thing)", "(list :whole thing)")
        .replace("*load-truename*)", "(or *load-truename* 1))")
        .replace(
          "(defun unused () :unused)\n",
          "(defun added () *limit*)\n(setf *limit* (list *package* *load-truename* #.*compile-file-truename*))\n",
        ),
    );
    expectFacts(
      await load(),
      "Loaded:\nvariable STOCK::*HERE* FOLDER/stock.lisp:6:1\n  The variable keeps its value: defvar does not set it again.\nfunction STOCK:AMOUNT FOLDER/stock.lisp:12:1\n(METHOD STOCK::STORE (INTEGER))",
      "function added FOLDER/stock.lisp:19:1\nform (setf *limit* ",
      "Deleted from the file, but still in the image:\nfunction STOCK::UNUSED FOLDER/stock.lisp",
    );
    expect(await value("(list (stock:amount 1) (stock::store 1) (stock::added) *package*)")).to.match(
      /^=> \(3 \(:WHOLE 1\) \(#<PACKAGE "STOCK">\s+#P".*stock.lisp"\s+#P".*stock.lisp"\)\s+#<PACKAGE "COMMON-LISP-USER">\)/,
    );
    expectFacts(
      [await load(), await call("list-changes")].join("\n==\n"),
      "Nothing to load.\n\nDeleted from the file, but still in the image:\nfunction STOCK::UNUSED FOLDER/stock.lisp\n==\nDeleted from the file",
    );
  });

  it("compares the forms of a file with an older date than its code with the forms that it has loaded and saved", async () => {
    const changed = SOURCE.replace("(twice crate))\n(defun", "(1+ (twice crate)))\n(defun");
    const old = new Date(2020, 0, 1);
    await write(changed, old);
    expect(await load()).to.equal("Loaded:\nfunction STOCK:AMOUNT FOLDER/stock.lisp:12:1");
    expect(await load()).to.equal("Nothing to load.");
    await value("(in-package :stock) (defun unused () :evaluated)");
    expect(await call("list-changes", { text: false })).to.match(/^Evaluated[\s\S]*FOLDER\/stock.lisp:19:1/);
    expect(await call("save-changes")).to.match(/^function \S*UNUSED FOLDER\/stock.lisp:19:1/);
    await utimes(file, old, old);
    expect(await load()).to.equal("Nothing to load.");
  });

  it("loads a changed test of FiveAM, which runs with a readtable of its own", async () => {
    await value(`${LOAD_FIVEAM} (asdf:load-system "fiveam")`);
    const context = "(defpackage :tested (:use :cl :fiveam)) (in-package :tested)\n";
    const tests = "(test one (is (= 1 1)))\n(def-test two () (is (= 2 2)))\n";
    await write(context + tests, EARLIER);
    await value(`(load ${JSON.stringify(file)})`);
    await write(context + tests.replace("1 1", "1 3").replace("2 2", "(later) 3"));
    // FiveAM gives the test to COMPILE, so that the place within it is not known.
    expect(await load({ file })).to.equal(
      "Loaded:\nform (test one (is (= 1 3))) FOLDER/stock.lisp:2:1\nform (def-test two () (is (= (later) 3))) FOLDER/stock.lisp:3:1\n\nFOLDER/stock.lisp:3:1: STYLE-WARNING in (ALEXANDRIA:NAMED-LAMBDA %TEST-TWO): undefined function: TESTED::LATER\n    (def-test two () (is (= (later) 3)))",
    );
  });

  it("puts a test into the suite that its file is in", async () => {
    await value(`${LOAD_FIVEAM} (asdf:load-system "fiveam")`);
    const suites = "(def-suite one)\n(in-suite one)\n(test a (is (= 1 1)))\n(fiveam:def-suite* two :in one)\n";
    const text = `(defpackage :tested (:use :cl :fiveam)) (in-package :tested)\n${suites}(test b (is (= 1 1)))\n`;
    await write(text, EARLIER);
    await value(`(let ((fiveam::*suite* nil)) (load ${JSON.stringify(file)}))`);
    await write(`${text.replace("(test a", "(test a0 (is (= 1 1)))\n(test a")}(test c (is (= 1 1)))\n`);
    const before = await value("fiveam::*suite*");
    expect(await load({ file })).to.equal(
      "Loaded:\nform (test a0 (is (= 1 1))) FOLDER/stock.lisp:4:1\nform (test c (is (= 1 1))) FOLDER/stock.lisp:8:1",
    );
    const names = (suite: string) =>
      value(`(sort (alexandria:hash-table-keys (fiveam::tests (fiveam:get-test 'tested::${suite}))) #'string<)`);
    expect([await names("one"), await names("two"), await value("fiveam::*suite*")]).to.deep.equal([
      "=> (TESTED::A TESTED::A0 TESTED::TWO)",
      "=> (TESTED::B TESTED::C)",
      before,
    ]);
  });

  it("says of a file that was never loaded how to load it", async () => {
    await writeFile(join(folder, "other.lisp"), "(defun other () 1)\n");
    expect(await load({ file: join(folder, "other.lisp") })).to.equal(
      "Not loaded, as far as Lisp has recorded (load-system loads a system or file, compile-code with load a file): FOLDER/other.lisp",
    );
  });

  it("names what still uses changed macros, and what needs a full reload", async () => {
    await write(
      SOURCE.replace("(* 2 ,form)", "(* 3 ,form)")
        .replace("(defun doubled (crate) (twice crate))", "(defun doubled (crate) (list (twice crate)))")
        .replace("(defvar *limit* 10)", "(defvar *limit* 20)")
        .replace("(defstruct bin size)", "(defstruct bin size weight)")
        .replace("+most+ 5", "+most+ 6")
        .replace("(:export #:amount)", "(:export #:amount #:doubled)")
        .replace("(defun unused () :unused)", "(set-macro-character #\\? (lambda (s c) s c :asked))"),
    );
    expectFacts(
      await load(),
      "Loaded:\npackage :STOCK FOLDER/stock.lisp:2:1\n  The package keeps what the form no longer names",
      "macro STOCK::TWICE FOLDER/stock.lisp:9:1\n  Compiled with the old one; load them again: STOCK:AMOUNT\nfunction STOCK::DOUBLED",
      "Not loaded, because a structure changed: instances and compiled code have the old one. Load its file and those that use it, best in a new image:\nstructure STOCK::BIN",
      "Not loaded, because a constant changed: compiled code contains the old value.…constant STOCK::+MOST+",
      "Not loaded, because a form of the file may change the readtable only when the file is loaded whole. Load the whole file:\nform (set-macro-character",
    );
    expect(await value("(list (stock:amount 1) (stock:doubled 1) stock::*limit*)")).to.match(/^=> \(2 \(3\) 10\)/);
    expectFacts(
      [await load(), await call("list-changes", { text: false })].join("\n==\n"),
      "Not loaded, because a structure changed: instances and compiled code have the old one. Load its file and those that use it, best in a new image:\nstructure STOCK::BIN",
      "Not loaded, because a constant changed: compiled code contains the old value.…constant STOCK::+MOST+",
      "Not loaded, because a form of the file may change the readtable only when the file is loaded whole. Load the whole file:\nform (set-macro-character",
      "==\nChanged in the file since it was loaded:\nstructure STOCK::BIN…New in the file since it was loaded:\nform (set-macro-character…Deleted from the file",
    );
  });

  it("does not load an in-package form that moves forms which did not change", async () => {
    await write(SOURCE.replace("(in-package :stock)", "(in-package :cl-user)").replace(":unused)", ":moved)"));
    expectFacts(
      await load(),
      "Not loaded, because an in-package form changed or was deleted: forms that did not change are now in another package. Load the whole file:\nform (in-package :cl-user) FOLDER/stock.lisp:3:1\nfunction unused",
    );
    await write(`${SOURCE}(defpackage :shelf (:use :cl))\n(in-package :shelf)\n(defun shelf () *package*)`);
    expectFacts(
      await load(),
      "Loaded:\npackage :shelf …form (in-package :shelf) …function shelf FOLDER/stock.lisp:22:1",
    );
    expect(await value("(shelf::shelf)")).to.match(/^=> #<PACKAGE "COMMON-LISP-USER">/);
  });

  it("loads nothing into another package if an in-package form was deleted", async () => {
    await write(SOURCE.replace("(in-package :stock)\n", "").replace(":unused)", ":moved)"));
    expectFacts(
      [await load(), await call("list-changes")].join("\n==\n"),
      "Loaded:\nfunction STOCK::UNUSED",
      "Not loaded, because an in-package form changed or was deleted: forms that did not change are now in another package. Load the whole file:\nform (in-package :stock) FOLDER/stock.lisp\n==\nDeleted from the file",
    );
  });

  it("says which forms were loaded if the evaluation is aborted", async () => {
    await write(SOURCE.replace(":unused)", ":used)").concat("(sleep 30)\n(defun after () 2)\n"));
    await load({ timeout: 1 });
    expectFacts(
      normalized(await call("debugger_invoke_restart", { restart: "ABORT" })),
      "Aborted in the following form, which may be done in part: form (sleep 30) FOLDER/stock.lisp:20:1.\nLoaded: function STOCK::UNUSED FOLDER/stock.lisp:19:1.\nNot loaded: function after FOLDER/stock.lisp:21:1.",
      "; Evaluation aborted",
    );
    expectFacts(
      await call("list-changes", { text: false }),
      "New in the file since it was loaded:\nform (sleep 30) FOLDER/stock.lisp:20:1\nfunction after FOLDER/stock.lisp:21:1",
    );
  });

  it("has loaded whole forms when the call is cancelled", async () => {
    await write(SOURCE.replace(":unused)", ":used)").concat("(sleep 30)\n(defun after () 2)\n"));
    const sent = server.startCall("load-changes");
    while (!JSON.stringify(await server.progressOf(sent)).includes("sleep")) {
      server.notifications.splice(0);
    }
    server.cancel(sent.id);
    await value("1");
    expectFacts(
      await call("list-changes", { text: false }),
      "New in the file since it was loaded:\nform (sleep 30) FOLDER/stock.lisp:20:1\nfunction after FOLDER/stock.lisp:21:1",
    );
  });

  it("stops in a form that fails, and says which were loaded before and which were not", async () => {
    await write(
      SOURCE.replace("10)", "10)\n(defun before () 1)").replace(
        ";; How much",
        '(defun helper () (error "not yet"))\n(defvar *failing* (list (helper)))\n(defun after () 2)\n;; How much',
      ),
    );
    const stopped = await load();
    expectFacts(
      stopped.slice(0, stopped.indexOf("[Backtrace]")),
      "Stopped in variable *failing* FOLDER/stock.lisp:13:1.\nLoaded: function before FOLDER/stock.lisp:6:1, function helper FOLDER/stock.lisp:12:1.\nNot loaded: function after FOLDER/stock.lisp:14:1.",
      "[ERROR] SIMPLE-ERROR\nnot yet",
    );
    expectFacts(
      await call("list-changes", { text: false }),
      "New in the file since it was loaded:\nvariable STOCK::*FAILING* FOLDER/stock.lisp:13:1\nfunction after",
    );
    await value("(defun stock::helper () 5)");
    expectFacts(
      await call("debugger_invoke_restart", { restart: "RETRY" }),
      "Loaded:\nvariable STOCK::*FAILING* FOLDER/stock.lisp:13:1\nfunction after FOLDER/stock.lisp:14:1",
    );
    expect(await value("(list stock::*failing* (stock::before) (stock::after))")).to.match(/^=> \(\(5\) 1 2\)/);
  });

  it("goes on without the form that has failed if that is left out", async () => {
    await write(SOURCE.concat('(error "never")\n(defun after () (undefined-thing))\n'));
    await load();
    expectFacts(
      await call("debugger_invoke_restart", { restart: "SKIP-FORM" }),
      'Loaded:\nfunction after FOLDER/stock.lisp:21:1\n\nLeft out when it had stopped:\nform (error "never") FOLDER/stock.lisp:20:1\n\nFOLDER/stock.lisp:21:17: STYLE-WARNING in (DEFUN STOCK::AFTER): undefined function',
    );
    expect(await call("list-changes", { text: false })).to.include('form (error "never") FOLDER/stock.lisp:20:1');
  });

  it("loads nothing after a form that does not compile, and keeps the old definition", async () => {
    await write(
      SOURCE.replace("(twice crate))\n(defun", "(let ((1)) (twice crate)))\n(defun")
        .replace("(:unused)", "")
        .replace("(list :integer thing)", "(nowhere:list thing)")
        .concat("(defun added () (amount 1 2 3))"),
    );
    expectFacts(
      await load(),
      "Not loaded, because it does not compile; the image has its old definition:\nfunction STOCK:AMOUNT",
      "Not loaded, because an earlier form failed:\n(METHOD STOCK::STORE (INTEGER)) …function added",
      "FOLDER/stock.lisp:13:9: ERROR in (DEFUN AMOUNT): ",
    );
    await write(
      SOURCE.replace("(list :integer thing)", "(nowhere:list thing)").concat("(defun added () (amount 1 2 3))"),
    );
    expectFacts(
      await load(),
      "Not loaded, because it does not compile; the image has its old definition:\n(METHOD STOCK::STORE (INTEGER))",
      "Not loaded, because an earlier form failed:\nfunction added",
      "FOLDER/stock.lisp:17:1: READ-ERROR: READ error during COMPILE-FILE: Package NOWHERE does not exist.",
    );
    await write(SOURCE.concat("(defun added () (amount 1 2 3))"));
    expectFacts(
      await load(),
      "Loaded:\nfunction added…FOLDER/stock.lisp:20:17: STYLE-WARNING in (DEFUN ADDED): The function AMOUNT is called with three arguments",
    );
  });

  it("says where a file that does not end cannot be read", async () => {
    await write(SOURCE.replace("(twice crate))\n(defun", "(twice crate)\n(defun"));
    expectFacts(
      await load(),
      "Nothing to load from other files.\n\nFOLDER/stock.lisp:12:1: READ-ERROR: the list that begins here never ends…    line 13: (twice crate)",
      "Not compared, because not all forms can be read: FOLDER/stock.lisp",
    );
    expect(await call("list-changes")).to.include("Not compared, because not all forms can be read: FOLDER/stock.lisp");
  });

  it("takes the text of the file where a definition was evaluated, too, and shows what it has replaced", async () => {
    await value(
      "(in-package :stock) (defun amount (crate) (list :evaluated crate)) (defun doubled (crate) (list :kept crate))",
    );
    await write(SOURCE.replace("(twice crate))\n(defun", "(1+ (twice crate)))\n(defun"));
    expectFacts(
      [await call("list-changes"), await load(), await call("list-changes")].join("\n==\n"),
      "Evaluated, and different from the file:\nfunction DOUBLED",
      "Evaluated, and also changed in the file since it was loaded:\nfunction AMOUNT FOLDER/stock.lisp:12:1\n",
      "==\nLoaded:\nfunction AMOUNT FOLDER/stock.lisp:12:1\n  It replaced what was evaluated and not saved (-):\n  - (defun amount (crate) (list :evaluated crate))\n  + (defun amount (crate)",
      "==\nEvaluated, and different from the file:\nfunction DOUBLED",
    );
    expect(await value("(list (amount 1) (doubled 1))")).to.match(/^=> \(3 \(:KEPT 1\)\)/);
  });

  it("gives the new definitions the places that they have in the file", async () => {
    await write(
      SOURCE.replace(";; How much", ";; More\n;; lines\n(defun caller () (doubled 1))\n;; How much")
        .replace("(twice crate))\n(defun", "(caller))\n(defun")
        .replace("(list :integer thing)", "(list :whole thing)"),
    );
    await load();
    expect(await call("show-source", { name: "stock:amount" })).to.include("stock.lisp:15:1");
    expect(await call("show-source", { name: "stock:amount" })).to.include("(caller)");
    expect(await call("show-source", { name: "(method stock::store (integer))" })).to.include("stock.lisp:20:1");
    expect(await call("find-references", { name: "stock::caller", mode: "callers" })).to.match(/stock\.lisp:15:1|15: /);
    expect(
      await value(`(mapcar (lambda (name) (second (assoc :position (cdr (second (first (swank:find-definitions-for-emacs name)))))))
      '("stock:amount" "stock::caller"))`),
    ).to.match(/=> \(\d+ \d+\)/);
  });

  it("loads files that name no package in the package of their definitions", async () => {
    await write("(defun plain () 1)\n(defun other () 2)\n");
    await value(
      `(defpackage :plain (:use :cl)) (in-package :plain) (load ${JSON.stringify(file)}) (in-package :cl-user)`,
    );
    await write("(defun plain () (list (fresh)))\n(defun fresh () 3)\n(defun other () 2)\n");
    expect(await load()).to.equal(
      "Loaded:\nfunction PLAIN::PLAIN FOLDER/stock.lisp:1:1\nfunction fresh FOLDER/stock.lisp:2:1",
    );
    expect(await value("(plain::plain)")).to.match(/^=> \(3\)/);
  });

  it("interrupts a form at the end of its time, and can go on without it", async () => {
    await write(SOURCE.concat("(loop)\n(defun after () 2)\n"));
    const stopped = await load({ timeout: 1 });
    expect(stopped).to.match(/^\[TIMEOUT\]/);
    // Below the form, no frame of the loader or of the runtime is shown.
    expect(stopped).to.match(/\[Backtrace\]\n0: .*\[toplevel\]\n--\n/);
    expect(stopped).to.include("SKIP-FORM - Leave out form (loop) FOLDER/stock.lisp:20:1, and load the others.");
    expectFacts(
      await call("debugger_invoke_restart", { restart: "SKIP-FORM" }),
      "Loaded:\nfunction after FOLDER/stock.lisp:21:1\n\nLeft out when it had stopped:\nform (loop) FOLDER/stock.lisp:20:1",
    );
  });

  it("reads a changed form with the syntax that the forms before it set, or says that the whole file must be loaded", async () => {
    await writeFile(
      join(folder, "marks.lisp"),
      `(defpackage :syntax (:use :cl)) (in-package :syntax)
(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *marks* (copy-readtable nil))
  (set-macro-character #\\! (lambda (s c) (declare (ignore c)) (list 'list (read s t nil t))) nil *marks*)
  (defun turn-on () (setf *readtable* *marks*))
  (defun begin () (turn-on)))
(defmacro enable-marks-syntax () '(eval-when (:compile-toplevel :load-toplevel :execute) (begin)))
(defmacro marks () '(eval-when (:compile-toplevel :load-toplevel :execute) (begin)))
(defmacro in-readtable (name) name '(enable-marks-syntax))
`,
    );
    await value(`(load ${JSON.stringify(join(folder, "marks.lisp"))})`);
    const whole =
      "Not loaded, because a form of the file may change the readtable only when the file is loaded whole. Load the whole file:\n";
    const compiled = "(eval-when (:compile-toplevel :load-toplevel :execute)";
    const contexts = new Map([
      [`${compiled} (in-readtable :marks))`, "Loaded:\n"],
      ["(enable-marks-syntax)", "Loaded:\n"],
      ["(marks)", "Loaded:\n"],
      [`${compiled} (begin))`, "Loaded:\n"],
      ["(begin)", whole],
      ["(macrolet ((set-it () '(begin))) (set-it))", whole],
      ["(setf *readtable* *marks*)", whole],
    ]);
    for (const [context, answer] of contexts) {
      const text = `(in-package :syntax)\n${context}\n(defun marked (x) !x)\n`;
      await write(text, EARLIER);
      await value(`(load ${JSON.stringify(file)})`);
      await write(text.replace("!x)", "(vector !x))"));
      expect(await load({ file }), context).to.equal(`${answer}function SYNTAX::MARKED FOLDER/stock.lisp:3:1`);
      expect(await value("(syntax::marked 3)"), context).to.equal(answer === whole ? "=> (3)" : "=> #((3))");
    }
  });

  describe("beside another client", () => {
    const lisp = liveSwank({ each: true });
    const editor = liveEditor(lisp);
    const attached = liveServer({ each: true, args: attachedTo(lisp) });

    it("loads what changed in the files of a system in the order of the system, however it was loaded", async () => {
      const files = {
        "parts.asd": '(defsystem "parts" :serial t :components ((:file "z-macros") (:file "a-users")))',
        "z-macros.lisp": "(defpackage :parts (:use :cl))\n(in-package :parts)\n(defmacro part (x) `(list ,x))\n",
        "a-users.lisp": "(in-package :parts)\n(defun use () (part 1))\n(defvar *uses* (list (use)))\n",
      };
      const place = async (name: string, text: string, time = EARLIER) => {
        await writeFile(join(folder, name), text);
        await utimes(join(folder, name), time, time);
      };
      for (const [name, text] of Object.entries(files)) await place(name, text);
      // a file that changed in the second in which it was compiled is not known to have the compiled text
      await new Promise((resolve) => setTimeout(resolve, 1100));
      await editor.type(
        `(progn (push ${JSON.stringify(`${folder}/`)} asdf:*central-registry*) (asdf:load-system "parts"))`,
      );
      const loaded = () => call("load-changes", {}, attached);
      const before = await loaded();
      await place("z-macros.lisp", files["z-macros.lisp"].replace("(list ,x)", "(vector ,x ,x)"), new Date());
      await place("a-users.lisp", files["a-users.lisp"].replace("(list (use))", "(vector (use) (part 7))"), new Date());
      expectFacts(
        [before, await loaded(), await loaded()].join("\n==\n"),
        "Nothing to load.\n==\nLoaded:\nmacro PARTS::PART FOLDER/z-macros.lisp:3:1\n  Compiled with the old one; load them again: PARTS::USE\nvariable PARTS::*USES* FOLDER/a-users.lisp:3:1",
        "==\nNothing to load.",
      );
    });
  });
});
