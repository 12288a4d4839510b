import { expect } from "chai";
import { misquotedLine } from "sexp-parser";

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
function found(from: string, to: string): string {
  const broken = SOURCE.replace(from, () => to);
  if (broken === SOURCE) throw new Error(`not in the source: ${from}`);
  const misquoted = misquotedLine(broken);
  return misquoted === undefined ? "none" : `${misquoted.line} ${misquoted.mark}`;
}

describe("misquotedLine", () => {
  it("finds the line with a missing double quote, though later strings are then read as code", () => {
    expect(found('"Hello', "Hello")).to.equal('4 "');
    expect(found('~a" name)\n  (print', "~a name)\n  (print")).to.equal('4 "');
    expect(found('name."', "name.")).to.equal('13 "');
  });

  it("finds the line with a surplus double quote", () => {
    expect(found("(print |", '(print" |')).to.equal('5 "');
    expect(found("(values)", '(val"ues)')).to.equal('15 "');
    expect(found("Hello ~a", 'Hello "~a')).to.equal('4 "');
  });

  it("finds the line with a missing or surplus bar", () => {
    expect(found("Name|", "Name")).to.equal("5 |");
    expect(found("|Odd", "Odd")).to.equal("5 |");
    expect(found("#| A", "# A")).to.equal("7 |");
    expect(found("(values)", "(val|ues)")).to.equal("15 |");
  });

  it("finds nothing if a parenthesis is wrong", () => {
    expect(found("(values))", "(values)")).to.equal("none");
    expect(found('(format t "Hello', 'format t "Hello')).to.equal("none");
    expect(found("name)\n  (print", "name))\n  (print")).to.equal("none");
    expect(found("(defun leave (name)", "(defun leave (name")).to.equal("none");
  });

  it("takes linear time for long texts, with one line or many", () => {
    for (const part of ['"', "|", "#", "(", '"\n', "(\n", '(a "b" c) ', "\\", ",", "\f"]) {
      const text = part.repeat(Math.floor(200_000 / part.length));
      expect(() => misquotedLine(`${text}"`), part).not.to.throw();
    }
  });
});
