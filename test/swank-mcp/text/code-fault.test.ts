import { expect } from "chai";
import { codeFault } from "#swank-mcp/text/code-fault.js";

describe("codeFault", () => {
  for (const [code, message] of [
    ["```lisp\n(+ 1 2)\n```", /^The code is in a Markdown fence\. Nothing was run\.$/],
    ["(+ 1 2)\n~~~\n", /Markdown fence/],
    ["(defun f ()\\n  (print 1))", /^The code has \\n in place of a line break at column 12\. Nothing was run\.$/],
  ] as const)
    it(`names the fault of ${JSON.stringify(code)}`, () => {
      const fault = codeFault(code);
      expect(fault?.message).to.match(message);
      expect(fault?.remedy).to.match(/\.$/);
    });

  for (const code of [
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
  ])
    it(`finds none in ${JSON.stringify(code).slice(0, 60)}`, () => {
      expect(codeFault(code)).to.equal(undefined);
    });
});
