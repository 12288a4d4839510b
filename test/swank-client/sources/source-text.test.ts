import { expect } from "chai";
import fc from "fast-check";
import { positionAt } from "sexp-parser";
import { SourceText } from "swank-client";

const UTF8 = new TextEncoder();

/** Texts with lines, and characters of one to four bytes. */
const texts = fc.array(fc.constantFrom("a", "(", "\n", "\r\n", "é", "→", "😀", "𝒳"), { maxLength: 700 });

describe("SourceText", () => {
  it("converts characters, bytes and lines to positions in UTF-16", () => {
    const property = fc.property(texts, fc.nat(700), (parts, seed) => {
      const text = parts.join("");
      const characters = Array.from(text);
      const count = seed % (characters.length + 1);
      const before = characters.slice(0, count).join("");
      const expected = positionAt(text, before.length);
      const source = new SourceText(UTF8.encode(text));
      expect(source.text).to.equal(text);
      expect(source.at(before.length)).to.deep.equal(expected);
      expect(source.atCharacter(count + 1)).to.deep.equal(expected);
      expect(source.atByte(UTF8.encode(before).length + 1)).to.deep.equal(expected);
      const column = Array.from(before.slice(before.lastIndexOf("\n") + 1)).length;
      expect(source.atLine(expected.line, column)).to.deep.equal(expected);
    });
    fc.assert(property);
  });

  it("takes a position before or beyond the text for its beginning or end", () => {
    const source = new SourceText("ab\n😀");
    const end = { offset: 5, line: 2, column: 3 };
    for (const place of [source.at(99), source.atCharacter(99), source.atByte(99), source.atLine(2, 99)])
      expect(place).to.deep.equal(end);
    expect(source.atLine(99)).to.deep.equal(end);
    expect(source.atLine(1, 99)).to.deep.equal({ offset: 2, line: 1, column: 3 });
    for (const place of [source.at(-1), source.atCharacter(0), source.atByte(-9)])
      expect(place).to.deep.equal({ offset: 0, line: 1, column: 1 });
    expect(new SourceText("").atCharacter(1)).to.deep.equal({ offset: 0, line: 1, column: 1 });
  });

  it("finds the first visible character of a line without a column", () => {
    const source = new SourceText("a\n  (b)\r\n\n");
    expect(source.atLine(2)).to.deep.equal({ offset: 4, line: 2, column: 3 });
    expect(source.atLine(3)).to.deep.equal({ offset: 9, line: 3, column: 1 });
  });

  it("keeps a byte order mark out of its text and offsets, which Lisp counts", () => {
    const source = new SourceText(UTF8.encode("\ufeffab"));
    expect(source.text).to.equal("ab");
    expect(source.atCharacter(3).offset).to.equal(1);
    expect(source.atByte(5).offset).to.equal(1);
    expect(source.atCharacter(1).offset).to.equal(0);
  });

  it("reads bytes in the encoding that the file names, otherwise in UTF-8 or Latin-1", () => {
    const latin = (text: string) => Buffer.from(text, "latin1");
    expect(new SourceText(latin(";; é")).text).to.equal(";; é");
    expect(new SourceText(latin(";; -*- Mode: Lisp; coding: iso-8859-1-unix; -*-\nÃ©")).text).to.match(/\nÃ©$/);
    expect(new SourceText(latin(";; é\n;; Local Variables:\n;; coding: latin-1\n;; End:\n")).text).to.match(/^;; é\n/);
    const japanese = Buffer.from(";; -*- coding: euc-jp -*- \xc6\xfc", "latin1");
    expect(new SourceText(japanese).text).to.match(/日$/);
    expect(new SourceText(UTF8.encode(";; -*- coding: no-such-encoding -*- é")).text).to.match(/é$/);
    expect(new SourceText(latin("éé x")).atByte(3).offset).to.equal(2);
  });
});
