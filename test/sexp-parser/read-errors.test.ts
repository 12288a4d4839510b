import { expect } from "chai";
import { ERRORS, explain, type ReadErrorCode, read, readAll, SexpError, symbol } from "sexp-parser";

function errorOf(action: () => unknown): SexpError {
  try {
    action();
  } catch (error) {
    if (error instanceof SexpError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** Invalid texts with the code and offset of the error. */
const CASES: readonly (readonly [text: string, code: ReadErrorCode, offset: number])[] = [
  ["", "EMPTY", 0],
  [" ; nothing", "EMPTY", 0],
  ["#| nothing |#", "EMPTY", 0],
  ["a b", "TRAILING_DATUM", 2],
  ["(a) ; x\n)", "TRAILING_DATUM", 8],
  ["a #| b", "UNCLOSED_COMMENT", 2],
  ["(", "UNCLOSED_LIST", 0],
  ["(a (b c", "UNCLOSED_LIST", 3],
  ["(a (b) ", "UNCLOSED_LIST", 0],
  ["(a . b", "UNCLOSED_LIST", 0],
  ["(a . ", "UNCLOSED_LIST", 0],
  ["#(a", "UNCLOSED_LIST", 1],
  ["#.(a", "UNCLOSED_LIST", 2],
  [")", "UNEXPECTED_CLOSE", 0],
  [" )", "UNEXPECTED_CLOSE", 1],
  ['"abc', "UNCLOSED_STRING", 0],
  ['(a "b\\"', "UNCLOSED_STRING", 3],
  ['"\\', "UNCLOSED_STRING", 0],
  ["(a |b", "UNCLOSED_SYMBOL", 3],
  ["|a\\|", "UNCLOSED_SYMBOL", 0],
  ["ab\\", "UNCLOSED_SYMBOL", 0],
  ["#:|a", "UNCLOSED_SYMBOL", 2],
  ["#\\a\\", "UNCLOSED_SYMBOL", 0],
  ["(a #| b #| |# ", "UNCLOSED_COMMENT", 3],
  ["#|#|#|#a", "UNCLOSED_COMMENT", 0],
  ["#|", "UNCLOSED_COMMENT", 0],
  ["#|#", "UNCLOSED_COMMENT", 0],
  ["(a #<b", "UNCLOSED_UNREADABLE", 3],
  ["#<a #<b>", "UNCLOSED_UNREADABLE", 0],
  ["'", "MISSING_DATUM", 0],
  ["(a ')", "MISSING_DATUM", 3],
  ["(a #')", "MISSING_DATUM", 3],
  ["#. ", "MISSING_DATUM", 0],
  ["`", "MISSING_DATUM", 0],
  ["(,@)", "MISSING_DATUM", 1],
  ["#", "MISSING_DATUM", 0],
  ["#2", "MISSING_DATUM", 0],
  ["#2A", "MISSING_DATUM", 0],
  ["#\\", "MISSING_DATUM", 0],
  [".", "MISPLACED_DOT", 0],
  ["..", "MISPLACED_DOT", 0],
  ["(a ... b)", "MISPLACED_DOT", 3],
  ["( . a)", "MISPLACED_DOT", 2],
  ["(a . )", "MISPLACED_DOT", 5],
  ["(a . b c)", "MISPLACED_DOT", 7],
  ["(a . b (c))", "MISPLACED_DOT", 7],
  ["(a . b 'c)", "MISPLACED_DOT", 7],
  ["(a . b . c)", "MISPLACED_DOT", 7],
  ["(a . . b)", "MISPLACED_DOT", 5],
  ["(a . ( . b))", "MISPLACED_DOT", 7],
  ["(a . (b) c)", "MISPLACED_DOT", 9],
  ["(a ' . b)", "MISPLACED_DOT", 5],
  ["a:", "INVALID_SYMBOL", 0],
  ["(:)", "INVALID_SYMBOL", 1],
  ["::", "INVALID_SYMBOL", 0],
  ["a::", "INVALID_SYMBOL", 0],
  ["(x a:b:c)", "INVALID_SYMBOL", 3],
  ["a:::b", "INVALID_SYMBOL", 0],
  [":::b", "INVALID_SYMBOL", 0],
  ["||:a", "INVALID_SYMBOL", 0],
  ["#:a:b", "INVALID_SYMBOL", 2],
  ["(1/0)", "INVALID_NUMBER", 1],
  ["-5/00", "INVALID_NUMBER", 0],
  ["#xfg", "INVALID_NUMBER", 0],
  ["#b2", "INVALID_NUMBER", 0],
  ["#o", "INVALID_NUMBER", 0],
  ["#x1.0", "INVALID_NUMBER", 0],
  ["#x1/0", "INVALID_NUMBER", 0],
  ["#x-", "INVALID_NUMBER", 0],
  ["#1r0", "INVALID_NUMBER", 0],
  ["#37r0", "INVALID_NUMBER", 0],
  ["#r0", "INVALID_NUMBER", 0],
  ["(a #C(1))", "INVALID_LITERAL", 3],
  ["#C(1 2 3)", "INVALID_LITERAL", 0],
  ["#Ca", "INVALID_LITERAL", 0],
  ["#Pa", "INVALID_LITERAL", 0],
  ["#S(42)", "INVALID_LITERAL", 0],
  ["#S()", "INVALID_LITERAL", 0],
  ["#A(1)", "INVALID_LITERAL", 0],
  ["#(a . b)", "INVALID_LITERAL", 0],
  ["#2(a b c)", "INVALID_LITERAL", 0],
  ["#2()", "INVALID_LITERAL", 0],
  ["#99999999999(a)", "INVALID_LITERAL", 0],
  ["#*012", "INVALID_LITERAL", 0],
  ["#1*01", "INVALID_LITERAL", 0],
  ["#3*", "INVALID_LITERAL", 0],
  ["#99999999999*0", "INVALID_LITERAL", 0],
  ["(#?a)", "UNKNOWN_DISPATCH", 1],
  ["# a", "UNKNOWN_DISPATCH", 0],
  ["#)", "UNKNOWN_DISPATCH", 0],
  ["#=a", "UNKNOWN_DISPATCH", 0],
  ["##", "UNKNOWN_DISPATCH", 0],
  ["(a #+sbcl b)", "FEATURE_EXPRESSION", 3],
  ["#-sbcl a", "FEATURE_EXPRESSION", 0],
];

describe("read of invalid text", () => {
  for (const [text, code, offset] of CASES)
    it(`throws ${code} at ${offset} for ${JSON.stringify(text)}`, () => {
      const error = errorOf(() => read(text));
      expect({ code: error.code, offset: error.offset }).to.deep.equal({ code, offset });
    });

  it("covers every error code", () => {
    const met = new Set<string>(CASES.map(([, code]) => code));
    const others = ["UNPRINTABLE", "SHAPE", "TOO_DEEP", "NESTED_TOO_DEEP", "TOO_MANY_SYMBOLS", "NUMBER_TOO_LONG"];
    expect([...met, ...others]).to.have.members(Object.keys(ERRORS));
  });

  it("throws beyond maxDepth and maxNewSymbols", () => {
    expect(() => read("((a))", { maxDepth: 2 })).not.to.throw();
    for (const text of ["(((a)))", "((#(a)))", "(('a))"])
      expect(errorOf(() => read(text, { maxDepth: 2 })).code, text).to.equal("NESTED_TOO_DEEP");
    const names = "(new-1-of-limits new-2-of-limits #:new-3-of-limits)";
    expect(errorOf(() => read(names, { maxNewSymbols: 2 }))).to.include({ code: "TOO_MANY_SYMBOLS", offset: 35 });
    const symbols = read(names, { maxNewSymbols: 3 });
    expect(read(names, { maxNewSymbols: 0 })).to.deep.equal(symbols);
  });

  it("throws beyond maxNumberLength, for integers and ratios only", () => {
    for (const text of ["-123456", "+12345.", "123/456", "#xABCDEF", "#b1/1010", "1234.56", "abcdefg", "|123456|"])
      expect(() => read(text, { maxNumberLength: 7 }), text).not.to.throw();
    for (const text of ["1234567.", "-1234567", "1234/567", "#xABCDEF01", "#b1010101/1"])
      expect(
        errorOf(() => read(`(a ${text})`, { maxNumberLength: 7 })),
        text,
      ).to.include({ code: "NUMBER_TOO_LONG", offset: 3 });
    for (const text of ["12345678.9", "1234567e5", "abcdefgh", "|12345678|", "12345678a", "#*10101010"])
      expect(() => read(text, { maxNumberLength: 7 }), text).not.to.throw();
  });

  it("throws the same codes in readAll, except EMPTY and TRAILING_DATUM", () => {
    for (const [text, code] of CASES) {
      if (code === "EMPTY" || code === "TRAILING_DATUM") continue;
      expect(errorOf(() => readAll(text)).code, text).to.equal(code);
    }
    expect(errorOf(() => readAll("a )")).code).to.equal("UNEXPECTED_CLOSE");
  });
});

describe("SexpError", () => {
  const text = '(a\n  (b "c\nd")\n\t(e #C(1)))';
  const error = errorOf(() => read(text));

  it("has a code, an offset, and a line and column counted from 1", () => {
    expect(error).to.include({ name: "SexpError", code: "INVALID_LITERAL", offset: 19, line: 4, column: 5 });
    expect(error.message).to.equal(
      "The datum after a # syntax does not fit it, as in #C(1) or #S(42). (INVALID_LITERAL at line 4, column 5)",
    );
  });

  it("is explained with its line and a caret", () =>
    expect(explain(error, text)).to.equal(`${error.message}\n\t(e #C(1)))\n\t   ^`));

  it("is explained with part of a long line", () => {
    const long = `${"a ".repeat(1000)}#? ${"b ".repeat(1000)}`;
    const [, line = "", caret = ""] = explain(
      errorOf(() => readAll(long)),
      long,
    ).split("\n");
    expect(line.length).to.be.at.most(80);
    expect(line.slice(caret.indexOf("^"))).to.match(/^#\? b/);
  });

  it("has a position after a newline", () => {
    const unfinished = "a\nb #|";
    expect(errorOf(() => readAll(unfinished))).to.include({ line: 2, column: 3 });
  });
});

describe("symbol", () => {
  it("refuses text that is not exactly one symbol", () => {
    for (const text of ["1", '"a"', "(a)", "#\\a"])
      expect(errorOf(() => symbol(text)).code, text).to.equal("INVALID_SYMBOL");
    expect(errorOf(() => symbol("a b")).code).to.equal("TRAILING_DATUM");
    expect(errorOf(() => symbol("")).code).to.equal("EMPTY");
  });
});
