import { expect } from "chai";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

/** Maximum size of an answer: a few values or outputs of the maximum size. */
const FLOOD = 50_000;

describe("evaluate-lisp on code that behaves badly", () => {
  let server: McpStdio;

  before(async () => {
    server = await McpStdio.start(["--timeout", "20"]);
  });

  afterEach(async () => {
    expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
  });

  after(async () => {
    await server.end();
  });

  const cases: readonly [what: string, code: string, answer: RegExp][] = [
    ["prints forever", "(loop (print :more))", /characters left out[\s\S]*\[TIMEOUT\] /],
    [
      "returns 100 MB of text",
      "(make-string 100000000 :initial-element #\\a)",
      /^=> "a+"?\.\.\. \[20000 of 100000000 /,
    ],
    ["returns a circular list", "(let ((x (list 1))) (setf (cdr x) x) x)", /^=> \(1 1 .*\.\.\./],
    ["recurses forever", "(labels ((f (x) (+ 1 (f x)))) (f 1))", /\[ERROR\] STORAGE-CONDITION\n/],
    ["reads from standard input", "(read-line)", /^\[ERROR\] END-OF-FILE\n/],
    [
      "fails while an object is printed",
      '(defclass bad () ()) (defmethod print-object ((x bad) s) (error "no")) (make-instance \'bad)',
      /=> .*(?:error|<)/i,
    ],
    [
      "returns a huge number of values",
      "(values-list (loop repeat 15000 collect 1))",
      /\n=> \[50 of 15000 values shown\]$/,
    ],
    ["has quotation marks in nested comments", "#| “a” #| “b” |# “c” |# 7", /^=> 7$/],
    ["has a quotation mark as a name", "#| a |# (list “)", /\[ERROR\] ODD-CHARACTER\n.*line 1, column 15 /],
    ["contains a NUL", '(length "a\u0000b")', /^=> 3$/],
    ["contains characters beyond the Basic Multilingual Plane", '(char-code (char "\u{1F600}" 0))', /^=> 128512$/],
    ["aborts itself", "(abort)", /^; Evaluation aborted$/],
    ["throws to an unknown tag", "(throw 'nowhere 1)", /^\[ERROR\] CONTROL-ERROR\n/],
    ["names an unknown package", "foo::bar", /^\[ERROR\] (?:READER|PACKAGE)-ERROR\n/],
    ["names an unknown character", "#\\NoSuchCharacter", /^\[ERROR\] READER-ERROR\n/],
    ["has too many closing parentheses", "(+ 1 2))", /^\[ERROR\] READER-ERROR\n.*\nLine 1, column 8: /],
  ];

  for (const [what, code, answer] of cases) {
    it(`keeps working after code that ${what}`, async () => {
      // Printing for longer takes a processor from the other tests.
      const timeout = what === "prints forever" ? 1 : 5;
      const [report = "", ...rest] = await server.evaluate(code, { timeout });
      expect(report).to.match(answer);
      expect(report.length + rest.join("").length).to.be.below(FLOOD);
    });
  }

  it("accepts 5 MB of code", async () => {
    const report = await server.evaluate(`(length ${JSON.stringify("x".repeat(5_000_000))})`);
    expect(report).to.deep.equal(["=> 5000000"]);
  });

  it("pauses code that exceeds its timeout, and runs other code", async () => {
    const result = await server.call("evaluate-lisp", { code: "(defun spin () (loop)) (spin)", timeout: 0.5 });
    expect(result.isError).to.equal(true);
    const [report, stop] = blocks(result);
    expect(report).to.match(/^\[TIMEOUT\] .*\nThe evaluation gave no value within 0\.5 s\./);
    expect(report).to.match(/^\d+: \(SPIN\)/m);
    expect(stop).to.match(/^Stopped, nothing unwound: thread \d+\/1/);
    expect(blocks(await server.call("describe-last-error"))[0]).to.match(/within 0\.5 s/);
  });

  it("reports code that cannot be interrupted as still running", async () => {
    const result = await server.call("evaluate-lisp", {
      code: "(sb-sys:without-interrupts (loop (sleep 0.01)))",
      timeout: 0.5,
    });
    expect(result.isError).to.equal(true);
    expect(blocks(result)[0]).to.match(/^\[TIMEOUT\] TIMEOUT\n.*(?:STILL RUNNING|was aborted)/);
  });
});
