import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveServer } from "../../support/live-server.js";
import { blocks, markedText } from "../../support/mcp-results.js";

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
  const server = liveServer({ code: [ZMAIL, MANY] });

  const found = async (args: object) => markedText(await server.call("apropos-search", args));

  it("lists names by package with kind, arglist and the first line of documentation", async () => {
    expectFacts(
      await found({ pattern: "zmail" }),
      '16 names contain "zmail":…OTHER-ZMAIL::SEND-ZMAIL function (): Sends.\n\nZMAIL:*ZMAIL-LIMIT* variable: The most.',
      "ZMAIL:SORT-ZMAIL function (MESSAGES &KEY (KEY #'IDENTITY)): Sort messages.\nZMAIL:ZMAIL-ERROR condition",
      "::+ZMAIL-PORT+ constant…::WITH-ZMAIL macro ((VAR) &BODY BODY)…::ZMAIL-ALIAS symbol macro…::ZMAIL-ID type",
      "::ZMAIL-NOTE structure…::ZMAIL-SIZE generic function (ZMAIL)…::ZMAILBOX class",
      "\n\nNot shown: 2 names without a definition.",
    );
  });

  it("narrows by package, kind and export", async () => {
    expectFacts(
      [
        await found({ pattern: "zmail", package: "other-zmail" }),
        await found({ pattern: "zmail", kind: "class" }),
        await found({ pattern: "zmail", package: "ZMAIL", external: true }),
        await found({ pattern: "mapcar", kind: "macro", package: "cl" }),
      ].join("\n\n"),
      '1 name contains "zmail":\n\nOTHER-ZMAIL::SEND-ZMAIL function',
      "3 names…condition…structure…class…13 names of another kind.",
      "3 names…*ZMAIL-LIMIT* variable…SORT-ZMAIL function…12 names not exported.",
      'No name contains "mapcar".\n1 name of another kind does.',
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
    expectFacts(
      [
        await found({ pattern: "sort-zmial" }),
        await found({ pattern: "never-interned-name" }),
        await found({ pattern: "^sort.*" }),
        await found({ pattern: "zmail-nothing" }),
        await found({ pattern: "zmail:sort-zmail" }),
      ].join("\n\n"),
      '"sort-zmial".\nSimilar names: ZMAIL:SORT-ZMAIL',
      '"never-interned-name".\n\n',
      '"^sort.*".\nFor a regular expression, pass regexp: true.',
      "1 name without a definition does.",
      'pass pattern: "sort-zmail", package: "zmail".',
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

  it("refuses bad patterns", async () => {
    const bad = await server.call("apropos-search", { pattern: "(a", regexp: true });
    expect(blocks(bad)).to.deep.equal([
      "apropos-search: The pattern is no regular expression. A parenthesis is not closed; \\( matches one.\nCorrect the pattern, or leave out regexp to search for the text.",
    ]);
  });
});
