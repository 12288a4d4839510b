import { expect } from "chai";
import { bareCode, excerpt, type FormSpan, type Position, positionAt, type ScanResult, scan } from "sexp-parser";

/** The texts of the top-level forms of a result. */
function formsOf(source: string, { forms }: ScanResult): string[] {
  return forms.map(({ offset, end }) => source.slice(offset, end));
}

function at(line: number, column: number, offset: number): Position {
  return { line, column, offset };
}

/** The result of a scan without the forms. */
function problemOf(source: string): Omit<ScanResult, "forms"> {
  const { forms: _, ...problem } = scan(source);
  return problem;
}

describe("scan of balanced text", () => {
  const cases: readonly (readonly [source: string, forms: readonly string[]])[] = [
    ["", []],
    [" ; nothing )\n#| ( |# ", []],
    ["a", ["a"]],
    ["(a) b (c (d))", ["(a)", "b", "(c (d))"]],
    ["(a)(b)c", ["(a)", "(b)", "c"]],
    ['"a(" "\\")" b', ['"a("', '"\\")"', "b"]],
    ["|a(| a\\( b|)|\\)", ["|a(|", "a\\(", "b|)|\\)"]],
    ["'a `(b ,c ,@d) #'e", ["'a", "`(b ,c ,@d)", "#'e"]],
    ["' ; comment\n a", ["' ; comment\n a"]],
    ["''(a)", ["''(a)"]],
    [
      '#\\( #\\) #\\" #\\; #\\| #\\\\ #\\space #\\ ',
      ["#\\(", "#\\)", '#\\"', "#\\;", "#\\|", "#\\\\", "#\\space", "#\\ "],
    ],
    ["(#\\()(#\\\\)", ["(#\\()", "(#\\\\)"]],
    ['#(a) #2A((b)) #S(c) #C(1 2) #P"d" #.(e)', ["#(a)", "#2A((b))", "#S(c)", "#C(1 2)", '#P"d"', "#.(e)"]],
    ["#:a #*01 #* #x1F #36rZZ #b1 #1=a #1#", ["#:a", "#*01", "#*", "#x1F", "#36rZZ", "#b1", "#1=a", "#1#"]],
    ["#:|a(| b", ["#:|a(|", "b"]],
    ["#+sbcl (a) #-sbcl (b) c", ["#+sbcl (a)", "#-sbcl (b)", "c"]],
    ["#+(or a b) '(c) d", ["#+(or a b) '(c)", "d"]],
    ["(a #+b c) d", ["(a #+b c)", "d"]],
    ["#<a b> c", ["#<a", "b>", "c"]],
    ["#|(|# a #| #|)|# ( |# b", ["a", "b"]],
    ["a;(\nb", ["a", "b"]],
    ["a'b", ["a", "'b"]],
    ["a#|b|#", ["a#|b|#"]],
    ["日本 (é)", ["日本", "(é)"]],
    ["#?(a) #!b", ["#?(a)", "#!b"]],
    ['(#"a(" b) c', ['(#"a(" b)', "c"]],
  ];
  for (const [source, forms] of cases)
    it(`finds the forms of ${JSON.stringify(source)}`, () => {
      const result = scan(source);
      expect(result.kind).to.equal("balanced");
      expect(formsOf(source, result)).to.deep.equal(forms);
    });

  it("gives the positions of forms for any line ends", () => {
    const source = '(a\n b)\r\n  "x\ny" c\n\n\'d';
    const forms: FormSpan[] = [
      { ...at(1, 1, 0), end: 6 },
      { ...at(3, 3, 10), end: 15 },
      { ...at(4, 4, 16), end: 17 },
      { ...at(6, 1, 19), end: 21 },
    ];
    expect(scan(source)).to.deep.equal({ kind: "balanced", forms });
  });
});

describe("scan of unclosed lists", () => {
  it("finds one missing parenthesis", () => {
    expect(problemOf("(a\n  (b)")).to.deep.equal({
      kind: "unclosed-list",
      missing: 1,
      innermost: at(1, 1, 0),
      outermost: at(1, 1, 0),
    });
  });

  it("finds several missing parentheses", () => {
    const source = "(ok)\n(defun f (x)\n  (let ((y x))\n    (g y)\n\n(defun g (y)\n  y)\n\n(defun h ())\n";
    expect(scan(source)).to.deep.equal({
      kind: "unclosed-list",
      missing: 2,
      innermost: at(3, 3, 20),
      outermost: at(2, 1, 5),
      forms: [{ ...at(1, 1, 0), end: 4 }],
    });
  });

  it("ignores parentheses in strings, comments, symbols and characters", () => {
    for (const source of ['(a "\n(b"', "(a ;)\n", "(a #| ) |#", "(a #\\)", "(a |)|", "(a \\)", "(a #:|)|"])
      expect(problemOf(source), source).to.include({ kind: "unclosed-list", missing: 1 });
  });

  it("finds an unclosed list after a prefix", () =>
    expect(problemOf("a #2A((b)")).to.deep.include({ kind: "unclosed-list", missing: 1, innermost: at(1, 6, 5) }));
});

describe("scan of extra parentheses", () => {
  it("finds an extra closing parenthesis", () => {
    const source = "(a)\n(b))\n(c)";
    expect(scan(source)).to.deep.equal({
      kind: "extra-close",
      position: at(2, 4, 7),
      forms: [
        { ...at(1, 1, 0), end: 3 },
        { ...at(2, 1, 4), end: 7 },
      ],
    });
  });

  it("finds one at the start", () =>
    expect(problemOf(")")).to.deep.equal({ kind: "extra-close", position: at(1, 1, 0) }));
});

describe("scan of unterminated text", () => {
  const cases: readonly (readonly [source: string, what: string, start: Position, depth: number])[] = [
    ['"a', "string", at(1, 1, 0), 0],
    ['(a\n "b\\"', "string", at(2, 2, 4), 1],
    ['"\\', "string", at(1, 1, 0), 0],
    ["((|a", "symbol", at(1, 3, 2), 2],
    ["a|b\\|", "symbol", at(1, 1, 0), 0],
    ["a\\", "symbol", at(1, 1, 0), 0],
    ["#:|a", "symbol", at(1, 1, 0), 0],
    ["#\\", "symbol", at(1, 1, 0), 0],
    ["(#| a #| |# )", "comment", at(1, 2, 1), 1],
    ["a #|", "comment", at(1, 3, 2), 0],
    ["#|#", "comment", at(1, 1, 0), 0],
  ];
  for (const [source, what, start, depth] of cases)
    it(`finds an unterminated ${what} in ${JSON.stringify(source)}`, () =>
      expect(problemOf(source)).to.deep.equal({ kind: "unterminated", what, start, depth }));

  it("finds a prefix without a form", () => {
    const cases: readonly (readonly [source: string, offset: number])[] = [
      ["'", 0],
      ["a ' ; b", 2],
      ["#'", 0],
      ["#+sbcl", 0],
      ["#+sbcl '", 0],
      ["b #.", 2],
      ["#", 0],
    ];
    for (const [source, offset] of cases)
      expect(problemOf(source), source).to.deep.equal({ kind: "missing-form", start: at(1, offset + 1, offset) });
  });
});

describe("scan of long text", () => {
  it("takes linear time for one long line", () => {
    const source = "a ' ".repeat(500_000);
    expect(scan(source).forms.at(-1)).to.deep.equal({
      ...at(1, source.length - 5, source.length - 6),
      end: source.length - 3,
    });
  });

  it("finds a single error", () => {
    const form = '(defun f (x) "doc \\" ; (" #\\( |(| #| ( |# (list x \'y)) ; (\n';
    const source = form.repeat(50_000);
    expect(scan(source).forms).to.have.lengthOf(50_000);
    expect(problemOf(`${source})`)).to.deep.equal({ kind: "extra-close", position: at(50_001, 1, source.length) });
    expect(problemOf(`${source}(${source}`)).to.deep.include({
      kind: "unclosed-list",
      missing: 1,
      outermost: at(50_001, 1, source.length),
    });
  });
});

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

  it("treats an offset beyond the end as the end", () =>
    expect(positionAt("a\nb", 100)).to.deep.equal({ offset: 3, line: 2, column: 2 }));
});

describe("excerpt", () => {
  const excerptAt = (text: string, offset: number): string => excerpt(text, positionAt(text, offset));

  it("shows the line and a caret under the position", () => {
    expect(excerptAt("a\nbcd\r\ne", 4)).to.equal("bcd\n  ^");
    expect(excerptAt("a\nbcd\r\ne", 8)).to.equal("e\n ^");
    expect(excerptAt("", 0)).to.equal("\n^");
  });

  it("keeps tabs, so that the caret stays under its column", () =>
    expect(excerptAt("\ta\tb c", 5)).to.equal("\ta\tb c\n\t \t  ^"));

  it("shows at most 80 chars of a long line around the position", () => {
    const text = Array.from({ length: 400 }, (_, index) => String.fromCharCode(97 + (index % 26))).join("");
    for (const offset of [0, 39, 40, 200, 370, 399]) {
      const [line = "", margin = ""] = excerptAt(text, offset).split("\n");
      expect(line).to.have.lengthOf(80);
      expect(line.charAt(margin.indexOf("^"))).to.equal(text.charAt(offset));
    }
  });
});

describe("bareCode", () => {
  const code = '(a "x;y" ; c\n #| b #| n |# |# |q;r| #\\; #\\a\\n(b))';

  it("blanks comments, and keeps line breaks and offsets", () => {
    expect(bareCode(code)).to.equal(`(a "x;y"    \n${" ".repeat(17)}|q;r| #\\; #\\a\\n(b))`);
  });

  it("blanks strings, characters and names in bars on demand", () => {
    expect(bareCode(code, true)).to.equal(`(a          \n${" ".repeat(30)}\\n(b))`);
  });

  it("takes what is not closed to extend to the end", () => {
    const texts = ['(a "x', "(a |x", "(a #| x"];
    expect(texts.map((text) => bareCode(text, true))).to.deep.equal(["(a   ", "(a   ", "(a     "]);
  });
});
