import { expect } from "chai";
import { excerpt, positionAt } from "sexp-parser";

describe("positionAt", () => {
  it("counts lines and columns from 1, with a newline as the last char of its line", () => {
    const text = "ab\r\n\nc😀d\n";
    const places = [...text].map((_, index) => positionAt(text, index));
    expect(places.map(({ line, column }) => `${line}:${column}`).join(" ")).to.equal(
      "1:1 1:2 1:3 1:4 2:1 3:1 3:2 3:3 3:4",
    );
    expect(positionAt(text, 8)).to.deep.equal({ offset: 8, line: 3, column: 4 });
    expect(positionAt(text, text.length)).to.deep.equal({ offset: text.length, line: 4, column: 1 });
  });

  it("treats an offset beyond the end as the end", () => {
    expect(positionAt("a\nb", 100)).to.deep.equal({ offset: 3, line: 2, column: 2 });
  });
});

describe("excerpt", () => {
  const excerptAt = (text: string, offset: number): string => excerpt(text, positionAt(text, offset));

  it("shows the line and a caret under the position", () => {
    expect(excerptAt("a\nbcd\r\ne", 4)).to.equal("bcd\n  ^");
    expect(excerptAt("a\nbcd\r\ne", 8)).to.equal("e\n ^");
    expect(excerptAt("", 0)).to.equal("\n^");
  });

  it("keeps tabs, so that the caret stays under its column", () => {
    expect(excerptAt("\ta\tb c", 5)).to.equal("\ta\tb c\n\t \t  ^");
  });

  it("shows at most 80 chars of a long line around the position", () => {
    const text = Array.from({ length: 400 }, (_, index) => String.fromCharCode(97 + (index % 26))).join("");
    for (const offset of [0, 39, 40, 200, 370, 399]) {
      const [line = "", margin = ""] = excerptAt(text, offset).split("\n");
      expect(line).to.have.lengthOf(80);
      expect(line.charAt(margin.indexOf("^"))).to.equal(text.charAt(offset));
    }
  });
});
