import { expect } from "chai";
import { blocks, markedText } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { Snapshots } from "../../support/snapshots.js";

const ZMAIL = `(defpackage :zmail (:use :cl) (:export #:sort-zmail #:*zmail-limit* #:zmail-error))
(in-package :zmail)
(defun sort-zmail (messages &key (key #'identity))
  "Sort messages.

By key." (sort messages #'< :key key))
(defgeneric zmail-size (zmail))
(defmacro with-zmail ((var) &body body) \`(let ((,var 1)) ,@body))
(defvar *zmail-limit* 10 "The most.")
(defconstant +zmail-port+ 25)
(define-condition zmail-error (error) ())
(defclass zmailbox () ())
(defstruct zmail-note text)
(deftype zmail-id () 'integer)
(define-symbol-macro zmail-alias *zmail-limit*)
(defun zmail-broken-documentation () nil)
(intern "ZMAIL-NOTHING")
(defpackage :other-zmail (:use :cl))
(defun other-zmail::send-zmail () "Sends." 1)
(in-package :cl-user)`;

const MANY = `(let ((package (make-package "MANY" :use '())))
  (dotimes (n 40000) (setf (symbol-value (intern (format nil "ENTRY-~5,'0d" n) package)) n)))`;

describe("apropos-search", () => {
  const snapshots = new Snapshots(import.meta.url);
  let server: McpStdio;

  before(async () => {
    server = await McpStdio.start();
    await server.evaluate(ZMAIL);
    await server.evaluate(MANY);
  });
  after(() => server.close());

  /** The whole answer, marked if it is an error. */
  async function found(args: object): Promise<string> {
    const result = await server.call("apropos-search", args);
    return markedText(result);
  }

  it("lists names by package with kind, arglist and the first line of documentation", async () => {
    snapshots.match("a part of names", await found({ pattern: "zmail" }));
  });

  it("narrows by package, kind and export", async () => {
    snapshots.match(
      "narrowed",
      [
        await found({ pattern: "zmail", package: "other-zmail" }),
        await found({ pattern: "zmail", kind: "class" }),
        await found({ pattern: "zmail", package: "ZMAIL", external: true }),
        await found({ pattern: "mapcar", kind: "macro", package: "cl" }),
      ].join("\n\n"),
    );
  });

  it("takes regular expressions", async () => {
    expect(await found({ pattern: "^(sort|send)-z.*l$", regexp: true })).to.match(
      /^2 names match "\^\(sort\|send\)-z\.\*l\$":\n\nOTHER-ZMAIL::SEND-ZMAIL function \(\): Sends\.\n\nZMAIL:SORT-ZMAIL function .*: Sort messages\.$/,
    );
  });

  it("counts what it leaves out of 40,000 symbols", async () => {
    expect(await found({ pattern: "entry-", package: "many", limit: 2 })).to.equal(
      '40000 names contain "entry-"; the first 2:\n\nMANY::ENTRY-00000 variable\nMANY::ENTRY-00001 variable\n\nLeft out: MANY 39998. Narrow the search with package, kind or external.',
    );
    expect(await found({ pattern: "^entry-(0|1)*$", regexp: true, limit: 1 }))
      .to.include("32 names match")
      .and.include("MANY 31");
  });

  it("names what is near if nothing is found, and interns nothing", async () => {
    snapshots.match(
      "nothing found",
      [
        await found({ pattern: "sort-zmial" }),
        await found({ pattern: "never-interned-name" }),
        await found({ pattern: "^sort.*" }),
        await found({ pattern: "zmail-nothing" }),
        await found({ pattern: "sort", package: "zmial" }),
        await found({ pattern: "zmail:sort-zmail" }),
      ].join("\n\n"),
    );
    expect(await server.evaluate('(find-symbol "NEVER-INTERNED-NAME")')).to.deep.equal(["=> NIL\n=> NIL"]);
  });

  it("gives the names as data", async () => {
    const { _meta } = await server.call("apropos-search", { pattern: "sort-zmail" });
    expect(_meta).to.deep.equal({
      "swank-mcp/names": {
        status: "found",
        count: 1,
        names: [{ name: "ZMAIL:SORT-ZMAIL", package: "ZMAIL", access: "external", kinds: ["function"] }],
        left_out: [],
        undefined: 0,
        filtered: 0,
        similar: [],
      },
    });
  });

  it("refuses bad patterns and arguments", async () => {
    const bad = await server.call("apropos-search", { pattern: "(a", regexp: true });
    expect(blocks(bad)).to.deep.equal([
      "apropos-search: The pattern is no regular expression. A parenthesis is not closed; \\( matches one.\nCorrect the pattern, or leave out regexp to search for the text.",
    ]);
    for (const args of [{}, { pattern: "" }, { pattern: "a", kind: "verb" }, { pattern: "a", limit: 0 }]) {
      const result = await server.call("apropos-search", args);
      expect(result.structuredContent, JSON.stringify(args)).to.have.nested.property(
        "error.data.type",
        "INVALID_ARGUMENTS",
      );
    }
  });

  snapshots.testCompleteness();
});
