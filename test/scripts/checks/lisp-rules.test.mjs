import { expect } from "chai";
import { lispProblems } from "../../../scripts/checks/lisp-rules.mjs";

const FILE = "packages/swank-client/lisp/evaluate/control.lisp";

const CASES = [
  { what: "a symbol that another package does not export", code: "(swank::send thread message)" },
  { what: "an internal symbol of SBCL", code: "(let ((sb-c::*policy* nil)) 1)" },
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

    it(`allows in compat/ ${what}`, () => {
      expect(lispProblems("packages/swank-client/lisp/compat/swank.lisp", code)).to.deep.equal([]);
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
