import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { LOAD_FIVEAM } from "../../support/fiveam.js";
import { markedText } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { Snapshots } from "../../support/snapshots.js";

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
  const snapshots = new Snapshots(import.meta.url);
  let server: McpStdio;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "search source "));
    await mkdir(join(folder, "src"));
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
    server = await McpStdio.start();
    await server.evaluate(
      `(require "asdf") (asdf:load-asd ${JSON.stringify(join(folder, "post.asd"))}) (asdf:load-system "post")`,
    );
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  /** The whole answer, marked if it is an error, with the folder's name replaced. */
  async function found(args: object): Promise<string> {
    const result = await server.call("search-source", args);
    return markedText(result).replaceAll(folder, "FOLDER");
  }

  it("shows lines by file and definition, in the sources of what is loaded", async () => {
    expect(await found({ pattern: "zip-code" })).to.include("FOLDER/letters.lisp:5:8: (defun zip-code (letter)");
    snapshots.match("a system", await found({ pattern: "zip-code", system: "post" }));
  });

  it("looks at no file of SBCL if nothing of the program is loaded", async () => {
    const fresh = await McpStdio.start();
    const text = markedText(await fresh.call("search-source", { pattern: "in-package" }));
    await fresh.close();
    expect(text).to.contain("Looked at 0 files").and.not.to.contain("contrib");
  });

  it("searches the Lisp files of a folder, loaded or not", async () => {
    snapshots.match("a folder", await found({ pattern: "(zip-code", folder }));
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
    snapshots.match(
      "pages",
      [
        await found({ pattern: "zip-code", system: "post", limit: 2 }),
        await found({ pattern: "zip-code", system: "post", start: 6, limit: 5 }),
        await found({ pattern: "zip-code", system: "post", start: 60 }),
      ].join("\n\n"),
    );
  });

  it("says where it looked if nothing is found, and names similar systems", async () => {
    snapshots.match(
      "nothing found",
      [
        await found({ pattern: "zipcode", system: "post" }),
        await found({ pattern: "zip.*code$", system: "post" }),
        await found({ pattern: "x", system: "pots" }),
        await found({ pattern: "x", folder: join(folder, "nowhere") }),
        await found({ pattern: "x", folder: join(folder, "notes.txt") }),
      ].join("\n\n"),
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

  it("searches a library of other people", async () => {
    await server.evaluate(LOAD_FIVEAM);
    expect(await found({ pattern: "(defmacro is ", system: "fiveam" })).to.match(
      /^1 line in 1 file: it contains "\(defmacro is "\n\n\S*check\.lisp:\d+:1: \(defmacro is \(/,
    );
    expect(await found({ pattern: "(defmacro is " })).to.include("check.lisp:");
  });

  it("refuses bad patterns and arguments", async () => {
    for (const args of [
      {},
      { pattern: "" },
      { pattern: "[a", regexp: true },
      { pattern: "a", system: "b", folder: "c" },
    ]) {
      const result = await server.call("search-source", args);
      expect(result.structuredContent, JSON.stringify(args)).to.have.nested.property(
        "error.data.type",
        "INVALID_ARGUMENTS",
      );
    }
  });

  snapshots.testCompleteness();
});
