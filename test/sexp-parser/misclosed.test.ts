import { expect } from "chai";
import { misclosedLines, misquotedLine } from "sexp-parser";

/** What is found in the lines, as `line count`. */
function found(...lines: readonly string[]): string[] {
  return misclosedLines(lines.join("\n")).map(({ line, count }) => `${line} ${count}`);
}

describe("misclosedLines of text that lacks parentheses", () => {
  it("finds the line before one that is indented less than an open list", () => {
    expect(found("(defun f (x)", "  (let ((y (car x))", "    (print y)", "    (list y)))")).to.deep.equal(["2 1"]);
    expect(found("(defun f (x)", "  (when x", "    (print (list x)", "  (list x))")).to.deep.equal(["3 2"]);
  });

  it("finds the end of a definition before the next one", () => {
    const lines = ["(ok)", "(defun f (x)", "  (let ((y x))", "    (g y)", "", ";; G", "(defun g (y)", "  y)"];
    expect(found(...lines)).to.deep.equal(["4 2"]);
  });

  it("finds the last line if no later one shows the error", () => {
    expect(found("(defun f (x)", "  (list x)", "  ; end", "")).to.deep.equal(["2 1"]);
    expect(found("(list 1 (list 2)")).to.deep.equal(["1 1"]);
  });

  it("finds several lines", () => {
    const lines = ["(defun f (x)", "  (list x)", "", "(defun g (y)", "  (when y", "    (list y", "  nil)"];
    expect(found(...lines)).to.deep.equal(["2 1", "6 2"]);
  });

  it("ignores the indentation of strings, comments, conditionals, and atoms in column 1", () => {
    const lines = ["(defun f (x)", '  "Text', ' more text"', "; comment", "#+sbcl (g", "a)", "x", "  (list x)"];
    expect(found(...lines)).to.deep.equal(["8 1"]);
  });

  it("counts a tab as up to eight columns", () => {
    expect(found("(let ((a", "\t1))", "  (list a", "\t2)", "  (list b))")).to.deep.equal([]);
    expect(found("(let ((a", "\t1)", "  (list a", "\t2)", "  (list b))")).to.deep.equal(["2 1"]);
  });

  it("relies on column 1 alone if other indentation contradicts the parentheses", () => {
    const lines = ["(defun f (a", " b)", "(list (list a", " b))", "", "(defun g ()", "(list 1))"];
    expect(found(...lines.slice(0, 2), "  (list a b)", ...lines.slice(4))).to.deep.equal([]);
    expect(found("(let* ((a 1)", " (b 2))", "  (list (list a", " b))", "", "(defun g ()", "  1)")).to.deep.equal([
      "4 1",
    ]);
  });
});

describe("misclosedLines of text with parentheses that close nothing", () => {
  it("finds the line before one that is indented like a part of a list that is closed", () => {
    expect(found("(defun f (x)", "  (let ((y x)))", "    (print y)", "    (list y)))")).to.deep.equal(["2 1"]);
    expect(found("(defun f (x)", "  (list x)))", "  (list 1))")).to.deep.equal([]);
    expect(found("(defun f (x)", "  (when x", "    (print x)))", "    (list x)))")).to.deep.equal(["3 2"]);
  });

  it("finds nothing if the indentation does not show the error", () => {
    expect(found("(list 1))")).to.deep.equal([]);
    expect(found("(list 1)", " (list 2))")).to.deep.equal([]);
    expect(found("(defun f (x)", "  (list x)))", "(defun g (y)", "  y)")).to.deep.equal([]);
  });
});

describe("misclosedLines of other text", () => {
  it("finds nothing", () => {
    for (const source of ["", "(a\n(b))", '(a "b', "(a #| b", "'"])
      expect(misclosedLines(source), source).to.deep.equal([]);
  });

  it("takes linear time for one long line", () => {
    expect(misclosedLines(`(${"(a) 'b ".repeat(200_000)}`)).to.deep.equal([{ line: 1, count: 1 }]);
    expect(misclosedLines(`${"(".repeat(500_000)}\n${"\t".repeat(100_000)}a`)).to.deep.equal([
      { line: 2, count: 500_000 },
    ]);
  });
});

const SOURCE = `(defun greet (name)
  "Greets somebody. Doesn't return anything, as
the caller knows."
  (format t "Hello ~a" name)
  (print |Odd Name|))

#| A note, with "quotes".
(defun old ())
|#

(defun leave (name)
  "Says goodbye to the
person with the name."
  (format t "Goodbye ~a (and so on)" name)
  (values))
`;

/** Where an error is found when `from`, which is in SOURCE once, is replaced. */
function errorAfter(from: string, to: string): string {
  const broken = SOURCE.replace(from, () => to);
  if (broken === SOURCE) throw new Error(`not in the source: ${from}`);
  const misquoted = misquotedLine(broken);
  return misquoted === undefined ? "none" : `${misquoted.line} ${misquoted.mark}`;
}

describe("misquotedLine", () => {
  it("finds the line with a missing double quote, though later strings are then read as code", () => {
    expect(errorAfter('"Hello', "Hello")).to.equal('4 "');
    expect(errorAfter('~a" name)\n  (print', "~a name)\n  (print")).to.equal('4 "');
    expect(errorAfter('name."', "name.")).to.equal('13 "');
  });

  it("finds the line with a surplus double quote", () => {
    expect(errorAfter("(print |", '(print" |')).to.equal('5 "');
    expect(errorAfter("(values)", '(val"ues)')).to.equal('15 "');
    expect(errorAfter("Hello ~a", 'Hello "~a')).to.equal('4 "');
  });

  it("finds the line with a missing or surplus bar", () => {
    expect(errorAfter("Name|", "Name")).to.equal("5 |");
    expect(errorAfter("|Odd", "Odd")).to.equal("5 |");
    expect(errorAfter("#| A", "# A")).to.equal("7 |");
    expect(errorAfter("(values)", "(val|ues)")).to.equal("15 |");
  });

  it("finds nothing if a parenthesis is wrong", () => {
    expect(errorAfter("(values))", "(values)")).to.equal("none");
    expect(errorAfter('(format t "Hello', 'format t "Hello')).to.equal("none");
    expect(errorAfter("name)\n  (print", "name))\n  (print")).to.equal("none");
    expect(errorAfter("(defun leave (name)", "(defun leave (name")).to.equal("none");
  });

  it("takes linear time for long texts, with one line or many", () => {
    for (const part of ['"', "|", "#", "(", '"\n', "(\n", '(a "b" c) ', "\\", ",", "\f"]) {
      const text = part.repeat(Math.floor(200_000 / part.length));
      expect(() => misquotedLine(`${text}"`), part).not.to.throw();
    }
  });
});
