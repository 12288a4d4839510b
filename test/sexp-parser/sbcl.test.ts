import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import {
  decode,
  dotted,
  elements,
  equals,
  FUNCTION,
  intern,
  keyword,
  list,
  NIL,
  print,
  printSource,
  read,
  readAll,
  readWithPositions,
  type Sexp,
  scan,
  symbol,
  T,
} from "sexp-parser";
import { findSwank } from "swank-client/launch";
import { runSbcl } from "./sbcl.js";

/** Strings that UTF-8 can encode. */
const text = fc.string({
  unit: fc.oneof(fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), fc.constantFrom(...'"\\|#() \n\t:')),
});

/** Names that look like other tokens, and names of letters whose case SBCL's Unicode knows. */
const name = fc.oneof(
  fc.constantFrom(..."FOO,foo,123,1+,+1,1E5,1.5,.,..,,A:B,|,-,1_2,É,é,µ,ß,ﬁ,ⅷ,შ,ǆ".split(",")),
  fc.string({ unit: fc.integer({ min: 0, max: 0x17f }).map((code) => String.fromCodePoint(code)) }),
);

const atom: fc.Arbitrary<Sexp> = fc.oneof(
  text,
  fc.maxSafeInteger(),
  fc.bigInt({ min: 2n ** 53n }),
  name.map((string) => intern(string)),
  name.map((string) => intern(string, "KEYWORD")),
  name.map((string) => intern(string, "EMPTY", true)),
  name.map((string) => intern(string, "")),
  fc.constantFrom(..."az(\\| \n\0\x7f").map((value): Sexp => ({ kind: "character", value })),
  fc.stringMatching(/^[01]{0,9}$/).map((bits): Sexp => ({ kind: "bit-vector", bits })),
  fc.bigInt().map((n): Sexp => ({ kind: "ratio", numerator: n * 2n + 1n, denominator: 2n })),
);

/** Data that SBCL can read. */
const { datum } = fc.letrec<{ datum: Sexp; items: Sexp[] }>((tie) => ({
  datum: fc.oneof(
    { maxDepth: 4 },
    atom,
    tie("items").map((items) => list(...items)),
    fc.tuple(tie("items"), tie("datum")).map(([items, tail]) => dotted(items, tail)),
    tie("items").map((items): Sexp => ({ kind: "vector", items })),
  ),
  items: fc.array(tie("datum"), { maxLength: 4 }),
}));

/** Pieces of source text. A datum follows each prefix, so that only lexical errors can occur. */
const source = fc
  .array(
    fc.constantFrom(
      ...'( ) ( ) ( ) " | ; a 1 #\\( #\\) #\\" #\\| #\\; #\\space #\\\\ \'a #\'( `( `(,b `(,@( #( #2( |a( a\\( \\| "\\" #| |# #:x #x1f #*01 #p"a #.( foo#|'.split(
        " ",
      ),
      " ",
      "\n",
      "#\\ ",
      "#+sbcl ( ",
      "#+sbcl a ",
    ),
    { maxLength: 14 },
  )
  .map((pieces) => pieces.join(""));

/** Writes, for each string on the input, the number of data that SBCL's reader finds, or the error. Interns nothing. */
const OUTLINE = `
(let ((*read-suppress* t))
  (dolist (source (on-the-wire (read *in*)))
    (format *out* "~s~%"
      (handler-case
          (with-input-from-string (stream source)
            (loop until (eq (read stream nil stream) stream) count t))
        (end-of-file () :unfinished)
        (reader-error (problem) (if (search "unmatched close" (princ-to-string problem)) :extra-close :other)))))
  (finish-output *out*))`;

function outlineOf(text: string): Sexp {
  const { kind, forms } = scan(text);
  if (kind === "balanced") return forms.length;
  return keyword(kind === "extra-close" ? "extra-close" : "unfinished");
}

/** Reads all data on the input and prints each. */
const ECHO = `
(on-the-wire
  (loop for datum = (read *in* nil *in*)
        until (eq datum *in*)
        do (prin1 datum *out*) (terpri *out*))
  (finish-output *out*))`;

/** Lisp expressions, and the datum that their printed value is read as. */
const VALUES: readonly (readonly [expression: string, datum: Sexp])[] = [
  ["nil", NIL],
  ["'()", NIL],
  ["t", T],
  [":foo", keyword("foo")],
  [":|Foo|", intern("Foo", "KEYWORD")],
  [":nil", keyword("nil")],
  ["'car", symbol("common-lisp:car")],
  ["'empty::x", symbol("empty::x")],
  ["'wire::foo", symbol("foo")],
  ['(make-symbol "G")', intern("G", "")],
  ["'wire::|lower|", intern("lower")],
  ["'empty::|we ird\\|x|", intern("we ird|x", "EMPTY", true)],
  ["'empty::|a:b|", intern("a:b", "EMPTY", true)],
  ["'empty::|123|", intern("123", "EMPTY", true)],
  ["'empty::||", intern("", "EMPTY", true)],
  ["42", 42],
  ["123456789012345678901234567890", 123456789012345678901234567890n],
  ["1/3", { kind: "ratio", numerator: 1n, denominator: 3n }],
  ["1.5d0", { kind: "float", value: 1.5, text: "1.5" }],
  ["(float 1f30 1d0)", { kind: "float", value: 1.0000000150474662e30, text: "1.0000000150474662e30" }],
  ["1.5f0", { kind: "float", value: 1.5, text: "1.5f0" }],
  ["-0.0d0", { kind: "float", value: -0, text: "-0.0" }],
  ["most-positive-double-float", { kind: "float", value: Number.MAX_VALUE, text: "1.7976931348623157e308" }],
  ["sb-ext:double-float-positive-infinity", { kind: "opaque", text: "#.sb-ext:double-float-positive-infinity" }],
  ["#C(1 2)", { kind: "complex", real: 1, imaginary: 2 }],
  ["#(1 2 3)", { kind: "vector", items: [1, 2, 3] }],
  ["#2A((1 2) (3 4))", { kind: "array", rank: 2, contents: list(list(1, 2), list(3, 4)) }],
  ["#*101", { kind: "bit-vector", bits: "101" }],
  ["#\\a", { kind: "character", value: "a" }],
  ["#\\Newline", { kind: "character", value: "\n" }],
  ["#\\Space", { kind: "character", value: " " }],
  ["(list #\\Space #\\( 1)", [{ kind: "character", value: " " }, { kind: "character", value: "(" }, 1]],
  ["(code-char 233)", { kind: "opaque", text: "#\\LATIN_SMALL_LETTER_E_WITH_ACUTE" }],
  ['(format nil "a~cb~c\\"\\\\~c" #\\Newline #\\Tab #\\Nul)', 'a\nb\t"\\\0'],
  ["(string (code-char 233))", "é"],
  ["'(1 . 2)", dotted([1], 2)],
  ["'(1 2 . 3)", dotted([1, 2], 3)],
  ["''wire::x", [symbol("common-lisp:quote"), symbol("x")]],
  ["'#'car", [FUNCTION, symbol("common-lisp:car")]],
  ['#P"/tmp/x"', { kind: "pathname", namestring: "/tmp/x" }],
  [
    "(progn (defstruct cl-user::point x y) (cl-user::make-point :x 1))",
    read("#S(common-lisp-user::point :x 1 :y nil)"),
  ],
];

describe("SBCL", () => {
  it("prints values that read reads as expected", async () => {
    const expressions = VALUES.map(([expression]) => `(print-value ${expression})`);
    const define = "(defun print-value (value) (on-the-wire (prin1 value *out*) (terpri *out*) (finish-output *out*)))";
    const data = readAll(await runSbcl(`(progn ${define} ${expressions.join(" ")})`));
    for (const [index, [expression, datum]] of VALUES.entries()) expect(data[index], expression).to.deep.equal(datum);
  });

  it("prints unreadable objects that read as opaque text with the right end", async () => {
    const program = `
      (on-the-wire
        (prin1 (list (make-hash-table) (find-package :cl) *standard-output* #'car (lambda (x) x) (make-condition 'error)
                     (list (find-class 'standard-object)) 42)
               *out*)
        (finish-output *out*))`;
    const items = decode.list(decode.any)(read(await runSbcl(program)));
    expect(items).to.have.lengthOf(8);
    expect(items.at(-1)).to.equal(42);
    for (const item of [...items.slice(0, 6), ...decode.list(decode.any)(items[6] ?? NIL)])
      expect(item).to.have.property("kind", "opaque");
  });

  it("returns equal data for printed data", async () => {
    const data = fc.sample(datum, 2000);
    const output = await runSbcl(ECHO, data.map(print).join("\n"));
    const back = readAll(output);
    for (const [index, sent] of data.entries()) {
      const received = back[index];
      if (received === undefined || !equals(received, sent))
        expect.fail(`sent ${print(sent)}, received ${received === undefined ? "nothing" : print(received)}`);
    }
  });

  it("finds the same forms and unfinished text as scan", async () => {
    const sources = fc.sample(source, 5000);
    const outlines = readAll(await runSbcl(OUTLINE, print(sources)));
    for (const [index, text] of sources.entries()) {
      const outline = outlines[index];
      if (outline !== keyword("other")) expect([text, outline]).to.deep.equal([text, outlineOf(text)]);
    }
  });
});

/**
 * Writes the names of SBCL's features, then for each file on the input the offsets after the top-level forms that SBCL's
 * reader finds, one byte being one char, or `:refused`. Nothing is interned or evaluated.
 */
const FORM_ENDS = `
(progn
  (format *out* "~s~%" (mapcar #'symbol-name *features*))
  (dolist (file (on-the-wire (read *in*)))
    (format *out* "~s~%"
      (handler-case
          (with-open-file (stream file :external-format :latin-1)
            (let ((*read-suppress* t))
              (loop until (eq (read-preserving-whitespace stream nil stream) stream) collect (file-position stream))))
        (error () "refused"))))
  (finish-output *out*))`;

const names = decode.list(decode.string);
const ends = decode.oneOf(decode.list(decode.integer), decode.string);

async function slimeFiles(): Promise<readonly string[]> {
  const folder = await findSwank();
  const files = await readdir(folder, { recursive: true });
  return files.filter((name) => name.endsWith(".lisp")).map((name) => join(folder, name));
}

describe("readWithPositions on the sources of SLIME", () => {
  it("gives trees that print as the files", async () => {
    for (const file of await slimeFiles()) {
      const text = await readFile(file, "latin1");
      expect(printSource(readWithPositions(text)) === text, file).to.equal(true);
    }
  });

  it("finds the top-level forms that SBCL's reader finds with its features", async () => {
    const files = await slimeFiles();
    const [features = "missing", ...answers] = readAll(await runSbcl(FORM_ENDS, print(files)));
    let compared = 0;
    for (const [index, file] of files.entries()) {
      const expected = ends(answers[index] ?? "missing");
      if (typeof expected === "string") continue;
      const tree = readWithPositions(await readFile(file, "latin1"), { features: names(features) });
      expect(
        elements(tree).map(({ end }) => end),
        file,
      ).to.deep.equal(expected);
      compared += 1;
    }
    // SBCL refuses files of other Lisps, whose feature expressions name packages that it lacks.
    expect(compared).to.be.greaterThan(0.7 * files.length);
  });
});
