import { chmod, link, lstat, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks, markedText } from "../../support/mcp-results.js";

const SOURCE = `;;; Tolls. Größe 𝄞 (
(defpackage :toll (:use :cl))
(in-package :toll)

;; What a cart costs.
(defun price (cart) ; in cents
  (* 2 cart))
;; After it.

(progn
  (defun inner (x) x)
  (defvar *state* 1))

(defgeneric pay (thing))
(defmethod pay ((thing symbol)) 1)
(defmethod pay ((thing string)) 2)
#-never
(defun conditional () 1)
(defun twice () 1)
(defun twice () 1)
(defun last-one () 1)`;

const MACROS = `(defmacro define-thing (name &rest more) \`(defun ,name () ',more))
(defmacro dict (x) \`(list ,x))
(defmacro with-n (n &body body) \`(let ((,n 0)) ,@body))`;

/** A time before now, since SBCL compares files by the second in which they were written. */
const EARLIER = new Date(Date.now() - 60_000);

function utf32(text: string): Buffer {
  const units = Array.from(text, (char) => char.codePointAt(0) ?? 0);
  const octets = Buffer.alloc(4 * units.length);
  for (const [index, unit] of units.entries()) octets.writeUInt32LE(unit, 4 * index);
  return octets;
}

describe("save-changes", () => {
  const folder = liveFolder("save changes", { each: true });
  const file = join(folder, "toll.lisp");
  const server = liveServer({ each: true });
  beforeEach(async () => {
    await writeSource(SOURCE);
    await server.evaluate(`(load ${JSON.stringify(file)}) (in-package :toll)`);
  });

  async function writeSource(text: string): Promise<void> {
    await writeFile(file, text);
    await utimes(file, EARLIER, EARLIER);
  }

  /** The whole answer of a tool, marked if it is an error, with the folder's name replaced. */
  const answer = async (args: object, tool = "save-changes") =>
    markedText(await server.call(tool, args)).replaceAll(folder, "FOLDER");

  it("writes only where the file is read with the readtable of the evaluation", async () => {
    await server.evaluate(`(in-package :cl-user)
(defpackage :editor-hints.named-readtables (:nicknames :named-readtables) (:use :cl) (:export #:in-readtable #:find-readtable))
(defvar *marks* (let ((table (copy-readtable nil)))
  (set-macro-character #\\! (lambda (s c) (declare (ignore c)) (list 'list (read s t nil t))) nil table) table))
(defun named-readtables:find-readtable (name) (and (string= name "MARKS") *marks*))
(defmacro named-readtables:in-readtable (name)
  \`(eval-when (:compile-toplevel :load-toplevel :execute) (setf *readtable* (named-readtables:find-readtable ',name))))`);
    const refused = "not written: the file sets another readtable";
    const [plain, marked, keyed] = ["(list x)", "(list 'a! x)", "!x"];
    const known = "(named-readtables:in-readtable :marks)";
    const unknown = "(eval-when (:compile-toplevel :load-toplevel :execute) (setf *readtable* cl-user::*marks*))";
    const cases: readonly (readonly [string, string, string])[] = [
      ["", plain, "written"],
      ["", marked, "written"],
      [known, plain, "written"],
      [`(eval-when (:compile-toplevel :load-toplevel :execute) ${known})`, plain, "written"],
      [known, marked, refused],
      [unknown, plain, refused],
    ];
    for (const [context, body, outcome] of cases) {
      const source = `(in-package :toll)\n${context}\n(defun price (cart) cart)\n`;
      await writeSource(source);
      await server.evaluate(`(load ${JSON.stringify(file)})`);
      await server.evaluate(`(in-package :toll) (defun price (x) ${body})`);
      expect(await answer({ name: "price", "dry-run": false }), context + body).to.include(`: ${outcome}`);
      expect(await readFile(file, "utf8"), context + body).to.equal(
        outcome === refused ? source : source.replace("(cart) cart", `(x) ${body}`),
      );
    }
    await server.evaluate("(in-package :toll) (setf *readtable* cl-user::*marks*)");
    for (const [context, outcome] of [
      ["", refused],
      [known, "written"],
    ] as const) {
      await writeSource(`(in-package :toll)\n${context}\n(defun price (cart) cart)\n`);
      await server.evaluate(`(let ((*readtable* (copy-readtable nil))) (load ${JSON.stringify(file)}))`);
      await server.evaluate(`(defun price (x) ${keyed})`);
      expect(await answer({ name: "price", "dry-run": false }), context).to.include(`: ${outcome}`);
    }
  });

  it("takes no form that only uses a name for its definition", async () => {
    const source = "(in-package :fee)\n(export 'due)\n(trace due)\n(defun other () 1)\n";
    await server.evaluate("(defpackage :fee (:use :cl))");
    await writeSource(source);
    await server.evaluate(`(load ${JSON.stringify(file)}) (in-package :fee) (untrace) (defun due () 2)`);
    expect(await answer({ "dry-run": false }))
      .to.include("function DUE: not written: no file defines it")
      .and.not.include(": written");
    expect(await readFile(file, "utf8")).to.equal(source);
    expect(await answer({ text: false }, "list-changes")).to.match(
      /^Only in the image, in no file:\n(?:.*\n)*function DUE\n\n.*\npackage FEE$/,
    );
  });

  it("shows what it would write, then writes evaluated definitions in place, and keeps everything around them", async () => {
    await server.evaluate("(defun price (cart)\n  ;; thrice\n  (* 3 cart)) (progn (defun inner (x) (list x)))");
    await server.evaluate("(defmethod pay ((thing string)) 22) (defun last-one () :last) (defun scratch () 1)");
    expectFacts(
      await answer({}),
      "function PRICE FOLDER/toll.lisp:6:1: would be written; save with dry-run false\n  - (defun price (cart) ; in cents\n  -   (* 2 cart))\n  + (defun price (cart)\n  +   ;; thrice\n  +   (* 3 cart))\n  A comment inside the form is not in the evaluated text.",
      "function INNER FOLDER/toll.lisp:11:3: would be written; save with dry-run false\n…(METHOD PAY (STRING)) FOLDER/toll.lisp:16:1: …function LAST-ONE",
      "function SCRATCH: not written: no file defines it. Give its name with the file to append it to",
    );
    expect(await readFile(file, "utf8")).to.equal(SOURCE);
    await chmod(file, 0o640);
    expectFacts(
      await answer({ "dry-run": false }),
      "function PRICE FOLDER/toll.lisp:6:1: written\n…function INNER FOLDER/toll.lisp:12:3: written\n…(METHOD PAY (STRING)) FOLDER/toll.lisp:17:1: written\n…function LAST-ONE FOLDER/toll.lisp:22:1: written\n",
      "function SCRATCH: not written",
    );
    expect(await readFile(file, "utf8")).to.equal(
      SOURCE.replace("(defun price (cart) ; in cents\n  (* 2 cart))", "(defun price (cart)\n  ;; thrice\n  (* 3 cart))")
        .replace("(defun inner (x) x)", "(defun inner (x) (list x))")
        .replace("string)) 2)", "string)) 22)")
        .replace("(defun last-one () 1)", "(defun last-one () :last)"),
    );
    expect((await stat(file)).mode & 0o777).to.equal(0o640);
    expect(await readdir(folder)).to.deep.equal(["toll.lisp"]);
    expect(await answer({ file }, "list-changes")).to.equal("Image and files agree.");
    expect(await answer({ name: "price" })).to.match(/^Nothing to save/);
  });

  it("lets every tool find what it has written, and the other definitions of the file as they were loaded", async () => {
    await server.evaluate("(defclass cart () ((load :accessor cart-load)))");
    await writeSource(`${SOURCE}\n(defun caller () (price 1))\n(let ((n 0)) (defun tick () (incf n)))\n`);
    await server.evaluate(
      `(load ${JSON.stringify(file)}) (defun caller () (price\n 2)) (let ((n 1)) (defun tick () (incf n)))`,
    );
    await server.evaluate("(progn (defun price (cart)\n (list cart)))");
    expect(await answer({ name: "cart", file, "dry-run": false })).to.include(": written");
    expect(await answer({ "dry-run": false })).to.not.include("not written");
    const shown = async () => {
      const asked = ["price", "caller", "tick", "cart-load", "*state*", "last-one"].map((name) =>
        answer({ name, package: "toll" }, "show-source"),
      );
      const answers = [...asked, answer({ name: "price", mode: "callers" }, "find-references")];
      for (const name of ["price", "caller", "cart"])
        answers.push(answer({ name: `toll::${name}` }, "describe-symbol"));
      return [...(await Promise.all(answers)), await answer({ file, line: 6, context: 0 }, "show-source")].join("\n");
    };
    expectFacts(
      await shown(),
      "FOLDER/toll.lisp:6:1 function PRICE (as loaded)\n6  (defun price (cart)\n7   (list cart))\n",
      "FOLDER/toll.lisp:22:1 function CALLER (as loaded)…24:1 function TICK (as loaded)…26:1 (METHOD CART-LOAD (CART)) (as loaded)",
      "(METHOD (SETF CART-LOAD) (T CART)) (as loaded): the same form",
      "12:3 variable *STATE* (as loaded)…21:1 function LAST-ONE (as loaded)",
      "1 caller of PRICE:\n\nFOLDER/toll.lisp:22:1: (defun caller",
      "Source: FOLDER/toll.lisp:6\n…Source: FOLDER/toll.lisp:22\n…Source: FOLDER/toll.lisp:26\n",
      "lines 6-6 of 26, in (defun price (cart) (line 6)",
    );
    const written = await readFile(file, "utf8");
    await writeFile(file, written.replace("(defun price (cart)\n (list cart))", "#|$&|#"));
    expect(await answer({ name: "price" }, "show-source")).to.match(
      /^function PRICE \(evaluated code, evaluation \d+\)\n/,
    );
    expect(await answer({ name: "last-one" }, "show-source")).to.include("but not this form");
  });

  /** Definitions that are evaluated inside of another form, in place of `(defun inner () 0)`, and what the file then has. */
  const AROUND = [
    ["(let ((n 1)) (defun inner () n))", "(let ((n 1)) (defun inner () n))"],
    ["(progn (let ((n 1)) (defun inner () n)))", "(let ((n 1)) (defun inner () n))"],
    ["(macrolet ((m () 5)) (defun inner () (m)))", "(macrolet ((m () 5)) (defun inner () (m)))"],
    ["(symbol-macrolet ((n 7)) (defun inner () n))", "(symbol-macrolet ((n 7)) (defun inner () n))"],
    ["(flet ((g () 5)) (defun inner () (g)))", "(flet ((g () 5)) (defun inner () (g)))"],
    ["(let ((n 5)) (eval `(defun inner () ,n)))", "(let ((n 5)) (eval `(defun inner () ,n)))"],
    ["(eval-when (:load-toplevel :execute) (defun inner () 7))", "(defun inner () 7)"],
    ["(progn (defun inner () 8) (inner))", "(defun inner () 8)"],
    ["(list (defun inner () 9) (inner))", "(defun inner () 9)"],
    ["(defun inner () #.(+ 4 5))", "(defun inner () #.(+ 4 5))"],
  ] as const;

  it("writes the form around a definition on which its meaning depends", async () => {
    for (const [code, written] of AROUND) {
      const name = await server
        .evaluate(`(gensym "INNER")`)
        .then(([text = ""]) => text.slice("=> #:".length).toLowerCase());
      const named = (text: string) => text.replaceAll("inner", name);
      await writeSource(`(in-package :toll)\n(defun ${name} () 0)\n(defun later () 1)\n`);
      await server.evaluate(`(load ${JSON.stringify(file)})`);
      await server.evaluate(named(code));
      expect(await answer({ name, "dry-run": false }), code).to.include(": written");
      expect(await readFile(file, "utf8")).to.equal(`(in-package :toll)\n${named(written)}\n(defun later () 1)\n`);
      expect(await answer({ file }, "list-changes"), code).to.equal("Image and files agree.");
    }
  });

  it("replaces the form around a definition, and appends it", async () => {
    await writeSource("(in-package :toll)\n(progn\n (let* ((n 0)) (defun one () n))\n (defun two () 1))\n");
    await server.evaluate(
      `(load ${JSON.stringify(file)}) (let ((n 2)) (defun one () n)) (let ((n 3)) (defun three () n))`,
    );
    expect(await answer({ name: "one", "dry-run": false })).to.include(": written");
    expect(await answer({ name: "three", file, "dry-run": false })).to.include(": written");
    expect(await readFile(file, "utf8")).to.equal(
      "(in-package :toll)\n(progn\n (let ((n 2)) (defun one () n))\n (defun two () 1))\n\n(let ((n 3)) (defun three () n))\n",
    );
  });

  it("refuses a form around a definition that would remove or repeat others", async () => {
    const source =
      "(in-package :toll)\n(let ((n 0))\n (defun one () n)\n (defun two () (incf n)))\n(defun three () 3)\n(defun four () 4)\n";
    await writeSource(source);
    await server.evaluate(`(load ${JSON.stringify(file)}) (let ((n 2)) (defun one () n))`);
    await server.evaluate("(let ((n 2)) (defun three () n) (defun four () (incf n)))");
    expect(await answer({ name: "one", "dry-run": false })).to.match(
      /^function ONE .*: not written: it was evaluated inside of another form, such as LET, and the form here in the file has other or newer definitions, too, which would be lost\. /,
    );
    for (const name of ["three", "four"])
      expect(await answer({ name, "dry-run": false })).to.match(
        /: not written: it was evaluated inside of another form, such as LET, with definitions that are elsewhere in the file\. /,
      );
    expect(await readFile(file, "utf8")).to.equal(source);
  });

  it("refuses a form around a definition that would undo a newer one, also after that is written", async () => {
    const source = "(in-package :toll)\n(let ((n 0))\n (defun one () n)\n (defun two () (incf n)))\n";
    await writeSource(source);
    await server.evaluate(
      `(load ${JSON.stringify(file)}) (let ((n 5)) (defun one () n) (defun two () n)) (defun two () 2)`,
    );
    for (let round = 0; round < 2; round += 1) {
      expect(await answer({ "dry-run": false })).to.match(
        /ONE .*: not written: it was evaluated inside of another form/,
      );
      expect(await readFile(file, "utf8")).to.equal(source.replace("(defun two () (incf n))", "(defun two () 2)"));
    }
  });

  for (const [inFile, evaluated] of [
    ["(let ((n 0))\n (define-thing thing)\n (defun one () n))", "(let ((n 2)) (defun one () n))"],
    [
      "(let ((n 0))\n (define-thing a 1) (define-thing a 2)\n (defun one () n))",
      "(let ((n 0)) (define-thing a 1) (defun one () n))",
    ],
    ["(with-n n\n (define-thing thing)\n (defun one () n))", "(with-n n (defun one () (1+ n)))"],
  ] as const) {
    it(`refuses a form around a definition that would remove a call of the program's macro: ${evaluated}`, async () => {
      const source = `(in-package :toll)\n${MACROS}\n${inFile}\n`;
      await writeSource(source);
      await server.evaluate(`(load ${JSON.stringify(file)}) ${evaluated}`);
      expect(await answer({ name: "one", "dry-run": false })).to.match(
        /not written: .*, and the form here in the file has other or newer definitions, too, which would be lost\. /,
      );
      expect(await readFile(file, "utf8")).to.equal(source);
    });
  }

  for (const [inFile, evaluated] of [
    ["(let ((n (dict 1)))\n (defun one () n))", "(let ((n (dict 2))) (defun one () n))"],
    ["(let ((n (dict 1)))\n (defun one () n))", "(let ((n 5)) (defun one () n))"],
    ["(with-n n\n (defun one () n))", "(with-n m (defun one () m))"],
    ["(let ((n 0))\n (define-thing a 1)\n (defun one () n))", "(let ((n 1)) (define-thing a 2) (defun one () n))"],
  ] as const) {
    it(`writes a form with a call of the program's macro that defines nothing, or the same: ${evaluated}`, async () => {
      const source = (form: string) => `(in-package :toll)\n${MACROS}\n${form}\n`;
      await writeSource(source(inFile));
      await server.evaluate(`(load ${JSON.stringify(file)}) ${evaluated}`);
      expect(await answer({ name: "one", "dry-run": false })).to.include(": written");
      expect(await readFile(file, "utf8")).to.equal(source(evaluated));
    });
  }

  it("writes a form with several definitions once, whichever of them is named", async () => {
    const source = "(in-package :toll)\n(let ((n 0))\n (defun one () n)\n (defun two () (incf n)))\n";
    const evaluated = "(let ((n 9))\n (defun one () n)\n (defun two () (decf n)))";
    for (const names of [["one"], ["two"], []]) {
      await writeSource(source);
      await server.evaluate(`(load ${JSON.stringify(file)}) ${evaluated}`);
      const text = await answer(names.length === 0 ? { "dry-run": false } : { name: names[0], "dry-run": false });
      expect(text.match(/: written/g), text).to.have.lengthOf(1);
      expect(await readFile(file, "utf8")).to.equal(`(in-package :toll)\n${evaluated}\n`);
      expect(await answer({ file }, "list-changes")).to.equal("Image and files agree.");
    }
    await server.evaluate("(let ((n 3)) (defun three () n) (defun four () n))");
    for (const name of ["three", "four"]) expect(await answer({ name, file })).to.match(/would be (written|appended)/);
  });

  it("writes what compile-code has loaded, also behind another in-package", async () => {
    const compiled = await server.call("compile-code", {
      code: "(defun price (cart) (* 7 cart)) (in-package :cl-user) (defun toll::last-one () 7)",
      load: true,
    });
    expect(blocks(compiled)[0]).to.match(/It is loaded\.$/);
    expectFacts(
      await answer({ "dry-run": false }),
      "function PRICE FOLDER/toll.lisp:6:1: written\n",
      "function LAST-ONE FOLDER/toll.lisp:21:1: not written: it was evaluated in another package than the file's. Evaluate it in the package of that place, then save again",
    );
  });

  it("shows only the definitions of a file that it is given without a name", async () => {
    await server.evaluate("(defun price (cart) (* 7 cart)) (defun scratch () 1)");
    expect(await answer({ file }))
      .to.match(/^function PRICE .*: would be written;/)
      .and.not.include("SCRATCH");
  });

  it("appends a named definition that no file has to the file it is told", async () => {
    await server.evaluate("(defun fresh ()\n  1) (defmethod pay ((thing list)) 3)");
    expectFacts(
      await answer({ name: "fresh", file, "dry-run": false }),
      "function FRESH FOLDER/toll.lisp:23:1: written\n  + (defun fresh ()\n  +   1)",
    );
    expectFacts(
      await answer({ name: "(method pay (list))", file, "dry-run": false }),
      "(METHOD PAY (LIST)) FOLDER/toll.lisp:26:1: written\n  + (defmethod pay ((thing list)) 3)",
    );
    expect(await readFile(file, "utf8")).to.equal(
      `${SOURCE}\n\n(defun fresh ()\n  1)\n\n(defmethod pay ((thing list)) 3)\n`,
    );
    expect(await answer({ file, text: false }, "list-changes")).to.equal("Image and files agree.");
  });

  it("knows where it has appended definitions, even to files that were never loaded", async () => {
    const [one, two] = [join(folder, "one.lisp"), join(folder, "two.lisp")];
    for (const name of [one, two]) await writeFile(name, "(in-package :toll)\n");
    const listed = () => answer({ text: false }, "list-changes");
    await server.evaluate("(defun fresh () 1) (defmethod pay ((thing list)) 3)");
    await answer({ name: "fresh", file: one, "dry-run": false });
    await answer({ name: "(method pay (list))", file: two, "dry-run": false });
    expect(await listed()).to.equal("Image and files agree.");
    await server.evaluate("(defun fresh () 2)");
    expect(await listed())
      .to.include("one.lisp")
      .and.not.include("in no file");
    expect(await answer({ name: "fresh", "dry-run": false })).to.match(/one\.lisp:3:1: written/);
    expect(await readFile(one, "utf8")).to.equal("(in-package :toll)\n\n(defun fresh () 2)\n");
    expect(await listed()).to.equal("Image and files agree.");
    await writeFile(one, "(in-package :toll)\n\n(defun fresh () 1)\n");
    expect(await listed())
      .to.include("one.lisp")
      .and.not.include("in no file");
    await server.evaluate("(defun fresh () 4)");
    expect(await answer({ name: "fresh", "dry-run": false })).to.match(/one\.lisp:3:1: not written/);
    await rm(one);
    expect(await listed()).to.equal("Only in the image, in no file:\nfunction FRESH");
  });

  it("appends no definition that the file already has, or may have where it cannot be read", async () => {
    const other = join(folder, "other.lisp");
    const text = "(in-package :toll)\n(export 'dup)\n\n(defun dup () 1)\n";
    await writeFile(other, text);
    await server.evaluate("(defun dup () 2) (defun hidden () 2)");
    expectFacts(
      await answer({ name: "dup", file: other, "dry-run": false }),
      "function DUP FOLDER/other.lisp:4:1: not written: the file already has this form here, but the image has not loaded it.",
    );
    expect(await readFile(other, "utf8")).to.equal(text);
    const broken = `${text}\n(defun broken ()\n  (list 1)\n\n(defun hidden () 1)\n`;
    await writeFile(other, broken);
    expectFacts(
      await answer({ name: "hidden", file: other, "dry-run": false }),
      "function HIDDEN FOLDER/other.lisp:6:1: not written: the form that begins here cannot be read, so the definition may follow.",
    );
    expect(await answer({ name: "dup", file: other, "dry-run": false })).to.match(/other\.lisp:4:1: not written/);
    expect(await readFile(other, "utf8")).to.equal(broken);
    await writeFile(other, "(in-package :toll)\n(export '(dup hidden))\n");
    expect(await answer({ name: "dup", file: other, "dry-run": false })).to.match(/other\.lisp:4:1: written/);
  });

  it("keeps the encoding and the line ends of the file", async () => {
    const other = join(folder, "latin.lisp");
    await writeFile(other, Buffer.from('(in-package :toll)\r\n(defun gr\xfc\xdfe ()\r\n  "\xe4")\r\n', "latin1"));
    await utimes(other, EARLIER, EARLIER);
    await server.evaluate(`(load ${JSON.stringify(other)} :external-format :latin-1) (defun grüße ()\n  "ö")`);
    expect(await answer({ "dry-run": false })).to.match(/latin\.lisp:2:1: written/);
    expect(await readFile(other, "latin1")).to.equal('(in-package :toll)\r\n(defun grüße ()\r\n  "ö")\r\n');
    await server.evaluate('(defun grüße () "𝄞")');
    expect(await answer({ "dry-run": false })).to.match(/not written: the encoding/);
  });

  for (const [what, encode] of [
    ["UTF-16", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le")],
    ["UTF-16, big-endian", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
    ["UTF-16 without a mark", (text: string) => Buffer.from(text, "utf16le")],
    ["UTF-32", (text: string) => utf32(`\ufeff${text}`)],
    ["UTF-32, big-endian", (text: string) => utf32(`\ufeff${text}`).swap32()],
    ["UTF-8 with a mark", (text: string) => Buffer.from(`\ufeff${text}`)],
    ["Latin-1 that names itself", (text: string) => Buffer.from(`;;; -*- coding: latin-1 -*-\r\n${text}`, "latin1")],
  ] as const) {
    it(`appends to a file in ${what} in its encoding`, async () => {
      const other = join(folder, "other.lisp");
      const text = "(in-package :toll)\r\n(defun a () 1) ; ä";
      await writeFile(other, encode(text));
      await server.evaluate('(defun added () "ö")');
      expect(await answer({ name: "added", file: other, "dry-run": false })).to.match(/other\.lisp:\d+:\d+: written/);
      expect(await readFile(other)).to.deep.equal(encode(`${text}\r\n\r\n(defun added () "ö")\r\n`));
    });
  }

  it("appends to no file that is binary or has several hard links", async () => {
    await server.evaluate("(defun added () 1)");
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    for (const [name, octets] of [
      ["image.png", Buffer.from(pixel, "base64")],
      ["cut.lisp", Buffer.from("(in-package :toll)\n\0\n")],
      ["packed.gz", Buffer.from([0x1f, 0x8b, 8, 1, 2, 3])],
    ] as const) {
      await writeFile(join(folder, name), octets);
      const args = { name: "added", file: join(folder, name), "dry-run": false };
      expect(await answer(args), name).to.match(/not written: the file is not a text/);
      expect(await readFile(join(folder, name)), name).to.deep.equal(octets);
    }
    const other = join(folder, "other.lisp");
    await writeFile(other, "(in-package :toll)\n");
    await link(other, join(folder, "link.lisp"));
    expect(await answer({ name: "added", file: other, "dry-run": false })).to.match(/several hard links/);
  });

  it("appends to no file that is not Lisp, and to one without a Lisp type only if it has Lisp forms", async () => {
    await server.evaluate("(defun added () 1)");
    for (const [name, text] of [
      ["d.json", '{"a": 1}\n'],
      ["run.sh", '#!/bin/sh\nf() { (cd x; ls); }\n(list "a")\n'],
      ["empty", ""],
      ["emacs.el", "(defun added-before () 1)\n"],
    ] as const) {
      const other = join(folder, name);
      await writeFile(other, text);
      const args = { name: "added", file: other, "dry-run": false };
      expect(await answer(args), name).to.match(/not written: the file is no Lisp source/);
      expect(await readFile(other, "utf8"), name).to.equal(text);
    }
    const script = join(folder, "script");
    await writeFile(script, "#!/usr/bin/sbcl --script\n(in-package :toll)\n");
    expect(await answer({ name: "added", file: script, "dry-run": false })).to.match(/script:4:1: written/);
  });

  it("warns of comments inside the form that the evaluated text does not have", async () => {
    await writeSource(
      "(in-package :toll)\n(defun price (cart) ; in cents\n  ;; twice\n  #| why |# (* 2 cart)) ; after\n",
    );
    await server.evaluate(
      `(load ${JSON.stringify(file)}) (defun price (cart)\n  ;; twice\n  (list "; no" #\\; (* 2 cart)))`,
    );
    const warning = "2 comments inside the form are not in the evaluated text. To keep them, evaluate";
    expect(await answer({ name: "price" })).to.include(warning);
    await server.evaluate("(defun price (cart) ; in cents\n  ;; twice\n  (* 3 cart))");
    expect(await answer({ name: "price", "dry-run": false })).to.include("A comment inside the form is not in the");
    await server.evaluate("(defun price (cart) ; in cents\n  ;; twice\n  (* 4 cart))");
    expect(await answer({ name: "price" })).to.not.include("comment");
    await writeSource("(in-package :toll)\n(defun price (cart) ; twice\n  (* 2 cart ; twice\n     ))\n");
    await server.evaluate(`(load ${JSON.stringify(file)}) (defun price (cart) ; twice\n  (* 3 cart))`);
    expect(await answer({ name: "price" })).to.include("A comment inside the form is not in the");
  });

  it("refuses what it could do wrong, and writes nothing then", async () => {
    await writeSource(SOURCE.replace("(* 2 cart)", "(* 5 cart)"));
    await server.evaluate("(defun price (cart) (* 6 cart)) (defun conditional () 2) (defun twice () 2)");
    await server.evaluate("(in-package :cl-user) (defun toll::last-one () 2) (in-package :toll)");
    expectFacts(
      await answer({ "dry-run": false }),
      "function PRICE FOLDER/toll.lisp:6:1: not written: this form changed in the file since it was loaded. Merge the two by hand",
      "function CONDITIONAL FOLDER/toll.lisp:18:1: not written: #+ or #- precedes the form in the file.",
      "function TWICE FOLDER/toll.lisp:20:1: not written: the file has several such forms.",
      "function LAST-ONE FOLDER/toll.lisp:21:1: not written: it was evaluated in another package",
    );
    expect(await readFile(file, "utf8")).to.equal(SOURCE.replace("(* 2 cart)", "(* 5 cart)"));
    await server.evaluate("(defun unwritable () 1)");
    expect(await answer({ name: "unwritable", file: "/dev/null", "dry-run": false })).to.match(
      /\/dev\/null is a pipe or a device, not a file\./,
    );
  });

  it("tells conditional forms from those after skipped ones, and writes to no file that is read-only", async () => {
    await writeSource(`(in-package :toll)
#-sbcl
(defun other () 1)
(defun plain () 1)
(progn #-sbcl (defun other () 2) (defun inside () 1) #+sbcl (progn (defun within () 1)))
`);
    await server.evaluate(`(load ${JSON.stringify(file)}) (defun plain () 2) (defun inside () 2) (defun within () 2)`);
    expectFacts(
      await answer({ "dry-run": false }),
      "function PLAIN FOLDER/toll.lisp:4:1: written\n…function INSIDE FOLDER/toll.lisp:5:34: written\n",
      "function WITHIN FOLDER/toll.lisp:5:68: not written: #+ or #- precedes the form in the file.",
    );
    await chmod(file, 0o444);
    await server.evaluate("(defun plain () 3)");
    expect(await answer({ name: "plain", "dry-run": false })).to.match(/not written: the file is read-only/);
    expect((await stat(file)).mode & 0o777).to.equal(0o444);
  });

  it("writes under no unsaved edits of an Emacs on any machine, but ignores the lock of one that has crashed", async () => {
    const lock = join(folder, ".#toll.lisp");
    const refused = /toll\.lisp:6:1: not written: the file has unsaved edits in the user's Emacs.* \((.*)\)$/m;
    await server.evaluate("(defun price (cart) (* 3 cart))");
    const here = hostname();
    for (const owner of [`me@${here}.${process.pid}`, "me@far.example.org.4711", "a@b@far.99999999", "somebody"]) {
      await symlink(`${owner}${owner === "somebody" ? "" : ":1700000000"}`, lock);
      for (const dryRun of [true, false])
        expect(refused.exec(await answer({ "dry-run": dryRun }))?.[1]).to.equal(owner);
      await rm(lock);
    }
    await writeFile(lock, "me@far.4711:1700000000\n");
    expect(refused.exec(await answer({ "dry-run": false }))?.[1]).to.equal("me@far.4711");
    expect(await readFile(file, "utf8")).to.equal(SOURCE);
    await rm(lock);
    await symlink(`me@${here}.99999999:1700000000`, lock);
    expect(await answer({ "dry-run": false })).to.match(/toll\.lisp:6:1: written/);
    expect((await lstat(lock)).isSymbolicLink()).to.equal(true);
  });

  it("writes to the file behind a symbolic link, and keeps tabs", async () => {
    const real = join(folder, "real.lisp");
    await writeFile(real, "(in-package :toll)\n(defun linked ()\n\t1)\n");
    await utimes(real, EARLIER, EARLIER);
    await symlink(real, join(folder, "link.lisp"));
    await server.evaluate(`(load ${JSON.stringify(join(folder, "link.lisp"))}) (defun linked ()\n\t2)`);
    expect(await answer({ "dry-run": false })).to.match(/real\.lisp:2:1: written/);
    expect(await readFile(real, "utf8")).to.equal("(in-package :toll)\n(defun linked ()\n\t2)\n");
    expect((await lstat(join(folder, "link.lisp"))).isSymbolicLink()).to.equal(true);
  });
});
