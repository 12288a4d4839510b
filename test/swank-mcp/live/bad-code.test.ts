import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

/** Maximum size of an answer: a few values or outputs of the maximum size. */
const FLOOD = 50_000;

describe("evaluate-lisp on code that behaves badly", () => {
  const server = liveServer({ args: ["--timeout", "20"] });
  afterEach(async () => {
    expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
  });

  const cases: readonly [what: string, code: string, answer: RegExp][] = [
    ["prints forever", "(loop (print :more))", /characters left out[\s\S]*\[TIMEOUT\] /],
    [
      "returns 100 MB of text",
      "(make-string 100000000 :initial-element #\\a)",
      /^=> "a+"?\.\.\. \[20000 of 100000000 /,
    ],
    [
      "returns a huge number of values",
      "(values-list (loop repeat 15000 collect 1))",
      /\n=> \[50 of 15000 values shown\]$/,
    ],
    ["has quotation marks in nested comments", "#| “a” #| “b” |# “c” |# 7", /^=> 7$/],
    ["has a quotation mark as a name", "#| a |# (list “)", /\[ERROR\] ODD-CHARACTER\n.*line 1, column 15 /],
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

  it("names the printing method that does not return, of a value and at a stop", async () => {
    await server.evaluate("(defclass endless () ()) (defmethod print-object ((x endless) s) (loop (sleep 0.01)))");
    const value = await server.call("evaluate-lisp", { code: "(make-instance 'endless)", timeout: 0.5 });
    expect(blocks(value)[0]).to.match(
      /^\[TIMEOUT\] [\s\S]* It was printing an object: PRINT-OBJECT for ENDLESS has not returned\. Correct that method/,
    );
    const stop = await server.call("evaluate-lisp", {
      code: '(defun stop-with (x) (error "~a" (type-of x))) (stop-with (make-instance \'endless))',
    });
    expect(blocks(stop).join("\n")).to.match(/X = #<a COMMON-LISP-USER::ENDLESS takes too long to print>/);
    expect(blocks(stop).at(-1)).to.match(
      /^Printing stops after 2 s for one answer\. inspect-object shows the parts .* correct it\.$/,
    );
  });

  it("says how to look at an object that prints slowly, which is true", async () => {
    await server.evaluate(`(defclass slow () ((part :initform (list 1 2))))
      (defmethod print-object ((x slow) s) (sleep 2.5) (write-string "#<slow>" s)) (defvar *slow* (make-instance 'slow)) nil`);
    const inspected = blocks(await server.call("inspect-object", { object: "*slow*" }));
    expect(inspected[0]).to.match(/^#<a COMMON-LISP-USER::SLOW takes too long to print>\n[\s\S]*^\[0\] PART: \(1 2\)/m);
    expect(inspected.at(-1)).to.match(/^Printing stops after 2 s/);
    const instances = blocks(await server.call("heap", { mode: "instances", type: "slow" }));
    expect(instances.at(-1)).to.match(/^Printing stops after 2 s/);
    expect(await server.evaluate("*slow*", { timeout: 20 })).to.deep.equal(["=> #<slow>"]);
    for (const text of ['"#<a CL-USER::SLOW takes too long to print>"', "'|#<a slow takes too long to print>|"])
      expect(await server.evaluate(text)).to.have.length(1);
  });

  it("says how a timeout was understood that may be meant in milliseconds", async () => {
    const remark = (timeout: number) => server.call("evaluate-lisp", { code: "1", timeout }).then(blocks);
    expect(await remark(30_000)).to.deep.equal([
      "=> 1",
      "timeout 30000 was taken as 30000 seconds (500 minutes), not milliseconds.",
    ]);
    expect(await remark(600)).to.deep.equal(["=> 1"]);
    expect((await remark(300_000))[0]).to.match(
      /must be a number of seconds of at least 0.001 and at most 86400, not 300000\./,
    );
  });
});

/** A character that nobody sees or takes for another one, in code or in a name; its code point; and the advice. */
const ODD: readonly [where: string, text: string, name: string, advice: string][] = [
  ["a zero width space", "ca\u200br", "U+200B ZERO WIDTH SPACE at line 1, column 3", "Leave it out"],
  ["a no-break space", "car\u00a0x", "U+00A0 NO-BREAK SPACE at line 1, column 4", "Write a space instead"],
  ["a soft hyphen", "with\u00adslots", "U+00AD SOFT HYPHEN at line 1, column 5", "Leave it out"],
  ["a mark of the direction", "c\u202ear", "U+202E RIGHT-TO-LEFT OVERRIDE at line 1, column 2", "Leave it out"],
  ["a byte order mark inside", "ca\ufeffr", "U+FEFF", "Leave it out"],
  ["a wide colon", "cl\uff1acar", "U+FF1A FULLWIDTH COLON at line 1, column 3", "Write : instead"],
  ["a curly quotation mark", "car\u2019", "U+2019 RIGHT SINGLE QUOTATION MARK at line 1, column 4", "Write ' instead"],
];

describe("invisible and look-alike characters", () => {
  const folder = liveFolder("odd");
  const server = liveServer({ code: "(defvar *ran* nil) (defgeneric area (x)) (defmethod area ((x integer)) x)" });

  async function answer(name: string, args: object) {
    const result = await server.call(name, args);
    const text = blocks(result).join("\n");
    expect(text, name).not.to.match(/SWANK-CLIENT/i);
    return { text, isError: result.isError };
  }

  for (const [where, odd, name, advice] of ODD) {
    it(`are named in code with ${where}, before anything runs`, async () => {
      const { text, isError } = await answer("evaluate-lisp", { code: `(setf *ran* t)\n(list '${odd})` });
      expect(isError).to.equal(true);
      expect(text).to.contain(name.split(" at ")[0]).and.to.contain("line 2").and.to.contain(advice);
      expect(await server.evaluate("*ran*")).to.deep.equal(["=> NIL"]);
    });

    it(`are named in names with ${where}, by each tool that does not find the name`, async () => {
      const described = await answer("describe-symbol", { name: odd });
      expect(described.isError).to.equal(false);
      expect(described.text)
        .to.match(/^(?:Symbol .+ not found in package \S+ \(status: NIL\)|Package \S+ not found)\n/)
        .and.to.contain(name)
        .and.to.contain(advice);
      for (const [tool, args] of [
        ["show-source", { name: odd }],
        ["class-info", { name: odd }],
        ["find-references", { name: odd, mode: "callers" }],
        ["run-tests", { name: odd }],
        ["breakpoint_set", { function: odd }],
      ] as const) {
        const { text, isError } = await answer(tool, args);
        expect(isError, tool).to.equal(true);
        expect(text, tool).to.contain(name).and.to.contain(advice);
      }
    });
  }

  it("are named with their line in files that the compiler warns about", async () => {
    for (const [name, text, odd, encoding] of [
      ["mark", "\ufeff(defun odd-1 () 1)\n", "U+FEFF ZERO WIDTH NO-BREAK SPACE at line 1, column 1 "],
      ["blank", "(defun odd-2 () 1)\n\u00a0\n(list 1)\n", "U+00A0 NO-BREAK SPACE at line 2, column 1 "],
      ["zero", "(defun odd-3 () 1)\n\n\u200b(list 1)\n", "U+200B ZERO WIDTH SPACE at line 3, column 1 "],
      ["inner", "(defun odd-4 ()\n  (list\u00a01))\n", "U+00A0 NO-BREAK SPACE at line 2, column 8 "],
      ["latin-1", "(defun odd-5 ()\n  (list\u00a01))\n", "U+00A0 NO-BREAK SPACE at line 2, column 8 ", "latin1"],
      ["utf-16", "\n(defun odd-6 ()\n  (list\u00a01))\n", "U+00A0 NO-BREAK SPACE at line 3, column 8 ", "utf16le"],
    ] as const) {
      const file = join(folder, `${name}.lisp`);
      await writeFile(file, text, encoding);
      expect((await answer("load-system", { file })).text, name).to.contain(odd);
    }
    const file = join(folder, "koi8-r.lisp");
    await writeFile(file, "(defun odd-7 ()\n  (list\u009a1))\n", "latin1");
    const code = `(load "${file}" :external-format :koi8-r)`;
    expect((await answer("evaluate-lisp", { code })).text).to.contain("U+00A0 NO-BREAK SPACE at line 2, column 8 ");
  });

  it("are named in the names of packages and methods", async () => {
    for (const [tool, args] of [
      ["describe-symbol", { name: "car", package: "c\u200bl" }],
      ["describe-symbol", { name: "c\u200bl:car" }],
      ["show-source", { name: "car", package: "c\u200bl" }],
      ["macroexpand-form", { code: "(list)", package: "c\u200bl" }],
      ["show-source", { name: "(method area (inte\u200bger))" }],
      ["breakpoint_set", { function: "(method area (inte\u200bger))" }],
      ["describe-symbol", { name: "area", arguments: ["\u201ca\u201d"] }],
      ["evaluate-lisp", { code: "1", package: "cl\u200b-user" }],
      ["trace-calls", { code: "1", package: "cl\u200b-user" }],
      ["profile-code", { code: "1", package: "cl\u200b-user" }],
    ] as const)
      expect((await answer(tool, args)).text, `${tool} ${JSON.stringify(args)}`).to.match(/U\+20[01][BC][ ,]/);
  });

  it("are named in the names of files, folders and systems, and in patterns", async () => {
    const file = "/no/such\u00a0file.lisp";
    for (const [tool, args] of [
      ["load-system", { system: "my\u00a0sys" }],
      ["search-source", { pattern: "car", system: "my\u00a0sys" }],
      ["search-source", { pattern: "car", folder: "/no/such\u00a0folder" }],
      ["search-source", { pattern: "c\u00a0ar", system: "swank" }],
      ["apropos-search", { pattern: "c\u00a0ar" }],
      ...["load-system", "compile-code", "show-source", "list-changes", "load-changes"].map(
        (tool) => [tool, { file }] as const,
      ),
    ] as const)
      expect((await answer(tool, args)).text, `${tool} ${JSON.stringify(args)}`).to.match(
        /The (?:name|pattern) contains U\+00A0, which is invisible or looks like another character\./,
      );
    expect((await answer("load-system", { file: "/no/such file.lisp" })).text).not.to.contain("U+");
  });

  it("are parts of names that exist, of strings, comments and characters", async () => {
    await server.evaluate("(defun |na\u00a0me| () 1) (defun \u00b5m () 2)");
    expect(await server.evaluate('(list (|na\u00a0me|) (\u00b5m) "\u200b" #\\\u00a0) ; \u201c')).to.deep.equal([
      '=> (1 2 "\u200b" #\\NO-BREAK_SPACE)',
    ]);
    for (const name of ["|na\u00a0me|", "\u00b5m", "'\u00b5m", "\u039cM"])
      expect((await answer("describe-symbol", { name })).text, name).to.contain("[FUNCTION]");
  });
});

describe("evaluate-lisp on code that exhausts the heap", () => {
  it("reports it without SBCL's dump, and the next answer reports the lost image on one line", async () => {
    const server = await McpStdio.start(["--dynamic-space-size", "300"]);
    const [report] = await server.evaluate("(let (l) (loop (push 1 l)))", { timeout: 600 });
    // Either the collector runs out of memory and ends the process, or the allocation fails with an error.
    expect(report).to.match(
      /^\[ERROR\] (?:IMAGE-LOST\n[\s\S]*\nHeap exhausted during |STORAGE-CONDITION\nHeap exhausted)/,
    );
    expect(report).to.not.match(/fp=0x|INFO: /);
    const [value, notice = "This answer comes from a new image"] = await server.evaluate("1");
    expect(value).to.equal("=> 1");
    expect(notice).to.include("This answer comes from a new image").and.not.include("\n");
    await server.end();
  });

  it("shows the program's calls first, and none of SBCL's allocator, in a small heap", async () => {
    const server = await McpStdio.start(["--dynamic-space-size", "300"]);
    after(() => server.end());
    const [report = ""] = await server.evaluate("(defun fill-up (n) (make-array n)) (list (fill-up (ash 1 28)))");
    expect(report).to.match(
      /^\[ERROR\] STORAGE-CONDITION\nHeap exhausted[\s\S]*\[Backtrace\]\n\d: \(FILL-UP 268435456\)$/,
    );
    // Newer SBCLs than 2.5 allocate the array in the program's function.
    const caller = /^\[Backtrace\]\n0: \((?:SB-KERNEL:%MAKE-ARRAY|FILL-UP) 268435456/;
    const allocator = /foreign function|HEAP-EXHAUSTED-ERROR|ALLOC/;
    const [backtrace = ""] = blocks(await server.call("get-backtrace"));
    expect(backtrace).to.match(caller).and.not.match(allocator);
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
    const [alone = ""] = await server.evaluate("(make-array (ash 1 28))");
    expect(alone)
      .to.match(/\[Backtrace\]\n0: \(SB-KERNEL:%MAKE-ARRAY 268435456 /)
      .and.not.match(allocator);
    await server.end();
  });
});
