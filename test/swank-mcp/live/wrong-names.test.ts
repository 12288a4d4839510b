import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

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
