import { expect } from "chai";
import { decode, dotted, equals, fold, NIL, parts, print, read, type Sexp, scan, symbol } from "sexp-parser";

/** Ten times as many levels as a function can call itself. */
const DEPTH = 100_000;
const a = symbol("a");

function nested(open: string, close: string, core = "a", depth = DEPTH): string {
  return open.repeat(depth) + core + close.repeat(depth);
}

/** The depth of the innermost atom of a datum. */
function depthOf(datum: Sexp): number {
  return fold(datum, {
    atom: () => 0,
    compound: (_, depths) => 1 + depths.reduce((most, depth) => Math.max(most, depth), 0),
  });
}

/** Reads, prints, compares and folds data of a depth; each `open` adds `levels`. */
function expectDeep(open: string, close: string, levels: number, depth: number): void {
  const text = nested(open, close, "a", depth);
  const datum = read(text);
  expect(print(datum) === text, "prints the same text").to.equal(true);
  expect(depthOf(datum)).to.equal(levels * depth);
  expect(equals(datum, read(text))).to.equal(true);
  expect(equals(datum, read(nested(open, close, "z", depth))), "another core").to.equal(false);
}

describe("a hundred thousand levels of nesting", () => {
  it("do not stop read, print, equals and fold", () => expectDeep("(", ")", 1, DEPTH));

  it("of tails are read as one flat list", () => {
    expect(read(nested("(a . ", ")", "nil"))).to.have.lengthOf(DEPTH);
    expect(read(nested("(a . ", ")", "(a . a)")))
      .to.have.property("items")
      .with.lengthOf(DEPTH + 1);
  });

  it("in opaque data are kept as text", () => {
    for (const text of [nested("#.", "", "a", DEPTH / 5), nested("#1=", "", "a", DEPTH / 5), nested("#<", ">")])
      expect(print(read(text)) === text).to.equal(true);
  });

  it("of comments are skipped", () => expect(read(`${nested("#|", "|#")} a`)).to.equal(a));

  it("do not stop scan", () => {
    const text = nested("(", ")");
    expect(scan(text)).to.deep.equal({
      kind: "balanced",
      forms: [{ offset: 0, line: 1, column: 1, end: text.length }],
    });
    expect(scan(text.slice(0, -1))).to.include({ kind: "unclosed-list", missing: 1 });
  });

  it("do not matter to decoders that do not descend", () => {
    const datum = [1, read(nested("(", ")"))];
    expect(decode.tuple(decode.integer, decode.any)(datum)).to.deep.equal(datum);
    expect(() => decode.tuple(decode.integer, decode.string)(datum)).to.throw(
      /^\[1\]: expected a string, found \(\(\(/,
    );
  });
});

describe("twenty thousand levels of nesting", () => {
  const cases: readonly (readonly [open: string, close: string, levels: number])[] = [
    ['(b "c" ', ")", 1],
    ["#(", ")", 1],
    ["'", "", 1],
    ["#'", "", 1],
    ["`", "", 1],
    ["`,@", "", 2],
    ["(a . #(", "))", 2],
    ["#1A", "", 1],
    ["#S(a ", ")", 1],
    ["#C(1 ", ")", 1],
  ];
  for (const [open, close, levels] of cases)
    it(`of ${open} do not stop read, print, equals and fold`, () => expectDeep(open, close, levels, DEPTH / 5));
});

describe("fold", () => {
  it("passes the results of the parts in order", () => {
    const text = 'a (b "c" (d . e) #(f) #2A((g)) #C(1 h) #S(i :j k) \'l `(,m ,@n ,.o) nil) #P"p"';
    const written = fold(read(`(${text})`), {
      atom: (atom) => print(atom),
      compound: (datum, results) => `<${"kind" in datum ? datum.kind : "list"} ${results.join(" ")}>`,
    });
    expect(written).to.equal(
      '<list a <list b "c" <dotted d e> <vector f> <array <list <list g>>> <complex 1 h> <structure i :j k> ' +
        '<list common-lisp:quote l> <backquote <list <unquote m> <splice n> <nsplice o>>> nil> #P"p">',
    );
  });

  it("passes an atom to the folder", () => expect(fold(a, { atom: (atom) => atom, compound: () => NIL })).to.equal(a));
});

describe("parts", () => {
  it("returns an empty array for atoms", () =>
    expect([a, 1, "x", 1n, NIL].map((atom) => parts(atom).length)).to.deep.equal([0, 0, 0, 0, 0]));
  it("returns the tail of a dotted list last", () => expect(parts(dotted([1, 2], 3))).to.deep.equal([1, 2, 3]));
});
