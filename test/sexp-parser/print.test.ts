import { expect } from "chai";
import {
  dotted,
  FUNCTION,
  float,
  intern,
  keyword,
  list,
  NIL,
  PrintError,
  preview,
  print,
  QUOTE,
  quote,
  read,
  type Sexp,
  symbol,
  T,
  vector,
} from "sexp-parser";

function expectTexts(cases: readonly (readonly [datum: Sexp, text: string])[]): void {
  for (const [datum, text] of cases) it(`prints ${JSON.stringify(text)}`, () => expect(print(datum)).to.equal(text));
}

const [a, b] = [symbol("a"), symbol("b")];

describe("print", () => {
  describe("symbols", () => {
    expectTexts([
      [NIL, "nil"],
      [T, "t"],
      [keyword("emacs-rex"), ":emacs-rex"],
      [keyword("NIL"), ":nil"],
      [intern("Foo", "KEYWORD"), ":|Foo|"],
      [intern("", "KEYWORD"), ":||"],
      [symbol("swank:connection-info"), "swank:connection-info"],
      [symbol("swank::*emacs-connection*"), "swank::*emacs-connection*"],
      [intern("x y", "a:b", true), "|a:b|::|x y|"],
      [intern("G12", ""), "#:g12"],
      [intern("", ""), "#:||"],
      [intern("a"), "|a|"],
      [intern(""), "||"],
      [intern("123"), "|123|"],
      [intern("123", "P"), "p:|123|"],
      [intern("1+"), "1+"],
      [intern("-"), "-"],
      [intern("1E5"), "|1E5|"],
      [intern("+1"), "|+1|"],
      [intern("1/2"), "|1/2|"],
      [intern("1.5"), "|1.5|"],
      [intern("12."), "|12.|"],
      [intern("1_2"), "|1_2|"],
      [intern("X1"), "x1"],
      [intern("."), "|.|"],
      [intern("..."), "|...|"],
      [intern(".A"), ".a"],
      [intern("A:B"), "|A:B|"],
      [intern("A|B\\C"), "|A\\|B\\\\C|"],
      [intern("A(B"), "|A(B|"],
      [intern("A#B"), "|A#B|"],
      [intern("É"), "|É|"],
      [intern("*PRINT-CASE*"), "*print-case*"],
      [intern("FOO/BAR<=>"), "foo/bar<=>"],
    ]);
  });

  describe("other atoms", () => {
    expectTexts([
      ["", '""'],
      ['say "\\"\n\t\0é😀', '"say \\"\\\\\\"\n\t\0é😀"'],
      [0, "0"],
      [-0, "0"],
      [-42, "-42"],
      [2n ** 70n, "1180591620717411303424"],
      [{ kind: "ratio", numerator: -1n, denominator: 3n }, "-1/3"],
      [{ kind: "float", value: 1e30, text: "1.0D+30" }, "1.0D+30"],
      [float(1.5), "1.5d0"],
      [float(-0), "-0.0d0"],
      [float(3), "3d0"],
      [float(1e21), "1d21"],
      [float(1.5e-7), "1.5d-7"],
      [{ kind: "character", value: "a" }, "#\\a"],
      [{ kind: "character", value: "(" }, "#\\("],
      [{ kind: "character", value: " " }, "#\\Space"],
      [{ kind: "character", value: "\n" }, "#\\Newline"],
      [{ kind: "character", value: "é" }, "#\\é"],
      [{ kind: "character", value: "\u0080" }, "#\\U80"],
      [{ kind: "character", value: "\ud800" }, "#\\UD800"],
      [{ kind: "bit-vector", bits: "0101" }, "#*0101"],
      [{ kind: "pathname", namestring: '/tmp/"x"' }, '#P"/tmp/\\"x\\""'],
      [{ kind: "opaque", text: "#<foo {1}>" }, "#<foo {1}>"],
    ]);
  });

  describe("compounds", () => {
    expectTexts([
      [[], "nil"],
      [list(), "nil"],
      [[a], "(a)"],
      [[a, [b, NIL], []], "(a (b nil) nil)"],
      [quote([a]), "'(a)"],
      [[QUOTE], "(common-lisp:quote)"],
      [[QUOTE, a, b], "(common-lisp:quote a b)"],
      [[symbol("quote"), a], "(quote a)"],
      [[FUNCTION, a], "#'a"],
      [dotted([a, b], 1), "(a b . 1)"],
      [dotted([a], [b]), "(a b)"],
      [dotted([a], dotted([b], 1)), "(a b . 1)"],
      [{ kind: "dotted", items: [a], tail: [b] }, "(a . (b))"],
      [dotted([QUOTE], a), "(common-lisp:quote . a)"],
      [vector(), "#()"],
      [vector(1, a), "#(1 a)"],
      [{ kind: "array", rank: 2, contents: [[1], [2]] }, "#2A((1) (2))"],
      [{ kind: "array", rank: 0, contents: a }, "#0Aa"],
      [{ kind: "complex", real: 1, imaginary: -2 }, "#C(1 -2)"],
      [{ kind: "structure", name: a, slots: [keyword("x"), 1] }, "#S(a :x 1)"],
      [{ kind: "backquote", datum: [a, { kind: "splice", datum: b }] }, "`(a ,@b)"],
      [{ kind: "nsplice", datum: a }, ",.a"],
      [{ kind: "unquote", datum: a }, ",a"],
      [{ kind: "unquote", datum: intern("@A") }, ", @a"],
      [{ kind: "unquote", datum: intern(".A") }, ", .a"],
      [{ kind: "unquote", datum: { kind: "float", value: 0.5, text: ".5" } }, ", .5"],
    ]);
  });

  it("refuses values that are not Lisp data", () => {
    const values: Sexp[] = [
      1.5,
      Number.NaN,
      2 ** 53,
      { kind: "float", value: 1, text: ") (oops" },
      { kind: "float", value: 1, text: "12" },
      { kind: "ratio", numerator: 1n, denominator: 0n },
      { kind: "ratio", numerator: 1n, denominator: -2n },
      { kind: "character", value: "ab" },
      { kind: "character", value: "" },
      { kind: "bit-vector", bits: "012" },
      { kind: "array", rank: -1, contents: NIL },
      { kind: "array", rank: 1.5, contents: NIL },
    ];
    for (const value of values) expect(() => print([a, value]), String(value)).to.throw(PrintError, "UNPRINTABLE");
    expect(() => float(Number.NaN)).to.throw(PrintError);
    expect(() => float(Number.POSITIVE_INFINITY)).to.throw(PrintError);
  });
});

describe("print for callers without TypeScript", () => {
  const circular: unknown[] = [1];
  circular.push([circular]);
  const structure = { kind: "structure", name: symbol("a"), slots: new Array<unknown>(1) };
  structure.slots[0] = structure;
  const VALUES: readonly [what: string, value: unknown][] = [
    ["undefined", undefined],
    ["null", null],
    ["true", true],
    ["false", false],
    ["a function", () => 1],
    ["a JavaScript symbol", Symbol("x")],
    ["a date", new Date(0)],
    ["an object", { a: 1 }],
    ["an unknown kind", { kind: "hash-table" }],
    ["a list that contains itself", circular],
    ["a structure that contains itself", structure],
    ["a hole in a list", new Array(1)],
    ["a symbol without a name", { kind: "symbol" }],
    ["a dotted list without a tail", { kind: "dotted", items: [1] }],
    ["a dotted list without items", { kind: "dotted", tail: 1 }],
    ["a vector without items", { kind: "vector" }],
    ["a structure without slots", { kind: "structure", name: symbol("a") }],
    ["a pathname without a name", { kind: "pathname" }],
    ["an opaque datum without text", { kind: "opaque" }],
  ];
  for (const [what, value] of VALUES) {
    for (const datum of [value, [1, value, 2], { kind: "dotted", items: [1], tail: [value] }])
      it(`refuses ${what}${datum === value ? "" : " inside a list"}`, () =>
        expect(() => Reflect.apply(print, undefined, [datum])).to.throw(PrintError, "UNPRINTABLE"));
  }
});

describe("preview", () => {
  it("returns short text unchanged", () => expect(preview(read("(a (b) . c)"), 11)).to.equal("(a (b) . c)"));
  it("cuts long text and adds dots", () => expect(preview(read("(aaaa bbbb cccc)"), 8)).to.equal("(aaaa bb..."));
  it("does not print the data beyond the limit", () => {
    const tail: Sexp = { kind: "character", value: "not a character" };
    expect(preview([a, "x".repeat(1000), tail], 10)).to.equal('(a "xxxxxx...');
  });
});
