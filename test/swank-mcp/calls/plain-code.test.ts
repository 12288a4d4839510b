import { expect } from "chai";
import { Refusal } from "swank-mcp";
import { plainCode } from "#swank-mcp/call/arguments.js";

const FENCE = "```";

/** What a chat writes around code, and the code. */
const WRAPPED: readonly (readonly [string, string])[] = [
  [`${FENCE}lisp\n(a)\n(b)\n${FENCE}`, "(a)\n(b)"],
  [`\n${FENCE}\n(a)\n${FENCE}\n`, "(a)"],
  [`${FENCE}common-lisp\r\n(a)\r\n${FENCE}`, "(a)\r"],
  ["~~~lisp\n(a)\n~~~", "(a)"],
  ["````lisp\n(a)\n````", "(a)"],
  [`${FENCE}lisp (a) (b)${FENCE}`, "(a) (b)"],
  [`${FENCE}(a)${FENCE}`, "(a)"],
  ["> (a\n>   b)\n> (c)", "(a\n  b)\n(c)"],
  [`> ${FENCE}lisp\n> (a)\n> ${FENCE}`, "(a)"],
  ["CL-USER> (a b)", " (a b)"],
  ["MY-APP/SRC> 'a", " 'a"],
  [`${FENCE}\nCL-USER> (a)\n${FENCE}`, " (a)"],
  ["\uFEFF(a)", "(a)"],
];

/** Code with marks of which Lisp would read some as code. */
const MIXED: readonly string[] = [
  `Here it is:\n${FENCE}lisp\n(a)\n${FENCE}`,
  `${FENCE}lisp\n(a)\n${FENCE}\nand\n${FENCE}lisp\n(b)\n${FENCE}`,
  `${FENCE}lisp\n(a)`,
  `(a)\n${FENCE}`,
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
];

describe("plainCode", () => {
  for (const [text, code] of WRAPPED) {
    it(`removes what is around the code in ${JSON.stringify(text)}`, () => expect(plainCode(text)).to.equal(code));
  }
  for (const text of MIXED) {
    it(`refuses ${JSON.stringify(text)}`, () =>
      expect(() => plainCode(text)).to.throw(Refusal, /^The argument "code" holds a .*Nothing was run/));
  }
  for (const text of PLAIN) {
    it(`leaves ${JSON.stringify(text)}`, () => expect(plainCode(text)).to.equal(text));
  }
});
