import { expect } from "chai";
import { FUNCTION, intern, keyword, NIL, QUOTE, read, readAll, type Sexp, symbol, T } from "sexp-parser";

const [a, b, c] = [symbol("a"), symbol("b"), symbol("c")];
const opaque = (text: string): Sexp => ({ kind: "opaque", text });

function expectData(cases: readonly (readonly [text: string, datum: Sexp])[]): void {
  for (const [text, datum] of cases) it(`reads ${JSON.stringify(text)}`, () => expect(read(text)).to.deep.equal(datum));
}

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
