import { expect } from "chai";
import { lispProblems } from "../../../scripts/checks/lisp-rules.mjs";

const FILE = "packages/swank-client/lisp/evaluate/control.lisp";

const CASES = [
  { what: "an internal function of Swank's backend", code: "(swank/sbcl::mailbox thread)" },
  { what: "a symbol that another package does not export", code: "(swank::send thread message)" },
  { what: "a symbol that is looked up by its name", code: '(find-symbol "SEND" "SWANK")' },
  { what: "a symbol that is looked up with cl:find-symbol", code: '(cl:find-symbol "SEND" "SWANK")' },
  { what: "an import from another package", code: "(defpackage #:a (:import-from #:swank #:send))" },
];

describe("lispProblems", () => {
  for (const { what, code } of CASES) {
    it(`finds ${what}`, () => {
      const problems = lispProblems(FILE, `;;; one\n${code}\n`);
      expect(problems).to.have.lengthOf(1);
      expect(problems[0]).to.match(/control\.lisp:2: /);
    });

    it(`allows in port/ ${what}`, () => {
      expect(lispProblems("packages/swank-client/lisp/port/any-swank.lisp", code)).to.deep.equal([]);
    });
  }

  for (const code of [
    "(let ((sb-c::*policy* nil)) 1)",
    "(sb-thread::thread-os-tid thread)",
    "(list #'sb-di:frame-down)",
  ]) {
    it(`finds an internal of SBCL: ${code}`, () => {
      expect(lispProblems(FILE, code)).not.to.deep.equal([]);
      expect(lispProblems("packages/swank-client/lisp/port/sbcl-stack.lisp", code)).to.have.lengthOf(1);
    });
  }

  it("allows what SBCL offers to programs, and any of its symbols in the tests", () => {
    expect(lispProblems(FILE, "(sb-thread:make-thread #'sb-ext:gc)")).to.deep.equal([]);
    expect(lispProblems("packages/swank-client/lisp/tests/stops.lisp", "(error 'sb-int:bug)")).to.deep.equal([]);
  });

  for (const path of ["packages/swank-client/lisp/port/any-lisp.lisp", "packages/swank-client/lisp/text/files.lisp"]) {
    it(`allows SBCL in ${path} only behind #+sbcl`, () => {
      const code = "(defun a (x)\n  #+sbcl `(sb-thread:with-mutex (,x) (sb-ext:gc))\n  #-sbcl x)";
      expect(lispProblems(path, code)).to.deep.equal([]);
      expect(lispProblems(path, code.replace("#-sbcl x", "(sb-ext:gc)"))).to.have.lengthOf(1);
      expect(lispProblems(path, "(:use #:swank-client/sbcl-stack)")).not.to.deep.equal([]);
    });
  }

  it("ignores strings, comments, characters and the library's own packages", () => {
    const code = `;; swank::send\n"a \\" swank::send"\n#\\; #| sb-c::x |# (:import-from #:swank-client/connection #:attach)`;
    expect(lispProblems(FILE, code)).to.deep.equal([]);
  });

  it("ignores files outside the library", () => {
    expect(lispProblems("examples/debugging/race.lisp", "(swank::send 1)")).to.deep.equal([]);
  });
});
