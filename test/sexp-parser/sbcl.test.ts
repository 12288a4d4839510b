import { expect } from "chai";
import fc from "fast-check";
import { dotted, equals, intern, keyword, list, print, readAll, type Sexp, scan } from "sexp-parser";
import { runSbcl } from "./sbcl.js";

/** Text that survives UTF-8. */
const text = fc.string({
  unit: fc.oneof(fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), fc.constantFrom(...'"\\|#() \n\t:')),
});

/** Names that look like something else, and any others of letters whose case SBCL's Unicode knows. */
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

/** Data that SBCL reads, in its own spelling. */
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

/** Pieces of source text; each prefix is followed by what it applies to, so that only what is lexical can be wrong. */
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

/** For each string on the input: how many data SBCL's reader finds in it, or what is wrong, without interning. */
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

/** Reads all data on the input and writes each. */
const ECHO = `
(on-the-wire
  (loop for datum = (read *in* nil *in*)
        until (eq datum *in*)
        do (prin1 datum *out*) (terpri *out*))
  (finish-output *out*))`;

describe("SBCL", () => {
  it("reads what is printed, and writes what is read, as the same data", async () => {
    const data = fc.sample(datum, 2000);
    const output = await runSbcl(ECHO, data.map(print).join("\n"));
    const back = readAll(output);
    for (const [index, sent] of data.entries()) {
      const received = back[index];
      if (received === undefined || !equals(received, sent))
        expect.fail(`sent ${print(sent)}, received ${received === undefined ? "nothing" : print(received)}`);
    }
  });

  it("agrees with the scanner on what is a form and what is unfinished", async () => {
    const sources = fc.sample(source, 5000);
    const outlines = readAll(await runSbcl(OUTLINE, print(sources)));
    for (const [index, text] of sources.entries()) {
      const outline = outlines[index];
      if (outline !== keyword("other")) expect([text, outline]).to.deep.equal([text, outlineOf(text)]);
    }
  });
});
