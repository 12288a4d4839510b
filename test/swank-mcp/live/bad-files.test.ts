import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

/** The tools that take a file, each with what else they need. */
const TOOLS: readonly (readonly [tool: string, args: object])[] = [
  ["show-source", { line: 1 }],
  ["compile-code", {}],
  ["load-system", {}],
  ["list-changes", {}],
  ["load-changes", {}],
  ["save-changes", {}],
];

describe("tools about code, given files and code that Lisp cannot read", () => {
  const folder = liveFolder("bad-files");
  const server = liveServer();
  before(async () => {
    await mkdir(join(folder, "inner"));
    execFileSync("mkfifo", [join(folder, "pipe.lisp")]);
    await writeFile(join(folder, "deep.lisp"), `(defun before () 1)\n${"(".repeat(200_000)}${")".repeat(200_000)}\n`);
    await writeFile(join(folder, "large.lisp"), `(defun large () 1)\n${`;${" ".repeat(998)}\n`.repeat(4100)}`);
    await writeFile(join(folder, 'two\nlines".lisp'), "(defun two-lines () (no-such-function))\n");
  });

  /** The text of an answer, in which `FOLDER` is the folder. */
  async function answer(tool: string, args: object): Promise<string> {
    return blocks(await server.call(tool, args))
      .join("\n--\n")
      .replaceAll(folder, "FOLDER");
  }

  for (const [tool, args] of TOOLS)
    it(`${tool} says that a folder, a pipe or a device is no file`, async () => {
      expect(await answer(tool, { ...args, file: join(folder, "inner") })).to.match(
        /^FOLDER\/inner is a folder, not a file\.\n/,
      );
      expect(await answer(tool, { ...args, file: join(folder, "pipe.lisp") })).to.match(
        /^FOLDER\/pipe\.lisp is a pipe or a device, not a file\.\n/,
      );
      expect(await answer(tool, { ...args, file: "/dev/zero" })).to.match(/^\/dev\/zero is a pipe or a device/);
    });

  it("do not fail at a file that is nested too deep for Lisp", async () => {
    const file = join(folder, "deep.lisp");
    expect(await answer("show-source", { file, line: 1 })).to.match(/^FOLDER\/deep\.lisp: lines 1-2 of 2, in /);
    for (const tool of ["list-changes", "save-changes", "load-changes"])
      expect(await answer(tool, { file }), tool).not.to.match(/exhausted/);
    expect(await answer("search-source", { pattern: "before", folder })).to.include(
      "deep.lisp:1:8: (defun before () 1)",
    );
  });

  it("macroexpand-form says that code is nested too deep", async () => {
    expect(await answer("macroexpand-form", { code: "(".repeat(100_000) + ")".repeat(100_000) })).to.equal(
      "The code cannot be read: It is nested more than 1,000 levels deep.",
    );
    expect(await answer("macroexpand-form", { code: "(when 1 2)" })).to.match(/^\(if 1/);
  });

  it("list-changes says that it cannot compare a file that is too large", async () => {
    const file = join(folder, "large.lisp");
    expect(await answer("load-system", { file })).to.match(/^FOLDER\/large\.lisp is loaded: 1 file, compiled now\./);
    expect(await answer("list-changes", { file })).to.match(/^Not compared, .*: FOLDER\/large\.lisp$/);
  });

  it("load-system keeps the name of a file with a line break on one line", async () => {
    const file = join(folder, 'two\nlines".lisp');
    const [first = ""] = (await answer("load-system", { file })).split("\n");
    expect(first).to.equal('FOLDER/two lines".lisp is loaded: 1 file, compiled now.');
    expect(await answer("load-system", { system: "two\nlines" })).to.match(
      /^System two lines is not loaded\. Nothing was compiled or loaded\.\nASDF does not find a system two lines\.\n/,
    );
  });
});
