import { expect } from "chai";
import { type Decoder, decode, intern, keyword, NIL, read, type Sexp, symbol, T } from "sexp-parser";

const { any, bigInteger, boolean, integer, keywordName, list, literal, map, nil, nullable } = decode;
const { oneOf, optional, plist, real, record, recursive, string, symbolName, tagged, tuple, tupleRest } = decode;

/** Checked by the compiler where it is called with a type: what the decoder gives for a text. */
function decoded<T>(decoder: Decoder<T>, text: string): T {
  return decoder(read(text));
}

describe("decoders of atoms", () => {
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
  for (const [name, decoder, text, value] of cases) {
    it(`${name} of ${text}`, () => expect(decoded(decoder, text)).to.deep.equal(value));
  }

  it("take an empty array for nil", () => {
    expect(boolean([])).to.equal(false);
    expect(nil([])).to.equal(undefined);
    expect(list(any)([])).to.deep.equal([]);
    expect(nullable(string)([])).to.equal(undefined);
  });
});

describe("decode.list", () => {
  it("gives every element", () => {
    const value: readonly number[] = decoded(list(integer), "(1 2 3)");
    expect(value).to.deep.equal([1, 2, 3]);
  });
  it("gives none for nil", () => expect(decoded(list(integer), "nil")).to.deep.equal([]));
  it("nests", () => expect(decoded(list(list(string)), '(("a") nil)')).to.deep.equal([["a"], []]));
});

describe("decode.tuple", () => {
  it("gives each element its own type", () => {
    const value: readonly [string, number, boolean] = decoded(tuple(string, integer, boolean), '("a" 1 nil)');
    expect(value).to.deep.equal(["a", 1, false]);
  });

  it("lets the last elements be missing, where the decoder says so", () => {
    const decoder = tuple(string, optional(integer), optional(nullable(string)));
    const value: readonly [string, number | undefined, string | undefined] = decoded(decoder, '("a" 1)');
    expect(value).to.deep.equal(["a", 1, undefined]);
    expect(decoded(decoder, '("a")')).to.deep.equal(["a", undefined, undefined]);
    expect(decoded(decoder, '("a" 1 nil)')).to.deep.equal(["a", 1, undefined]);
  });

  it("of nothing is nil", () => expect(decoded(tuple(), "nil")).to.deep.equal([]));
});

describe("decode.tupleRest", () => {
  it("gives the other elements as a list", () => {
    const value: readonly [number, string, readonly string[]] = decoded(
      tupleRest([integer, string], list(string)),
      '(0 "frame" "a" "b")',
    );
    expect(value).to.deep.equal([0, "frame", ["a", "b"]]);
  });

  it("gives nil when there are none", () => {
    expect(decoded(tupleRest([integer], any), "(0)")).to.deep.equal([0, NIL]);
    expect(decoded(tupleRest([integer], plist({ a: optional(string) })), "(0)")).to.deep.equal([0, { a: undefined }]);
  });
});

describe("decode.record", () => {
  const restart = record({ name: string, description: optional(nullable(string)) });

  it("names elements by their place", () => {
    const value: { readonly name: string; readonly description: string | undefined } = decoded(restart, '("A" "b")');
    expect(value).to.deep.equal({ name: "A", description: "b" });
    expect(decoded(restart, '("A")')).to.deep.equal({ name: "A", description: undefined });
  });

  it("ignores elements that a newer peer appends", () => {
    expect(decoded(restart, '("A" nil :new (x))')).to.deep.equal({ name: "A", description: undefined });
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
    const value: { readonly pid: number; readonly lispVersion: string | undefined } = decoded(
      decoder,
      '(:other (:pid 1) :lisp-version "2" pid 3 :PID 4 :coding-systems ("utf-8"))',
    );
    expect(value).to.deep.equal({ pid: 4, lispVersion: "2", "coding-systems": ["utf-8"] });
  });

  it("takes the first of equal keys, as getf does", () => {
    expect(decoded(plist({ a: integer }), "(:a 1 :a 2)")).to.deep.equal({ a: 1 });
  });

  it("takes a key only where keys are", () => {
    expect(decoded(plist({ a: optional(integer) }), "(:b :a :c 2)")).to.deep.equal({ a: undefined });
  });

  it("may be nil when no key is needed", () => {
    expect(decoded(plist({ a: optional(integer) }), "nil")).to.deep.equal({ a: undefined });
  });
});

describe("decode.tagged", () => {
  type Reply = { readonly status: "ok"; readonly value: Sexp } | { readonly status: "abort"; readonly reason: string };
  const reply: Decoder<Reply> = tagged({
    ok: record({ value: any }, { status: "ok" }),
    abort: record({ reason: string }, { status: "abort" }),
  });

  it("gives what the decoder of the tag makes of the rest", () => {
    expect(decoded(reply, "(:ok (a))")).to.deep.equal({ status: "ok", value: [symbol("a")] });
    expect(decoded(reply, '(:ABORT "x")')).to.deep.equal({ status: "abort", reason: "x" });
  });

  it("gives nil as the rest when there is none", () => {
    expect(decoded(tagged({ "debug-activate": any }), "(:debug-activate)")).to.equal(NIL);
  });

  it("gives everything else, whole, to the other decoder", () => {
    const decoder: Decoder<number | Sexp> = tagged({ ok: tuple() }, any);
    for (const text of ["(:new 1)", "(ok)", "(:|ok|)", '("ok")', ":ok", "nil", '"x"', "(a . b)"]) {
      expect(decoded(decoder, text), text).to.deep.equal(read(text));
    }
  });
});

describe("decode.map, nullable, oneOf and named", () => {
  it("map changes what was decoded", () => {
    expect(
      decoded(
        map(tuple(integer, integer), ([a, b]) => a + b),
        "(1 2)",
      ),
    ).to.equal(3);
  });

  it("nullable gives undefined for nil", () => {
    const value: string | undefined = decoded(nullable(string), "nil");
    expect([value, decoded(nullable(string), '"a"')]).to.deep.equal([undefined, "a"]);
  });

  it("oneOf gives what the first decoder that fits gives", () => {
    const value: string | number | readonly string[] = decoded(oneOf(string, integer, list(string)), '("a")');
    expect(value).to.deep.equal(["a"]);
    expect(decoded(oneOf(string, integer), "1")).to.equal(1);
    expect(decoded(oneOf(any, integer), "1")).to.equal(1);
  });

  it("oneOf leaves other errors alone", () => {
    const failing = map(integer, (): string => {
      throw new RangeError("not a shape");
    });
    expect(() => decoded(oneOf(failing, string), "1")).to.throw(RangeError, "not a shape");
  });

  it("named gives what the decoder gives", () => expect(decoded(decode.named("x", integer), "1")).to.equal(1));
});

describe("decode.recursive", () => {
  type Tree = string | readonly Tree[];
  const tree = recursive<Tree>((self) => oneOf(string, list(self)));

  it("decodes data nested in themselves", () => {
    expect(decoded(tree, '("a" ("b" nil))')).to.deep.equal(["a", ["b", []]]);
  });

  it("goes as deep as it is told, and no deeper", () => {
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

describe("interned keys", () => {
  it("match however the peer writes them", () => {
    expect(decoded(plist({ foo: integer }), "(keyword::|FOO| 1)")).to.deep.equal({ foo: 1 });
    expect(intern("FOO", "KEYWORD")).to.equal(keyword("foo"));
  });
});
