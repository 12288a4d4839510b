import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { markedText } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

const FILES = {
  "post.asd": '(defsystem "post" :components ((:file "letters") (:module "src" :components ((:file "stamps")))))\n',
  "letters.lisp": `;; Letters: zip-code *
(defpackage :post (:use :cl))
(in-package :post)

(defun zip-code (letter)
  "The Zip-Code of LETTER, für 𝄞." ; zip-code
  (getf letter :zip-code))

(defmacro with-zip-code ((var) &body body)
  \`(let ((,var (zip-code nil))) ,@body))
`,
  "src/stamps.lisp":
    "(in-package :post)\r\n(defvar *stamps* (list 1 2))\r\n(defun stamp (letter)\r\n  (zip-code letter))\r\n",
  "unloaded.lisp": "(zip-code 1)\n",
  "notes.txt": "zip-code\n",
};

describe("search-source", () => {
  const folder = liveFolder("search source");
  const server = liveServer();
  before(async () => {
    await mkdir(join(folder, "src"));
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
    await server.evaluate(
      `(require "asdf") (asdf:load-asd ${JSON.stringify(join(folder, "post.asd"))}) (asdf:load-system "post")`,
    );
  });

  const found = async (args: object) =>
    markedText(await server.call("search-source", args)).replaceAll(folder, "FOLDER");

  it("shows lines by file and definition, in the sources of what is loaded", async () => {
    expect(await found({ pattern: "zip-code" })).to.include("FOLDER/letters.lisp:5:8: (defun zip-code (letter)");
    expectFacts(
      await found({ pattern: "zip-code", system: "post" }),
      '7 lines in 2 files: all contain "zip-code"\n\nFOLDER/letters.lisp:1:13: ;; Letters: zip-code *\nFOLDER/letters.lisp:5:8: (defun zip-code (letter)\nin (defun zip-code (letter) (line 5)\n',
      "\n\nin (defun stamp (letter) (line 3)\nFOLDER/src/stamps.lisp:4:4: (zip-code letter))\n",
      "Looked at 3 files: FOLDER/ 2, FOLDER/src/ 1",
    );
  });

  it("looks at no file of SBCL if nothing of the program is loaded", async () => {
    const fresh = await McpStdio.start();
    const text = markedText(await fresh.call("search-source", { pattern: "in-package" }));
    await fresh.close();
    expect(text).to.contain("Looked at 0 files").and.not.to.contain("contrib");
  });

  it("leaves out strings and comments with `code`, and what is below an excluded folder", async () => {
    expectFacts(
      await found({ pattern: "zip-code", system: "post", code: true }),
      "5 lines in 2 files",
      "FOLDER/letters.lisp:7:17: (getf letter :zip-code))",
    );
    expect(await found({ pattern: "Zip-Code of", system: "post", code: true })).to.match(/^No line /);
    // A string is an argument.
    await writeFile(join(folder, "calls.lisp"), '(foo "text")\n(foo ; none\n)\n');
    const calls = { pattern: "\\(foo\\s*\\)|\\(foo *$", regexp: true, folder, code: true };
    expectFacts(await found(calls), "1 line in 1 file", "calls.lisp:2:1");
    await rm(join(folder, "calls.lisp"));
    expectFacts(
      await found({ pattern: "zip-code", system: "post", exclude: join(folder, "src") }),
      "6 lines in 1 file",
      "Looked at 2 files",
    );
    expect(await found({ pattern: "zip-code", exclude: "no-such-folder" })).to.match(
      /^ERROR The image has no folder no-such-folder/,
    );
  });

  it("looks at no file of this server's own code, whatever tools have loaded of it", async () => {
    const fresh = await McpStdio.start();
    for (const [tool, args] of [
      ["evaluate-lisp", { code: "(+ 1 2)" }],
      ["list-threads", {}],
      ["heap", { mode: "types" }],
      ["run-tests", { name: "none" }],
    ] as const)
      await fresh.call(tool, args);
    const text = markedText(await fresh.call("search-source", { pattern: "swank-client/" }));
    await fresh.close();
    expect(text).to.contain("Looked at 0 files");
  });

  it("searches the Lisp files of a folder, loaded or not", async () => {
    expectFacts(
      await found({ pattern: "(zip-code", folder }),
      "3 lines in 3 files…in (defmacro with-zip-code ((var) &body body) (line 9)…FOLDER/unloaded.lisp:1:1: (zip-code 1)…Looked at 4 files",
    );
  });

  it("stays inside the folder that it is given, and counts the links that lead out of it", async () => {
    const inner = join(folder, "links");
    await mkdir(join(inner, "kept"), { recursive: true });
    await writeFile(join(inner, "kept", "a.lisp"), "(linked-one)\n");
    for (const [target, name] of [
      [join(folder, "src"), "src"],
      [join(folder, "letters.lisp"), "letters.lisp"],
      ["/dev/null", "null.lisp"],
      [join(inner, "kept"), "again"],
      [join(inner, "kept", "a.lisp"), "b.lisp"],
    ] as const)
      await symlink(target, join(inner, name));
    expect(await found({ pattern: "zip-code", folder: inner })).to.equal(
      `No line contains "zip-code".
Looked at 1 file: FOLDER/links/kept/ 1
2 links lead out of the folder: not followed. To search there, pass a target as folder, such as FOLDER/ or FOLDER/src/`,
    );
    await rm(join(inner, "letters.lisp"));
    expect(await found({ pattern: "zip-code", folder: inner })).to.include(
      "\n1 link leads out of the folder: not followed. To search there, pass its target as folder: FOLDER/src/",
    );
    expect(await found({ pattern: "linked-one", folder: inner })).to.match(/^1 line in 1 file/);
    expect(await found({ pattern: "zip-code", folder: join(inner, "src") })).to.match(/^1 line in 1 file/);
    await rm(inner, { recursive: true });
  });

  it("takes regular expressions, and texts with special characters as they are", async () => {
    expect(await found({ pattern: "^\\(def(un|macro) \\S+ \\(", regexp: true, system: "post" })).to.match(
      /^3 lines in 2 files: all match/,
    );
    expect(await found({ pattern: "code *", system: "post" })).to.match(/^1 line in 1 file: it contains "code \*"/);
  });

  it("shows matches page by page", async () => {
    expectFacts(
      [
        await found({ pattern: "zip-code", system: "post", limit: 2 }),
        await found({ pattern: "zip-code", system: "post", start: 6, limit: 5 }),
        await found({ pattern: "zip-code", system: "post", start: 60 }),
      ].join("\n\n"),
      "7 lines in 2 files: lines 1-2 contain…For more, pass start: 2.",
      "7 lines in 2 files: line 7 contains",
      "7 lines in 2 files: none from 60 on contain",
    );
  });

  it("says where it looked if nothing is found", async () => {
    expectFacts(
      [
        await found({ pattern: "zipcode", system: "post" }),
        await found({ pattern: "zip.*code$", system: "post" }),
        await found({ pattern: "x", folder: join(folder, "notes.txt") }),
      ].join("\n\n"),
      'No line contains "zipcode".\nLooked at 3 files: FOLDER/ 2, FOLDER/src/ 1',
      "For a regular expression, pass regexp: true.",
      "ERROR The image has no folder FOLDER/notes.txt\n--\nGive the path of a folder that exists",
    );
  });

  it("gives the places as data", async () => {
    const { _meta } = await server.call("search-source", { pattern: "*stamps*", system: "post" });
    expect(_meta).to.deep.equal({
      "swank-mcp/lines": {
        status: "found",
        count: 1,
        matching_files: 1,
        files: 3,
        unread_files: 0,
        matches: [{ file: join(folder, "src/stamps.lisp"), line: 2, column: 9 }],
      },
    });
  });
});
