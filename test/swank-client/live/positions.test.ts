import { rm, writeFile } from "node:fs/promises";
import { expect } from "chai";
import { Sources, type types } from "swank-client";
import * as calls from "swank-client/swank";
import { liveClient } from "./live-image.js";
import { stopped } from "./outcomes.js";
import { testFolder } from "./test-folder.js";

/** The text of a file; each of its characters beyond ASCII has another number of code units, characters and bytes. */
const BODY = `;; 😀 𝒳 é
(in-package :cl-user)
(defun po-outer (x) "😀é" (po-inner x))
(defun po-inner (x) "é→" (+ x 1)) (defvar *po* 1)
(defclass po-class () ((slot :initform "😀")))
(defmethod po-method ((x po-class)) "😀" (po-inner nil))
(defun po-noted (x) "😀" (+ x po-undefined))
`;

/** Bytes of files, by the titles of their tests. */
const FILES: Readonly<Record<string, string | Uint8Array>> = {
  "in ASCII": BODY.replaceAll(/[^\0-\x7f]/g, "e"),
  "in UTF-8": BODY,
  "in UTF-8, with its name": `;; -*- coding: utf-8 -*-\n${BODY}`,
  "in Latin-1, with its name": Buffer.from(
    `;; -*- coding: latin-1 -*-\n${BODY.replaceAll(/[^\0-\xff]/g, "é")}`,
    "latin1",
  ),
  "in Latin-1": Buffer.from(BODY.replaceAll(/[^\0-\xff]/g, "é"), "latin1"),
  "with CR LF": BODY.replaceAll("\n", "\r\n"),
  "with a byte order mark": `\ufeff${BODY}`,
};

describe("Sources: places of a real SBCL", function () {
  this.timeout(120_000);
  const image = liveClient();
  const folder = testFolder();
  let path: string;
  let sources: Sources;

  beforeEach(async () => {
    path = folder.at("f.lisp");
    sources = new Sources();
  });

  /** The text at a place, up to the end of its line, after a check of its line and column. */
  async function textAt(place: types.AnySource | undefined): Promise<string> {
    if (place === undefined) throw new Error("There is no place.");
    const found = await sources.locate(place);
    if (found.status !== "found") return `${found.status}: ${found.reason}`;
    const { source, line, column, offset, isChanged } = found;
    const [rest = ""] = source.text.slice(offset).split(/\r?\n/);
    expect(source.text.split(/\r?\n/)[line - 1]?.slice(column - 1)).to.equal(rest);
    return `${rest}${isChanged ? " (changed)" : ""}`;
  }

  const definition = async (name: string) =>
    (await image.run(calls.definitions.findDefinitionsForEmacs, name))[0]?.location;

  /** Loads the file, whose first character may be a byte order mark, which SBCL takes for a variable. */
  async function load(format: "utf-8" | "latin-1"): Promise<void> {
    await image.values(`(defvar |\ufeff| 1) (load "${path}" :external-format :${format})`);
  }

  for (const [title, content] of Object.entries(FILES))
    it(`are found ${title}: definitions, methods, uses and frames`, async () => {
      await writeFile(path, content);
      await load(title.includes("Latin-1") ? "latin-1" : "utf-8");
      expect(await textAt(await definition("po-outer"))).to.match(/^\(defun po-outer \(x\)/);
      expect(await textAt(await definition("po-inner"))).to.match(/^\(defun po-inner \(x\)/);
      expect(await textAt(await definition("*po*"))).to.equal("(defvar *po* 1)");
      expect(await textAt(await definition("po-method"))).to.match(/^\(defmethod po-method|^\(defgeneric/);
      const uses = (await image.run(calls.definitions.xref, "calls", "po-inner")) ?? [];
      const texts = await Promise.all(uses.map(({ location }) => textAt(location)));
      expect(texts.sort()).to.deep.equal(["(po-inner nil))", "(po-inner x))"]);
      const { stop } = stopped(await image.evaluate("(po-outer nil)"));
      const { frames } = await stop.frames();
      const outer = frames.find(({ call }) => call.startsWith("(PO-OUTER"));
      expect(await textAt(outer?.source)).to.equal("(po-inner x))");
      const place = await stop.run(calls.debugging.frameSourceLocation, outer?.index ?? -1);
      expect(await textAt(place)).to.equal("(po-inner x))");
      const symbol = await image.client.describeSymbol("po-outer");
      const source = symbol.status === "found" ? symbol.meanings[0]?.source : undefined;
      expect(await textAt(source)).to.match(/^\(defun po-outer \(x\)/);
      await stop.abort();
    });
  for (const title of ["in ASCII", "in UTF-8", "in UTF-8, with its name", "with CR LF", "with a byte order mark"])
    it(`are found ${title}: notes of the compiler`, async () => {
      await writeFile(path, FILES[title] ?? "");
      const { notes } = await image.run(calls.compiling.compileFileForEmacs, path);
      const note = notes.find(({ message }) => message.includes("PO-UNDEFINED"));
      expect(await textAt(note?.location)).to.equal("(+ x po-undefined))");
    });

  it("are found for errors of the reader, whose places SBCL counts in bytes", async () => {
    await writeFile(path, ';; 😀😀😀 é\n(defun a () "→" (no-such-package:foo 1))\n');
    const { notes } = await image.run(calls.compiling.compileFileForEmacs, path);
    const note = notes.find(({ severity }) => severity === "read-error");
    expect(await textAt(note?.location)).to.equal("o 1))");
  });

  it("are found for text of a buffer", async () => {
    const text = ";; 😀\n(defun po-buffer () (car 1))";
    sources = new Sources({ read: async (place) => (place.kind === "buffer" ? text : undefined) });
    const { notes } = await image.run(calls.compiling.compileStringForEmacs, text, { buffer: "b" });
    expect(await textAt(notes[0]?.location)).to.equal("(car 1))");
    expect(await textAt(await definition("po-buffer"))).to.equal("(defun po-buffer () (car 1))");
    await image.values('(defun po-evaluated (x) "😀" (+ x 1))');
    const { stop } = stopped(await image.evaluate("(list (po-evaluated nil))"));
    const { frames } = await stop.frames();
    const source = frames.find(({ call }) => call.startsWith("(PO-EVALUATED"))?.source;
    expect(await textAt(source)).to.match(/^\(\+ x 1\)|^\(defun/i);
    await stop.abort();
  });

  it("are the likeliest ones in files that have changed, and lost in none that are missing", async () => {
    await writeFile(path, BODY);
    await load("utf-8");
    const [outer, inner] = [await definition("po-outer"), await definition("po-inner")];
    const changed = BODY.replace("(defun po-inner", ";; 𝒳 more\n(defun new ())\n(defun po-inner").replace("😀é", "new");
    await writeFile(path, changed);
    expect(await textAt(inner)).to.match(/^\(defun po-inner \(x\)/);
    expect(await textAt(outer)).to.equal('(defun po-outer (x) "new" (po-inner x)) (changed)');
    await rm(path);
    sources = new Sources();
    expect(await textAt(outer)).to.match(/^unreadable: ENOENT/);
  });
});
