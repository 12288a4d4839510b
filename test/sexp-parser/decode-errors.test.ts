import { expect } from "chai";
import { DecodeError, type Decoder, decode, keyword, read, type Sexp } from "sexp-parser";

const { any, bigInteger, integer, keywordName, list, literal, named, nil, nullable } = decode;
const { oneOf, optional, plist, real, record, string, symbolName, tagged, tuple, tupleRest } = decode;

function errorOf(decoder: Decoder<unknown>, datum: Sexp): DecodeError {
  try {
    decoder(datum);
  } catch (error) {
    if (error instanceof DecodeError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

const debug = named(
  "debug",
  tagged({
    debug: record({
      thread: integer,
      condition: tuple(string, nullable(string)),
      restarts: list(record({ name: string, description: string })),
      frames: list(tupleRest([integer, string], plist({ restartable: optional(integer) }))),
    }),
  }),
);

/** Decoders, texts of data with another shape, and the messages. */
const CASES: readonly (readonly [decoder: Decoder<unknown>, text: string, message: string])[] = [
  [string, "42", "expected a string, found 42"],
  [string, "nil", "expected a string, found nil"],
  [integer, '"1"', 'expected an integer below 2^53, found "1"'],
  [integer, "9007199254740992", "expected an integer below 2^53, found 9007199254740992"],
  [bigInteger, "1.0", "expected an integer, found 1.0"],
  [real, "#C(1 2)", "expected a real number, found #C(1 2)"],
  [real, "a", "expected a real number, found a"],
  [nil, "t", "expected nil, found t"],
  [decode.symbol, '"a"', 'expected a symbol, found "a"'],
  [symbolName, "(a)", "expected a symbol, found (a)"],
  [keywordName, "a", "expected a keyword, found a"],
  [literal(keyword("x")), ":y", "expected :x, found :y"],
  [list(any), "(a . b)", "expected a list, found (a . b)"],
  [list(any), "#(a)", "expected a list, found #(a)"],
  [list(string), '("a" b)', "[1]: expected a string, found b"],
  [list(list(string)), '(("a") (b))', "[1][0]: expected a string, found b"],
  [tuple(string), "nil", "[0]: expected an element that is missing, found nil"],
  [tuple(any, any), "(a)", "[1]: expected an element that is missing, found (a)"],
  [tuple(any), "(a b)", "expected at most one element, found (a b)"],
  [tuple(any, optional(string)), "(a b)", "[1]: expected a string, found b"],
  [tupleRest([any], list(string)), "(a b)", "rest[0]: expected a string, found b"],
  [record({ name: string }), "(a)", "name: expected a string, found a"],
  [record({ name: string, size: integer }), '("a")', 'size: expected an element that is missing, found ("a")'],
  [record({ name: string }), '"a"', 'expected a list, found "a"'],
  [plist({ lispVersion: string }), "(:a 1)", "lispVersion: expected the key :lisp-version, found (:a 1)"],
  [plist({ a: string }), "(:a 1)", "a: expected a string, found 1"],
  [plist({}), "(:a)", "expected a property list, found (:a)"],
  [plist({}), "a", "expected a property list, found a"],
  [tagged({ ok: any, abort: any }), "(:other)", "expected a list that begins with :ok or :abort, found (:other)"],
  [tagged({ ok: tuple(string) }), "(:ok a)", "ok[0]: expected a string, found a"],
  [oneOf(string, list(string)), "1", "expected a string or a list, found 1"],
  [oneOf(string, list(string)), "(1)", "expected a string or a string at [0], found (1)"],
  [named("x", list(string)), "(1)", "x[0]: expected a string, found 1"],
  [debug, "(:debug 1 nil)", "debug.debug.condition[0]: expected an element that is missing, found nil"],
  [
    debug,
    '(:debug 1 ("m" nil) (("A" "b") ("C" 2)) nil)',
    "debug.debug.restarts[1].description: expected a string, found 2",
  ],
];

describe("DecodeError", () => {
  for (const [decoder, text, message] of CASES) {
    it(`of ${JSON.stringify(text)} says: ${message}`, () =>
      expect(errorOf(decoder, read(text))).to.include({ code: "SHAPE", message }));
  }

  it("has path, expected and found", () => {
    const error = errorOf(debug, read('(:debug 1 ("m" nil) nil ((0 "f" :restartable "t")))'));
    expect(error).to.include({
      name: "DecodeError",
      path: "debug.debug.frames[0].rest.restartable",
      expected: "an integer below 2^53",
      found: '"t"',
    });
  });

  it("contains the path when it is printed", () => {
    const error = errorOf(list(string), read("(1)"));
    expect(error.stack).to.match(/^DecodeError: \[0\]: expected a string, found 1\n +at /);
    expect(String(error)).to.equal("DecodeError: [0]: expected a string, found 1");
  });

  it("has a message of bounded length for a large datum", () => {
    const large = read(`(${"(a b c) ".repeat(100_000)}"${"x".repeat(100_000)}")`);
    expect(errorOf(string, large).message.length).to.be.below(200);
    expect(errorOf(string, ["x".repeat(1_000_000)]).message.length).to.be.below(200);
  });

  it("has a path of bounded length for deeply nested decoders", () => {
    let decoder: Decoder<unknown> = string;
    let datum: Sexp = 1;
    for (let depth = 0; depth < 1000; depth++) [decoder, datum] = [list(decoder), [datum]];
    const { message, path } = errorOf(decoder, datum);
    expect(message.length).to.be.below(400);
    expect(path).to.match(/^\.\.\.(\[0\])+$/);
  });

  it("describes a datum that cannot be printed", () => {
    expect(errorOf(string, Number.NaN).message).to.equal("expected a string, found something that is not Lisp data");
  });
});
