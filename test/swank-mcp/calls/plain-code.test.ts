import { expect } from "chai";
import { Refusal } from "swank-mcp";
import { plainCode } from "#swank-mcp/call/arguments.js";

const FENCE = "```";

/** What a chat writes around code, and the code. */
const WRAPPED: readonly (readonly [string, string])[] = [
  ["> (a\n>   b)\n> (c)", "(a\n  b)\n(c)"],
  ["CL-USER> (a b)", " (a b)"],
  ["MY-APP/SRC> 'a", " 'a"],
  ["\uFEFF(a)", "(a)"],
];

/** Code with marks of which Lisp would read some as code. */
const MIXED: readonly string[] = [
  `${FENCE}lisp\n(a)\n(b)\n${FENCE}`,
  `\n${FENCE}\n(a)\n${FENCE}\n`,
  `${FENCE}common-lisp\r\n(a)\r\n${FENCE}`,
  "~~~lisp\n(a)\n~~~",
  "````lisp\n(a)\n````",
  `${FENCE}lisp (a) (b)${FENCE}`,
  `${FENCE}(a)${FENCE}`,
  `> ${FENCE}lisp\n> (a)\n> ${FENCE}`,
  `${FENCE}\nCL-USER> (a)\n${FENCE}`,
  `Here it is:\n${FENCE}lisp\n(a)\n${FENCE}`,
  `${FENCE}lisp\n(a)\n${FENCE}\nand\n${FENCE}lisp\n(b)\n${FENCE}`,
  `${FENCE}lisp\n(a)`,
  `(a)\n${FENCE}`,
  "(+ 1 2)\n~~~\n",
  `${FENCE}(a)\n(b)\n${FENCE}`,
  "(a)\n> (b)",
  "> (a)\n(b)",
  "CL-USER> (a)\n1\nCL-USER> (b)",
  "CL-USER> (a)\n42",
];

/** Code that only looks like that. */
const PLAIN: readonly string[] = [
  "(a)",
  "`(a ,b)",
  "``(a ,,b)",
  "(> 1 2)",
  ">",
  `(defun f () "\n${FENCE}lisp\n(f)\n${FENCE}\n" 1)`,
  `#|\n${FENCE}\n|# (a)`,
  `; ${FENCE}\n(a)`,
  "(list A> B>)",
  '"> (a)"',
  "(a",
  '(princ "```\n\u201chello\u201d \\n \u00a0")',
  "; a comment with \u201cquotes\u201d and \\n\n(+ 1 2)",
  "#| ```\n\u00a0 |# (+ 1 2)",
  "(list #\\n #\\\u201c #\\\u00a0 #\\No-break_space)",
  "(list '|a \\n b| 'a\\nb \u201cx\u201d)",
  "`(a `(b ,,@c))",
  "(setf été 1 λ 2 日本 3)",
  "(defun f ()\n  1)\n",
  '(list \'\\" "foo \\n bar")',
  "#| #| x |# don't \\n do |# (f)",
  "(case x (\\n 1) (\\t 2))",
  `(length "${"a".repeat(900_000)}\\n ")`,
];

describe("plainCode", () => {
  for (const [text, code] of WRAPPED) {
    it(`removes what is around the code in ${JSON.stringify(text)}`, () => expect(plainCode(text)).to.equal(code));
  }
  for (const text of MIXED) {
    it(`refuses ${JSON.stringify(text)}`, () =>
      expect(() => plainCode(text)).to.throw(Refusal, /^The argument "code" holds a .*Nothing was run/));
  }
  it("refuses code that was escaped twice, and names the place", () =>
    expect(() => plainCode("(defun f ()\\n  (print 1))")).to.throw(
      Refusal,
      /^The code has \\n in place of a line break at column 12\. Nothing was run\.$/,
    ));
  for (const text of PLAIN) {
    it(`leaves ${JSON.stringify(text).slice(0, 60)}`, () => expect(plainCode(text)).to.equal(text));
  }
});
