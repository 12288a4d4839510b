import { expect } from "chai";
import { DecodeError, type Decoder, decode, intern, keyword, NIL, read, type Sexp, symbol, T } from "sexp-parser";

const { any, bigInteger, boolean, from, integer, keywordName, list, literal, map, named, nil, nullable } = decode;
const { oneOf, optional, plist, real, record, recursive, string, symbolName, tagged, tuple, tupleRest, withDefault } =
  decode;

/** The result of a decoder for a text. The compiler checks the type when the caller names it. */
function decoded<T>(decoder: Decoder<T>, text: string): T {
  return decoder(read(text));
}

describe("decode of atoms", () => {
  const cases: readonly (readonly [name: string, decoder: Decoder<unknown>, text: string, value: unknown])[] = [
    ["any", any, "(a . #(b))", read("(a . #(b))")],
    ["string", string, '"a"', "a"],
    ["integer", integer, "-42", -42],
    ["bigInteger", bigInteger, "42", 42n],
    ["bigInteger", bigInteger, "123456789012345678901", 123456789012345678901n],
    ["real", real, "2", 2],
    ["real", real, "1/4", 0.25],
    ["real", real, "1.5d1", 15],
    ["real", real, "18446744073709551616", 2 ** 64],
    ["boolean", boolean, "nil", false],
    ["boolean", boolean, "()", false],
    ["boolean", boolean, "t", true],
    ["boolean", boolean, "0", true],
    ["boolean", boolean, ":nil", true],
    ["nil", nil, "()", undefined],
    ["symbol", decode.symbol, "foo:bar", symbol("foo:bar")],
    ["symbol", decode.symbol, "nil", NIL],
    ["symbolName", symbolName, "foo:bar", "BAR"],
    ["symbolName", symbolName, "|x|", "x"],
    ["keywordName", keywordName, ":Foo", "FOO"],
    ["literal", literal(T), "t", T],
    ["literal", literal(keyword("x")), ":X", keyword("x")],
  ];
  for (const [name, decoder, text, value] of cases)
    it(`${name} accepts ${text}`, () => expect(decoded(decoder, text)).to.deep.equal(value));

  it("treats an empty array as nil", () => {
    expect(boolean([])).to.equal(false);
    expect(nil([])).to.equal(undefined);
    expect(list(any)([])).to.deep.equal([]);
    expect(nullable(string)([])).to.equal(undefined);
  });
});

describe("decode.list", () => {
  it("decodes every element", () => {
    const value: readonly number[] = decoded(list(integer), "(1 2 3)");
    expect(value).to.deep.equal([1, 2, 3]);
  });
  it("decodes nil as the empty list", () => expect(decoded(list(integer), "nil")).to.deep.equal([]));
  it("decodes lists of lists", () => expect(decoded(list(list(string)), '(("a") nil)')).to.deep.equal([["a"], []]));
});

describe("decode.tuple", () => {
  it("decodes each element with its own decoder", () => {
    const value: readonly [string, number, boolean] = decoded(tuple(string, integer, boolean), '("a" 1 nil)');
    expect(value).to.deep.equal(["a", 1, false]);
  });

  it("accepts missing optional elements at the end", () => {
    const decoder = tuple(string, optional(integer), optional(nullable(string)));
    const value: readonly [string, number | undefined, string | undefined] = decoded(decoder, '("a" 1)');
    expect(value).to.deep.equal(["a", 1, undefined]);
    expect(decoded(decoder, '("a")')).to.deep.equal(["a", undefined, undefined]);
    expect(decoded(decoder, '("a" 1 nil)')).to.deep.equal(["a", 1, undefined]);
  });

  it("without decoders accepts nil", () => expect(decoded(tuple(), "nil")).to.deep.equal([]));
});

describe("decode.tupleRest", () => {
  it("decodes the list of the other elements", () => {
    const value: readonly [number, string, readonly string[]] = decoded(
      tupleRest([integer, string], list(string)),
      '(0 "frame" "a" "b")',
    );
    expect(value).to.deep.equal([0, "frame", ["a", "b"]]);
  });

  it("decodes nil when there are no others", () => {
    expect(decoded(tupleRest([integer], any), "(0)")).to.deep.equal([0, NIL]);
    expect(decoded(tupleRest([integer], plist({ a: optional(string) })), "(0)")).to.deep.equal([0, {}]);
  });
});

describe("decode.record", () => {
  const restart = record({ name: string, description: optional(nullable(string)) });

  it("names elements in order", () => {
    const value: { readonly name: string; readonly description?: string | undefined } = decoded(restart, '("A" "b")');
    expect(value).to.deep.equal({ name: "A", description: "b" });
    expect(decoded(restart, '("A")')).to.deep.equal({ name: "A" });
  });

  it("ignores elements that a newer peer appends", () =>
    expect(decoded(restart, '("A" nil :new (x))')).to.deep.equal({ name: "A" }));

  it("leaves an optional field out when it is missing or undefined, and gives others their default", () => {
    const decoder = record({
      a: optional(nullable(string)),
      b: withDefault(integer, undefined),
      c: withDefault(list(string), []),
    });
    const value: { readonly a?: string | undefined; readonly b: number | undefined; readonly c: readonly string[] } =
      decoded(decoder, "(nil)");
    expect(value).to.deep.equal({ b: undefined, c: [] });
    expect(decoded(decoder, '("x" 1 ("y"))')).to.deep.equal({ a: "x", b: 1, c: ["y"] });
  });

  it("adds constants with their exact type", () => {
    const value: { readonly type: "debug-return"; readonly thread: number } = decoded(
      record({ thread: integer }, { type: "debug-return" }),
      "(3)",
    );
    expect(value).to.deep.equal({ type: "debug-return", thread: 3 });
  });
});

describe("decode.plist", () => {
  const decoder = plist({ pid: integer, lispVersion: optional(string), "coding-systems": optional(list(string)) });

  it("finds keys in any order and ignores others", () => {
    const value: { readonly pid: number; readonly lispVersion?: string | undefined } = decoded(
      decoder,
      '(:other (:pid 1) :lisp-version "2" pid 3 :PID 4 :coding-systems ("utf-8"))',
    );
    expect(value).to.deep.equal({ pid: 4, lispVersion: "2", "coding-systems": ["utf-8"] });
  });

  it("uses the first of equal keys, as getf does", () =>
    expect(decoded(plist({ a: integer }), "(:a 1 :a 2)")).to.deep.equal({ a: 1 }));

  it("ignores keywords in the positions of values", () =>
    expect(decoded(plist({ a: optional(integer) }), "(:b :a :c 2)")).to.deep.equal({}));

  it("accepts nil when no key is required", () =>
    expect(decoded(plist({ a: optional(integer) }), "nil")).to.deep.equal({}));

  it("finds a field by the key that from names, and adds constants", () => {
    const decoder = plist({ isOwn: from("own", boolean), isLast: from("end", optional(boolean)) }, { kind: "thread" });
    const value: { readonly kind: "thread"; readonly isOwn: boolean; readonly isLast?: boolean | undefined } = decoded(
      decoder,
      "(:is-own nil :own t)",
    );
    expect(value).to.deep.equal({ kind: "thread", isOwn: true });
    expect(() => decoded(decoder, "(:is-own t)")).to.throw("expected the key :own");
  });
});

describe("decode.tagged", () => {
  type Reply = { readonly status: "ok"; readonly value: Sexp } | { readonly status: "abort"; readonly reason: string };
  const reply: Decoder<Reply> = tagged({
    ok: record({ value: any }, { status: "ok" }),
    abort: record({ reason: string }, { status: "abort" }),
  });

  it("passes the elements after the tag to its decoder", () => {
    expect(decoded(reply, "(:ok (a))")).to.deep.equal({ status: "ok", value: [symbol("a")] });
    expect(decoded(reply, '(:ABORT "x")')).to.deep.equal({ status: "abort", reason: "x" });
  });

  it("passes nil when there are no elements after the tag", () =>
    expect(decoded(tagged({ "debug-activate": any }), "(:debug-activate)")).to.equal(NIL));

  it("passes the whole datum to otherwise for other tags", () => {
    const decoder: Decoder<number | Sexp> = tagged({ ok: tuple() }, any);
    for (const text of ["(:new 1)", "(ok)", "(:|ok|)", '("ok")', ":ok", "nil", '"x"', "(a . b)"])
      expect(decoded(decoder, text), text).to.deep.equal(read(text));
  });
});

describe("decode combinators", () => {
  it("map converts the result", () => {
    expect(
      decoded(
        map(tuple(integer, integer), ([a, b]) => a + b),
        "(1 2)",
      ),
    ).to.equal(3);
  });

  it("nullable decodes nil as undefined", () => {
    const value: string | undefined = decoded(nullable(string), "nil");
    expect([value, decoded(nullable(string), '"a"')]).to.deep.equal([undefined, "a"]);
  });

  it("oneOf uses the first decoder that accepts the datum", () => {
    const value: string | number | readonly string[] = decoded(oneOf(string, integer, list(string)), '("a")');
    expect(value).to.deep.equal(["a"]);
    expect(decoded(oneOf(string, integer), "1")).to.equal(1);
    expect(decoded(oneOf(any, integer), "1")).to.equal(1);
  });

  it("oneOf passes other errors on", () => {
    const failing = map(integer, (): string => {
      throw new RangeError("not a shape");
    });
    expect(() => decoded(oneOf(failing, string), "1")).to.throw(RangeError, "not a shape");
  });

  it("named returns the result of its decoder", () => expect(decoded(named("x", integer), "1")).to.equal(1));
});

describe("decode.recursive", () => {
  type Tree = string | readonly Tree[];
  const tree = recursive<Tree>((self) => oneOf(string, list(self)));

  it("decodes data that contain data of the same shape", () =>
    expect(decoded(tree, '("a" ("b" nil))')).to.deep.equal(["a", ["b", []]]));

  it("throws TOO_DEEP beyond maxDepth", () => {
    const nested = (depth: number): string => "(".repeat(depth) + ")".repeat(depth);
    const shallow = recursive<Tree>((self) => list(self), 3);
    expect(decoded(shallow, nested(3))).to.deep.equal([[[]]].slice(0, 1));
    expect(() => decoded(shallow, nested(4)))
      .to.throw("at most 3 deep")
      .with.property("code", "TOO_DEEP");
    expect(decoded(shallow, nested(3)), "and is as good as new").to.deep.equal([[[]]]);
  });

  it("refuses data nested a million deep", () => {
    const text = "(".repeat(1_000_000) + ")".repeat(1_000_000);
    expect(() => decoded(tree, text))
      .to.throw()
      .with.property("code", "TOO_DEEP");
  });
});

describe("decode of keywords", () => {
  it("matches them in any spelling", () => {
    expect(decoded(plist({ foo: integer }), "(keyword::|FOO| 1)")).to.deep.equal({ foo: 1 });
    expect(intern("FOO", "KEYWORD")).to.equal(keyword("foo"));
  });
});

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
  for (const [decoder, text, message] of CASES)
    it(`of ${JSON.stringify(text)} says: ${message}`, () =>
      expect(errorOf(decoder, read(text))).to.include({ code: "SHAPE", message }));

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

  it("describes a datum that cannot be printed", () =>
    expect(errorOf(string, Number.NaN).message).to.equal("expected a string, found something that is not Lisp data"));
});
