import { expect } from "chai";
import fc from "fast-check";
import { lispLines, lispTokens } from "#swank-mcp-page/lisp-tokens.js";

/** The pieces that have a colour, as `kind text`. */
const coloured = (code: string) =>
  lispTokens(code)
    .filter(({ kind }) => kind !== "plain" && kind !== "paren")
    .map(({ kind, text }) => `${kind} ${text}`);

describe("lispTokens", () => {
  it("loses no text", () => {
    const piece = fc.constantFrom(
      "(",
      ")",
      '"',
      "\\",
      "#|",
      "|#",
      "|",
      "#\\",
      ";",
      "\n",
      "'",
      "`",
      ",@",
      "#'",
      "é",
      "😀",
      "a",
      ":k",
      "1",
    );
    const code = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(piece).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(code, (text) => {
        expect(
          lispTokens(text)
            .map((token) => token.text)
            .join(""),
        ).to.equal(text);
      }),
    );
  });

  it("names the parts of a definition", () => {
    const code = `(defun area (r &key (unit :cm)) "The \\"area\\"." (values (* 3.14 r) unit)) ; done`;
    expect(coloured(code)).to.deep.equal([
      "operator defun",
      "marker &key",
      "keyword :cm",
      'string "The \\"area\\"."',
      "number 3.14",
      "comment ; done",
    ]);
  });

  it("takes an operator only at the head of a form", () => {
    expect(coloured("(if when 'if) (cl:let ())")).to.deep.equal(["operator if", "marker '", "operator cl:let"]);
  });

  it("reads characters, quoted symbols and nested comments as wholes", () => {
    expect(coloured('(#\\( #\\Space #\\\\ |a "b| #| x #| y |# z |# 1)')).to.deep.equal([
      "character #\\(",
      "character #\\Space",
      "character #\\\\",
      "comment #| x #| y |# z |#",
      "number 1",
    ]);
  });

  it("reads numbers of every notation, and no symbol as a number", () => {
    const numbers = ["1", "-2.5", "1/3", ".5", "1e10", "1.5d0", "#xFF", "#b101", "#36rZZ"];
    const symbols = ["1+", "-", "+", "1-", "...", "a1", "e5"];
    expect(numbers.map((text) => lispTokens(text)[0]?.kind)).to.deep.equal(numbers.map(() => "number"));
    expect(symbols.map((text) => lispTokens(text)[0]?.kind)).to.deep.equal(symbols.map(() => "plain"));
  });

  it("keeps to the end what is not closed", () => {
    expect(coloured('(a "b (c')).to.deep.equal(['string "b (c']);
    expect(coloured("#| (a")).to.deep.equal(["comment #| (a"]);
  });
});

describe("lispLines", () => {
  it("goes on with a string over lines, and gives as many lines as it got", () => {
    expect(lispLines(['(a "b', "", 'c" 1)'])).to.deep.equal([
      [
        { kind: "paren", text: "(" },
        { kind: "plain", text: "a " },
        { kind: "string", text: '"b' },
      ],
      [],
      [
        { kind: "string", text: 'c"' },
        { kind: "plain", text: " " },
        { kind: "number", text: "1" },
        { kind: "paren", text: ")" },
      ],
    ]);
  });
});
