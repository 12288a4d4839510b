import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

type Call = readonly [tool: string, args: object];

const NAME = "apropos-search finds names by a part.";
const PACKAGE = "load the system that defines the package with load-system.";
const FILE = "Give the path of a file that exists";

/** Calls that name something that does not exist, with what their answers say about it, a similar name, and what to do next. */
const MISSING: readonly (readonly [...call: Call, text: string, similar: string, next: string])[] = [
  ["show-source", { name: "fetch-lettr" }, "Symbol FETCH-LETTR not found", "fetch-letter", NAME],
  ["show-source", { name: "fetch-leter" }, "FETCH-LETER has no definition", "fetch-letter", NAME],
  ["show-source", { name: "psot:car" }, "Package PSOT not found", "POST", PACKAGE],
  ["show-source", { name: "(method weigh (vector))" }, "no method (method weigh (vector))", "(LETTER)", "one of these"],
  ["show-source", { name: "(method fetch-letter (letter))" }, "FETCH-LETTER has no methods", "", NAME],
  ["show-source", { file: "lettes.lisp" }, "no file lettes.lisp", "letters.lisp", FILE],
  ["show-source", { file: "." }, "a folder, not a file", "", FILE],
  ["apropos-search", { pattern: "x", package: "psot" }, "Package PSOT not found", "POST", PACKAGE],
  ["search-source", { pattern: "x", system: "lettrs" }, "no system lettrs", "letters", "with load-system"],
  ["search-source", { pattern: "x", folder: "nowhere" }, "no folder nowhere", "", "path of a folder"],
  ["find-references", { name: "fetch-lettr", mode: "callers" }, "not found", "fetch-letter", NAME],
  ["find-references", { name: "fetch-leter", mode: "callers" }, "is not a function", "fetch-letter", NAME],
  ["find-references", { name: "leter", mode: "subclasses" }, "is not a class", "letter", NAME],
  ["find-references", { name: "x", mode: "callers", package: "psot" }, "Package PSOT not found", "POST", PACKAGE],
  ["macroexpand-form", { code: "(when)", package: "psot" }, "Package PSOT not found", "POST", PACKAGE],
  ["class-info", { name: "lettr" }, "Symbol LETTR not found", "letter", NAME],
  ["class-info", { name: "leter" }, "neither a class nor a generic function", "letter", NAME],
  ["class-info", { name: "leter", arguments: ["1"] }, "neither a class nor a generic function", "letter", NAME],
  ["class-info", { name: "(setf fetch-letter)" }, "neither a class nor a generic function", "", NAME],
  ["compile-code", { code: "1", package: "psot" }, "Package PSOT not found", "POST", PACKAGE],
  ["compile-code", { file: "lettes.lisp" }, "no file lettes.lisp", "letters.lisp", FILE],
  ["load-system", { system: "lettrs" }, "does not find a system lettrs", "letters", "clear-source-registry"],
  ["load-system", { file: "lettes.lisp" }, "no file lettes.lisp", "letters.lisp", FILE],
  ["load-system", { file: "lettes.asd" }, "no file lettes.asd", "letters.asd", FILE],
  ["run-tests", { name: "lettrs" }, "named lettrs", "letters", "with load-system"],
  ["list-changes", { file: "lettes.lisp" }, "no file lettes.lisp", "letters.lisp", FILE],
  ["load-changes", { file: "lettes.lisp" }, "no file lettes.lisp", "letters.lisp", FILE],
  ["save-changes", { file: "lettes.lisp" }, "no file lettes.lisp", "letters.lisp", FILE],
  ["save-changes", { name: "fetch-letter", file: "new.lisp" }, "no file new.lisp", "", "create it first"],
  ["save-changes", { name: "fetch-lettr" }, "Symbol FETCH-LETTR not found", "fetch-letter", NAME],
  ["save-changes", { name: "fetch-leter" }, "fetch-leter has no definition", "fetch-letter", NAME],
  ["save-changes", { name: "(method weigh (vector))" }, "(method weigh (vector)) has no definition", "", NAME],
];

/** Calls that name something that exists, and find nothing. */
const FINDINGS: readonly Call[] = [
  ["show-source", { name: "if" }],
  ["apropos-search", { pattern: "no-such-name-anywhere" }],
  ["apropos-search", { pattern: "letter", package: "post", kind: "macro" }],
  ["search-source", { pattern: "no such text anywhere", system: "letters" }],
  ["find-references", { name: "fetch-letter", mode: "callers" }],
  ["find-references", { name: "letter", mode: "callers" }],
  ["find-references", { name: "fetch-letter", mode: "subclasses" }],
  ["find-references", { name: "if", mode: "callers" }],
  ["macroexpand-form", { code: "(fetch-letter 1)" }],
  ["macroexpand-form", { code: "(fetch-leter 1)" }],
  ["class-info", { name: "fetch-letter" }],
  ["class-info", { name: "(setf car)" }],
  ["class-info", { name: "weigh", arguments: ["1"] }],
  ["compile-code", { code: "(defun noted (x) (declare (optimize speed)) (+ x 1))" }],
  ["load-system", { system: "letters" }],
  ["run-tests", { name: "letters" }],
  ["list-changes", { file: "other.lisp" }],
  ["load-changes", { file: "other.lisp" }],
  ["load-changes", {}],
  ["save-changes", {}],
  ["save-changes", { name: "fetch-letter" }],
  ["save-changes", { name: "(method weigh (letter))" }],
];

describe("names that do not exist", () => {
  const folder = liveFolder("wrong names");
  const server = liveServer();
  before(async () => {
    await writeFile(join(folder, "letters.asd"), '(defsystem "letters" :components ((:file "letters")))');
    await writeFile(join(folder, "other.lisp"), "(list 1)\n");
    await writeFile(join(folder, "lettes.out"), "");
    await writeFile(
      join(folder, "letters.lisp"),
      "(defpackage :post (:use :cl))\n(in-package :post)\n(defclass letter () ())\n(defun fetch-letter (box) (first box))\n(defgeneric weigh (thing))\n(defmethod weigh ((thing letter)) 1)\n",
    );
    await server.evaluate(`(require "asdf")
      (setf *default-pathname-defaults* (sb-ext:parse-native-namestring "${folder}/"))
      (push *default-pathname-defaults* asdf:*central-registry*)`);
    await server.call("load-system", { system: "letters" });
    // the reader interns names that mean nothing, as a typing error does
    await server.evaluate("(in-package :post) '(fetch-leter leter)");
  });

  it("are errors that name what is similar, and say what to do next", async () => {
    for (const [tool, args, text, similar, next] of MISSING) {
      const result = await server.call(tool, args);
      const label = `${tool} ${JSON.stringify(args)}: ${JSON.stringify(result)}`;
      const answer = blocks(result).join("\n");
      expect(result.isError, label).to.equal(true);
      for (const part of [text, similar, next]) expect(answer, label).to.include(part);
      expect(answer, label).to.not.include("lettes.out");
      expect(result._meta, label).to.not.equal(undefined);
    }
  });

  it("differ from names of which nothing is found", async () => {
    for (const [tool, args] of FINDINGS) {
      const result = await server.call(tool, args);
      expect(result.isError, `${tool} ${JSON.stringify(args)}: ${JSON.stringify(result)}`).to.equal(false);
    }
  });
});

describe("Several things in one call", () => {
  let server: McpStdio;
  let folder: string;
  let file: string;
  const source = (args: Record<string, unknown>) => server.call("show-source", args);

  before(async function () {
    this.timeout(60_000);
    folder = await mkdtemp(join(tmpdir(), "several-"));
    file = join(folder, "several.lisp");
    const lines = Array.from({ length: 30 }, (_, index) => `(defun line-${index + 1} () ${index + 1})`);
    await writeFile(file, `${lines.join("\n")}\n`);
    server = await McpStdio.start();
    await server.evaluate("(defun one () 1) (defun two () (one)) (defun three () (list (one) (two)))");
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it("show-source shows the definitions of several names, those that it finds", async () => {
    const { isError, _meta, ...result } = await source({ name: "one no-such-name two" });
    const [first = "", second = "", third = ""] = blocks(result);
    expect(first).to.match(/^function ONE \(evaluated code/);
    expect(second).to.match(/NO-SUCH-NAME/);
    expect(third).to.match(/^function TWO /);
    expect(isError).to.equal(false);
    expect(_meta).to.have.nested.property("swank-mcp/source.answers").that.has.lengthOf(3);
    expect((await source({ name: ["no-such-name", "nor-this"] })).isError).to.equal(true);
    expect(blocks(await source({ name: "(setf car)\n(method one (t))" }))).to.have.lengthOf(2);
    expect(refusalType(await source({ name: "a ".repeat(11) }))).to.equal("INVALID_ARGUMENTS");
  });

  it("find-references lists the uses of several names", async () => {
    const result = await server.call("find-references", { name: ["one", "two"], mode: "callers" });
    expect(blocks(result).map((block) => block.split("\n")[0])).to.deep.equal([
      "2 callers of ONE:",
      "1 caller of TWO:",
    ]);
  });

  it("show-source shows lines from one to another", async () => {
    expect(blocks(await source({ file, from: 3, to: 6 }))[0]?.replace(folder, "")).to.equal(
      "/several.lisp: lines 3-6 of 30\n3  (defun line-3 () 3)\n4  (defun line-4 () 4)\n5  (defun line-5 () 5)\n6  (defun line-6 () 6)",
    );
    expect(
      blocks(await source({ file, from: 29 }))[0]
        ?.split("\n")
        .slice(1),
    ).to.deep.equal(["29  (defun line-29 () 29)", "30  (defun line-30 () 30)"]);
    expect(blocks(await source({ file, to: 2 }))[0]?.split("\n")).to.have.lengthOf(3);
  });

  for (const args of [
    { from: 5, to: 4 },
    { from: 1, to: 501 },
    { from: 1, line: 2 },
    { from: 31, to: 32 },
  ])
    it(`show-source refuses ${JSON.stringify(args)} of a file`, async () => {
      expect(refusalType(await source({ file, ...args }))).to.equal("INVALID_ARGUMENTS");
    });
});
