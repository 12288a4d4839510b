import { expect } from "chai";
import { FUNCTION, intern, isSymbol, keyword, NIL, QUOTE, read, readAll, type Sexp, symbol, T } from "sexp-parser";

const float = (value: number, text: string): Sexp => ({ kind: "float", value, text });
const ratio = (numerator: bigint, denominator: bigint): Sexp => ({ kind: "ratio", numerator, denominator });
const character = (value: string): Sexp => ({ kind: "character", value });
const opaque = (text: string): Sexp => ({ kind: "opaque", text });

function expectData(cases: readonly (readonly [text: string, datum: Sexp])[]): void {
  for (const [text, datum] of cases) it(`reads ${JSON.stringify(text)}`, () => expect(read(text)).to.deep.equal(datum));
}

describe("read of nil and t", () => {
  expectData([
    ...["nil", "NIL", "()", "( )", "|NIL|"].map((text) => [text, NIL] as const),
    ...["t", "T"].map((text) => [text, T] as const),
  ]);

  it("keeps symbols of the same name in other packages apart", () => {
    for (const text of [":nil", "foo::nil", "#:nil", "|nil|"]) expect(read(text)).not.to.equal(NIL);
  });
});

describe("read of symbols", () => {
  expectData([
    ["foo", intern("FOO")],
    ["Foo", intern("FOO")],
    [":foo", intern("FOO", "KEYWORD")],
    ["::foo", intern("FOO", "KEYWORD")],
    ["keyword:foo", intern("FOO", "KEYWORD")],
    ["keyword::foo", intern("FOO", "KEYWORD")],
    [":|Foo|", intern("Foo", "KEYWORD")],
    [":123", intern("123", "KEYWORD")],
    ["common-lisp:car", intern("CAR", "COMMON-LISP")],
    ["swank::present-repl-results", intern("PRESENT-REPL-RESULTS", "SWANK", true)],
    ["|a:b|::|c d|", intern("c d", "a:b", true)],
    ["cl-user::123", intern("123", "CL-USER", true)],
    ["#:g", intern("G", "")],
    ["#:g12", intern("G12", "")],
    ["#:|a:b|", intern("a:b", "")],
    ["#:", intern("", "")],
    ["|lower|", intern("lower")],
    ["common-lisp-user::|we ird\\|x|", intern("we ird|x", "COMMON-LISP-USER", true)],
    ["cl-user::|a:b|", intern("a:b", "CL-USER", true)],
    ["cl-user::||", intern("", "CL-USER", true)],
    ["||", intern("")],
    ["a||b", intern("AB")],
    ["|a|b|c|", intern("aBc")],
    ["foo\\ bar", intern("FOO BAR")],
    ["\\a", intern("a")],
    ["\\😀x", intern("😀X")],
    ["|a\\\\b|", intern("a\\b")],
    ["cl|:|car", intern("CL:CAR")],
    ["123|a|", intern("123a")],
    ["1\\2", intern("12")],
    ["|1|", intern("1")],
    ["\\.", intern(".")],
    ["a#b", intern("A#B")],
    ["a.b", intern("A.B")],
    [".b", intern(".B")],
    ["*print-case*", intern("*PRINT-CASE*")],
    ["&rest", intern("&REST")],
    ["%foo", intern("%FOO")],
    ["é", intern("É")],
    ["ß", intern("ß")],
    ["µ", intern("µ")],
    ["ⅷ", intern("ⅷ")],
    ["日本", intern("日本")],
    ["a\u00a0b", intern("A\u00a0B")],
  ]);

  it("returns the same object for every spelling", () => {
    expect(read("foo:bar")).to.equal(read("FOO:|BAR|"));
    expect(read("(a b)")).to.satisfy((list: Sexp[]) => list[0] === read(" a ") && list[1] === symbol("B"));
    expect(read(":emacs-rex")).to.equal(keyword("emacs-rex"));
  });

  it("returns other objects for other packages", () => {
    const symbols = ["a", ":a", "#:a", "p:a", "p::a", "|a|", "|P:A|", "|P A|", "p:|A B|", "|P A|:b"].map((text) =>
      read(text),
    );
    expect(new Set(symbols).size).to.equal(symbols.length);
  });

  it("returns the same object after the table of tokens was cleared", () => {
    const before = read("some-package:some-symbol");
    for (let index = 0; index < 20_000; index++) read(`filler-${index}`);
    expect(read("some-package:some-symbol")).to.equal(before);
  });

  it("keeps symbols with the same first chars apart", () => {
    const tokens = ["abcd", "abcde", "abcd\\e", "abcd|e|", "abcd:e", "ABCD", "abcd", "abcdef", "abcd", "abc", "abcd"];
    const names = ["ABCD", "ABCDE", "ABCDe", "ABCDe", "E", "ABCD", "ABCD", "ABCDEF", "ABCD", "ABC", "ABCD"];
    for (const separator of [" ", "\n", '""', "(1)"]) {
      const symbols = readAll(tokens.join(separator)).filter(isSymbol);
      expect(symbols.map(({ name }) => name)).to.deep.equal(names);
    }
  });

  it("returns the same object for long names", () => {
    const name = "long-name-".repeat(100);
    expect(read(name)).to.equal(read(`${name} `));
  });
});

describe("read of integers", () => {
  expectData([
    ["0", 0],
    ["42", 42],
    ["+42", 42],
    ["-42", -42],
    ["-0", 0],
    ["42.", 42],
    ["-7.", -7],
    ["007", 7],
    ["123456789", 123456789],
    ["1234567890", 1234567890],
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", 9007199254740992n],
    ["-9007199254740992.", -9007199254740992n],
    ["+123456789012345678901234567890", 123456789012345678901234567890n],
    ["#b-101", -5],
    ["#o17", 15],
    ["#xFf", 255],
    ["#X+ff", 255],
    ["#36rZz", 1295],
    ["#3R102", 11],
    ["#x123456789abcdef01", 0x123456789abcdef01n],
    ["#7r1234560123456012345601234560", inRadix7("1234560123456012345601234560")],
  ]);

  it("reads -0 as positive zero", () => expect(Object.is(read("-0"), 0)).to.equal(true));
});

function inRadix7(digits: string): bigint {
  return [...digits].reduce((value, digit) => value * 7n + BigInt(digit), 0n);
}

describe("read of ratios", () => {
  expectData([
    ["1/3", ratio(1n, 3n)],
    ["-1/3", ratio(-1n, 3n)],
    ["+2/3", ratio(2n, 3n)],
    ["2/4", ratio(1n, 2n)],
    ["-6/4", ratio(-3n, 2n)],
    ["4/2", 2],
    ["0/5", 0],
    ["#x-A/f", ratio(-2n, 3n)],
    ["18014398509481984/2", 9007199254740992n],
  ]);
});

describe("read of floats", () => {
  expectData([
    ["1.5", float(1.5, "1.5")],
    ["-0.0", float(-0, "-0.0")],
    [".5", float(0.5, ".5")],
    ["-.5", float(-0.5, "-.5")],
    ["+1.25", float(1.25, "+1.25")],
    ["1.0000000150474662e30", float(1.0000000150474662e30, "1.0000000150474662e30")],
    ["1e5", float(1e5, "1e5")],
    ["1E+5", float(1e5, "1E+5")],
    ["1.e-5", float(1e-5, "1.e-5")],
    ["1.5d0", float(1.5, "1.5d0")],
    ["1.5F2", float(150, "1.5F2")],
    ["1s2", float(100, "1s2")],
    ["1L-2", float(0.01, "1L-2")],
    [".5d3", float(500, ".5d3")],
    ["1d400", float(Number.POSITIVE_INFINITY, "1d400")],
  ]);
});

describe("read of symbols that look like numbers", () => {
  for (const text of "1+ 1- + - -- +a 1a 1e 1e+ .e5 1.5e 1.5e+ 1..2 1/ /2 1/-2 1/2. 1/2/3 1+2 +-1 1_2 1^2 0x10".split(
    " ",
  ))
    it(`reads ${text} as a symbol`, () => expect(read(text)).to.equal(intern(text.toUpperCase())));
});

describe("read of characters", () => {
  expectData([
    ...[...'aA ()";|\\#\né😀'].map((char) => [`#\\${char}`, character(char)] as const),
    ["#\\space", character(" ")],
    ["#\\Newline", character("\n")],
    ["#\\LINEFEED", character("\n")],
    ["#\\Tab", character("\t")],
    ["#\\Page", character("\f")],
    ["#\\Return", character("\r")],
    ["#\\Rubout", character("\x7f")],
    ["#\\del", character("\x7f")],
    ["#\\Backspace", character("\b")],
    ["#\\Nul", character("\0")],
    ["#\\Null", character("\0")],
    ["#\\Esc", character("\x1b")],
    ["#\\Bel", character("\x07")],
    ["#\\No-Break_Space", character("\u00a0")],
    ["#\\U+41", character("A")],
    ["#\\U41", character("A")],
    ["#\\u+1F600", character("😀")],
    ["#\\UD800", character("\ud800")],
    ["#\\U", character("U")],
    ["#\\LATIN_SMALL_LETTER_E_WITH_ACUTE", opaque("#\\LATIN_SMALL_LETTER_E_WITH_ACUTE")],
    ["#\\U110000", opaque("#\\U110000")],
    ["#\\a\\)", opaque("#\\a\\)")],
  ]);

  it("ends a character before the next token", () =>
    expect(read("(#\\  #\\( #\\a)")).to.deep.equal([character(" "), character("("), character("a")]));
});

describe("read of strings", () => {
  expectData([
    ['""', ""],
    ['"a b"', "a b"],
    ['"say \\"hi\\""', 'say "hi"'],
    ['"\\\\"', "\\"],
    ['"\\\\\\""', '\\"'],
    ['"a\\nb"', "anb"],
    ['"\\a"', "a"],
    ['"\\😀"', "😀"],
    ['"(;|#|"', "(;|#|"],
    ['"line\n\ttab\0nul"', "line\n\ttab\0nul"],
    ['"日本 é 😀 \ud800"', "日本 é 😀 \ud800"],
  ]);

  it("reads adjacent strings with and without escapes", () => {
    expect(read('("a\\"b" "c" "\\\\" "" "d\\\\\\"")')).to.deep.equal(['a"b', "c", "\\", "", 'd\\"']);
    expect(read('("x""y"z"w")')).to.deep.equal(["x", "y", intern("Z"), "w"]);
  });
});

const [a, b, c] = [symbol("a"), symbol("b"), symbol("c")];

describe("read of lists", () => {
  expectData([
    ["(a)", [a]],
    ["(a b)", [a, b]],
    [" ( a\t\n b ) ", [a, b]],
    ["(a(b)c)", [a, [b], c]],
    ["((()))", [[NIL]]],
    ["(a nil ())", [a, NIL, NIL]],
    ["(:return (:ok nil) 12)", [keyword("return"), [keyword("ok"), NIL], 12]],
    ['(a"b"c)', [a, "b", c]],
  ]);
});

describe("read of dotted lists", () => {
  expectData([
    ["(1 . 2)", { kind: "dotted", items: [1], tail: 2 }],
    ["(1 2 . 3)", { kind: "dotted", items: [1, 2], tail: 3 }],
    ['(a ."b")', { kind: "dotted", items: [a], tail: "b" }],
    ["(a . nil)", [a]],
    ["(a . ())", [a]],
    ["(a . (b))", [a, b]],
    ["(a . (b . c))", { kind: "dotted", items: [a, b], tail: c }],
    ["(a . (b . (c . nil)))", [a, b, c]],
    ["(a . (b (c) . (1)))", [a, b, [c], 1]],
    ["(a . 'b)", [a, QUOTE, b]],
    ["(a . #(b))", { kind: "dotted", items: [a], tail: { kind: "vector", items: [b] } }],
    ["((a . b) . c)", { kind: "dotted", items: [{ kind: "dotted", items: [a], tail: b }], tail: c }],
    ["(a .b)", [a, intern(".B")]],
    ["(a. b)", [intern("A."), b]],
  ]);
});

describe("read of quote, function and backquote", () => {
  expectData([
    ["'a", [QUOTE, a]],
    ["' a", [QUOTE, a]],
    ["''a", [QUOTE, [QUOTE, a]]],
    ["(common-lisp:quote a)", [QUOTE, a]],
    ["(quote a)", [symbol("quote"), a]],
    ["#'a", [FUNCTION, a]],
    ["#'(a b)", [FUNCTION, [a, b]]],
    ["(a 'b)", [a, [QUOTE, b]]],
    ["`a", { kind: "backquote", datum: a }],
    [",a", { kind: "unquote", datum: a }],
    [",@a", { kind: "splice", datum: a }],
    [",.a", { kind: "nsplice", datum: a }],
    ["`(a ,b)", { kind: "backquote", datum: [a, { kind: "unquote", datum: b }] }],
    ["`',a", { kind: "backquote", datum: [QUOTE, { kind: "unquote", datum: a }] }],
    [", .5", { kind: "unquote", datum: { kind: "float", value: 0.5, text: ".5" } }],
  ]);
});

describe("read of vectors, arrays and bit vectors", () => {
  expectData([
    ["#()", { kind: "vector", items: [] }],
    ["#(1 a (b))", { kind: "vector", items: [1, a, [b]] }],
    ["#3(1 2)", { kind: "vector", items: [1, 2, 2] }],
    ["#2(1 2)", { kind: "vector", items: [1, 2] }],
    ["#0()", { kind: "vector", items: [] }],
    [
      "#2A((1 2) (3 4))",
      {
        kind: "array",
        rank: 2,
        contents: [
          [1, 2],
          [3, 4],
        ],
      },
    ],
    ["#0A5", { kind: "array", rank: 0, contents: 5 }],
    ["#1a#(1)", { kind: "array", rank: 1, contents: { kind: "vector", items: [1] } }],
    ["#*", { kind: "bit-vector", bits: "" }],
    ["#*101", { kind: "bit-vector", bits: "101" }],
    ["#5*01", { kind: "bit-vector", bits: "01111" }],
    [
      "(#* #*0)",
      [
        { kind: "bit-vector", bits: "" },
        { kind: "bit-vector", bits: "0" },
      ],
    ],
  ]);
});

describe("read of pathnames, structures and complex numbers", () => {
  expectData([
    ['#P"/tmp/x"', { kind: "pathname", namestring: "/tmp/x" }],
    ['#p "a\\\\*b"', { kind: "pathname", namestring: "a\\*b" }],
    ["#S(foo)", { kind: "structure", name: symbol("foo"), slots: [] }],
    [
      "#S(common-lisp-user::foo :a 1 :b nil)",
      { kind: "structure", name: symbol("common-lisp-user::foo"), slots: [keyword("a"), 1, keyword("b"), NIL] },
    ],
    ["#C(1 2)", { kind: "complex", real: 1, imaginary: 2 }],
    ["#c(1 1/2)", { kind: "complex", real: 1, imaginary: { kind: "ratio", numerator: 1n, denominator: 2n } }],
  ]);
});

describe("read of opaque data", () => {
  const unreadable = [
    "#<foo>",
    "#<common-lisp:hash-table :TEST common-lisp:eql :COUNT 0 {10031481F3}>",
    "#<a #<b> #<c>>",
    '#<a "x>" y>',
    "#<a |x>| y>",
    "#<a #\\> y>",
    "#<function a->b>",
    "#<function >= {1003}>",
    "#<a (b))>",
    "#<it's>",
    '#<a 6" pipe>',
    "#<a | b>",
    "#<\nmany lines\n>",
  ];
  expectData([
    ...unreadable.map((text): [string, Sexp] => [text, opaque(text)]),
    ...unreadable.map((text): [string, Sexp] => [`(a ${text} b)`, [a, opaque(text), b]]),
    ["#.sb-ext:double-float-positive-infinity", opaque("#.sb-ext:double-float-positive-infinity")],
    ['#.(foo "a)" #(b) \'c)', opaque('#.(foo "a)" #(b) \'c)')],
    ["(a #. b c)", [a, opaque("#. b"), c]],
    ["#.#.a", opaque("#.#.a")],
    ["#1=(a . #1#)", opaque("#1=(a . #1#)")],
    ["(#1# #12=a)", [opaque("#1#"), opaque("#12=a")]],
  ]);
});

describe("read of comments", () => {
  expectData([
    ["; first\na ; last", a],
    [";\n;\na;", a],
    ["#| c |# a", a],
    ["#||# a #||#", a],
    ["#| #| nested |# ; still |# a", a],
    ["#|#|a|#|#b", b],
    ['#| "|# a', a],
    ["(a #| b |# c)", [a, c]],
    ["(a ; b)\n c)", [a, c]],
    ["(a . #| x |# b ; y\n)", { kind: "dotted", items: [a], tail: b }],
    ["'#| x |#a", [QUOTE, a]],
    ["\f\r\n\ta\x7f", a],
  ]);
});

describe("readAll", () => {
  it("returns an empty array for blanks", () => expect(readAll(" ; nothing\n #| at all |# ")).to.deep.equal([]));
  it("returns all data in order", () => expect(readAll('a(b)"c" 1;d\n t')).to.deep.equal([a, [b], "c", 1, T]));
});
