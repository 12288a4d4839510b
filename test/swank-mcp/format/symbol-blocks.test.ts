import { expect } from "chai";
import type { types } from "swank-client";
import { symbolBlocks } from "#swank-mcp/report/names.js";
import { expectFacts } from "../../support/facts.js";
import { Snapshots } from "../../support/snapshots.js";

const snapshots = new Snapshots(import.meta.url);

const NOT_KNOWN = { documentation: undefined, source: undefined };

function found(
  name: string,
  meanings: readonly types.Meaning[],
  access: types.FoundSymbol["access"] = "external",
): types.FoundSymbol {
  return { status: "found", name, access, package: "APP", meanings };
}

const MAPCAR: types.Meaning = {
  kind: "function",
  name: "COMMON-LISP::MAPCAR",
  arglist: "(FUNCTION LIST &REST MORE-LISTS)",
  methods: undefined,
  documentation:
    "Apply FUNCTION to successive tuples of elements of LIST and MORE-LISTS.\nReturn list of FUNCTION return values.",
  source: { kind: "file", file: "SYS:SRC;CODE;LIST.LISP", position: 1_500_000, line: 51454 },
};

const PRINT_BASE: types.Meaning = {
  kind: "variable",
  name: "COMMON-LISP::*PRINT-BASE*",
  value: { text: "10", cut: undefined },
  documentation: "The output base for rationals.",
  source: undefined,
};

function expectOne(snapshot: string, blocks: readonly string[]): void {
  expect(blocks).to.have.length(1);
  snapshots.match(snapshot, blocks[0] ?? "");
}

describe("symbolBlocks", () => {
  it("has the contract's form for a function", () => {
    expectOne("a function", symbolBlocks(found("COMMON-LISP::MAPCAR", [MAPCAR]), "mapcar"));
  });

  it("has the contract's form for a variable", () => {
    expectOne("a variable", symbolBlocks(found("COMMON-LISP::*PRINT-BASE*", [PRINT_BASE]), "*print-base*"));
  });

  it("has the contract's form for a missing symbol or package", () => {
    const unknown: types.SymbolDescription = {
      status: "symbol-not-found",
      name: "NONEXISTENT-SYMBOL",
      package: "CL-USER",
      elsewhere: [],
      more: 0,
    };
    expect(symbolBlocks(unknown, "nonexistent-symbol")).to.deep.equal([
      "Symbol NONEXISTENT-SYMBOL not found in package CL-USER (status: NIL)",
    ]);
    const nowhere: types.SymbolDescription = { status: "package-not-found", package: "NONEXISTENT", similar: [] };
    expect(symbolBlocks(nowhere, "foo")).to.deep.equal(["Package NONEXISTENT not found"]);
  });

  it("reports too many package markers in a second block", () => {
    const nowhere: types.SymbolDescription = { status: "package-not-found", package: "FOO", similar: [] };
    const unknown: types.SymbolDescription = {
      status: "symbol-not-found",
      name: "BAR:BAZ",
      package: "FOO",
      elsewhere: [],
      more: 0,
    };
    for (const asked of ["foo:bar:baz", "foo:::bar", ":foo:bar", "foo::b|a:r|:baz", "(setf foo:bar:baz)"])
      for (const description of [nowhere, unknown])
        expect(symbolBlocks(description, asked)[1], asked).to.match(/^The name has too many package markers: /);
    for (const asked of ["foo:bar", "foo::bar", ":foo", "::foo", "foo::|bar:baz|", "foo::bar\\:baz", "|a:b|:c"])
      expect(symbolBlocks(nowhere, asked), asked).to.have.length(1);
  });

  it("suggests similar names in a second block", () => {
    const elsewhere = ["A:X", "B::X"];
    const unknown: types.SymbolDescription = {
      status: "symbol-not-found",
      name: "X",
      package: "CL",
      elsewhere,
      more: 3,
    };
    expect(symbolBlocks(unknown, "x")[1]).to.equal("In other packages: A:X, B::X, ... 3 more symbols");
    const nowhere: types.SymbolDescription = { status: "package-not-found", package: "AP", similar: ["APP", "MAP"] };
    expect(symbolBlocks(nowhere, "ap:x")[1]).to.equal("Packages with similar names: APP, MAP");
  });

  it("repeats a long name cut and with control characters escaped", () => {
    const named = (name: string): types.SymbolDescription => ({
      status: "symbol-not-found",
      name,
      package: "CL-USER",
      elsewhere: [],
      more: 0,
    });
    const text = (name: string) => symbolBlocks(named(name), name)[0];
    expect(text("")).to.equal("Symbol || not found in package CL-USER (status: NIL)");
    expect(text("A\0\nB")).to.equal("Symbol A\\x00\\x0aB not found in package CL-USER (status: NIL)");
    expect(text("𝄞".repeat(10_000))).to.equal(
      `Symbol ${"𝄞".repeat(200)}... [10000 characters] not found in package CL-USER (status: NIL)`,
    );
    expect(text("x".repeat(200))).to.equal(`Symbol ${"x".repeat(200)} not found in package CL-USER (status: NIL)`);
  });

  it("has an entry for each meaning, with the value in the first", () => {
    const meanings: types.Meaning[] = [
      { ...NOT_KNOWN, kind: "function", name: "APP::X", arglist: "()", methods: undefined, documentation: "Calls." },
      { ...NOT_KNOWN, kind: "structure", name: "APP::X", superclasses: ["BASE"], slots: ["A", "B"] },
      {
        ...NOT_KNOWN,
        kind: "variable",
        name: "APP::X",
        value: { text: "7", cut: undefined },
        documentation: "Is.",
      },
      { ...NOT_KNOWN, kind: "function", name: "(SETF APP::X)", arglist: "(NEW)", methods: undefined },
    ];
    const [text = ""] = symbolBlocks(found("APP::X", meanings), "app::x");
    expectFacts(
      text,
      "APP::X [FUNCTION]\n  Arglist: ()\n  Value: 7\n  Documentation:\n    Calls.\n\n",
      "APP::X [CLASS]\n  Kind: structure\n  Superclasses: BASE\n  Slots: A, B\n\n",
      "APP::X [VARIABLE]\n  Documentation:\n    Is.\n\n(SETF APP::X) [FUNCTION]\n  Arglist: (NEW)",
    );
  });

  const operator = { ...NOT_KNOWN, name: "APP::X", arglist: "(Y)", methods: undefined };
  const classLike = { ...NOT_KNOWN, name: "APP::X", superclasses: [], slots: [] };
  const variable = { ...NOT_KNOWN, name: "APP::X", value: { text: "1", cut: undefined } };
  const WORDS: readonly (readonly [types.Meaning, string])[] = [
    [{ ...operator, kind: "function" }, "APP::X [FUNCTION]\n  Arglist: (Y)"],
    [{ ...operator, kind: "macro" }, "APP::X [MACRO]\n  Arglist: (Y)"],
    [{ ...operator, kind: "generic-function", methods: 3 }, "APP::X [GENERIC-FUNCTION]\n  Arglist: (Y)\n  Methods: 3"],
    [{ ...operator, kind: "special-operator" }, "APP::X [FUNCTION]\n  Arglist: (Y)\n  Kind: special operator"],
    [{ ...classLike, kind: "class" }, "APP::X [CLASS]"],
    [{ ...classLike, kind: "condition" }, "APP::X [CLASS]\n  Kind: condition"],
    [{ ...classLike, kind: "built-in-class" }, "APP::X [CLASS]\n  Kind: built-in class"],
    [{ ...variable, kind: "variable" }, "APP::X [VARIABLE]\n  Value: 1"],
    [{ ...variable, kind: "constant" }, "APP::X [VARIABLE]\n  Value: 1\n  Kind: constant"],
    [{ ...variable, kind: "undeclared-variable" }, "APP::X [VARIABLE]\n  Value: 1\n  Kind: undeclared variable"],
    [
      { ...NOT_KNOWN, kind: "symbol-macro", name: "APP::X", expansion: "(CAR Y)" },
      "APP::X [SYMBOL]\n  Kind: symbol macro\n  Expansion: (CAR Y)",
    ],
    [
      { ...NOT_KNOWN, kind: "type", name: "APP::X", arglist: "(&OPTIONAL N)", expansion: "(INTEGER 0 3)" },
      "APP::X [SYMBOL]\n  Arglist: (&OPTIONAL N)\n  Kind: type\n  Expansion: (INTEGER 0 3)",
    ],
    [
      { ...operator, kind: "setf-expander", name: "(SETF APP::X)", arglist: undefined },
      "APP::X [SYMBOL]\n\n(SETF APP::X) [MACRO]\n  Kind: setf expander",
    ],
  ];
  for (const [meaning, text] of WORDS) {
    it(`gives a ${meaning.kind} the contract's type`, () => {
      expect(symbolBlocks(found("APP::X", [meaning]), "app::x")).to.deep.equal([text]);
    });
  }

  it("gives a symbol without a definition the type SYMBOL", () => {
    expect(symbolBlocks(found("APP::X", [], "internal"), "app::x")).to.deep.equal([
      "APP::X [SYMBOL]",
      "This symbol has no definition.",
    ]);
  });

  it("keeps the documentation's empty lines empty", () => {
    const meaning: types.Meaning = { ...PRINT_BASE, value: undefined, documentation: "One.\n\n  Two." };
    const [text] = symbolBlocks(found("COMMON-LISP::*PRINT-BASE*", [meaning]), "x");
    expect(text).to.equal("COMMON-LISP::*PRINT-BASE* [VARIABLE]\n  Documentation:\n    One.\n\n      Two.");
  });

  it("shows hints in a second block", () => {
    const file = { kind: "file", file: "/a/b.lisp", position: 12, line: 3 } as const;
    const meanings: types.Meaning[] = [
      { ...operator, kind: "function", source: file },
      { ...variable, kind: "variable", value: undefined, source: { ...file, position: undefined, line: undefined } },
      { ...operator, kind: "function", name: "(SETF APP::X)", source: file },
    ];
    expect(symbolBlocks(found("APP::X", meanings, "internal"), "app:x")[1]).to.equal(
      `The symbol is not exported: code must write APP::X.
The variable is unbound.
Source file: /a/b.lisp`,
    );
    const offset: types.Meaning = { ...operator, kind: "function", source: { ...file, line: undefined } };
    expect(symbolBlocks(found("APP::X", [offset]), "app::x")).to.deep.equal([
      "APP::X [FUNCTION]\n  Arglist: (Y)\n  Source: /a/b.lisp:12",
      "12 is the character offset in /a/b.lisp; its line is unknown, because the image cannot read the file.",
    ]);
    const form = Array.from({ length: 25 }, (_, index) => `line ${index}`).join("\n");
    const evaluated: types.Meaning = {
      ...variable,
      kind: "variable",
      value: { text: "(1 ...)", cut: { by: ["length"], shown: 1, total: 9 } },
      source: { kind: "evaluation", evaluation: "evaluation 7", position: 5, form },
    };
    expect(symbolBlocks(found("APP::X", [evaluated], "internal"), "app::x")).to.deep.equal([
      "APP::X [VARIABLE]\n  Value: (1 ...)\n  Source: evaluation 7:5",
      `The value is cut: 1 of 9 elements shown. evaluate-lisp shows parts of it.
Defined by evaluated code:
${form.split("\n").slice(0, 20).join("\n")}
... 5 more lines`,
    ]);
  });
});

snapshots.testCompleteness();
