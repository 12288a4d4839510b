import { execFileSync } from "node:child_process";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

/** Lists in which each contains the one before twice: a copy of the last would have 2^40 elements. */
const SHARED = `(${Array.from({ length: 40 }, (_, index) => (index === 0 ? "#0=(a a)" : `#${index}=(#${index - 1}# #${index - 1}#)`)).join(" ")})`;

/** Texts that ask the reader for more memory, time or stack than there is. */
const REFUSED: Readonly<Record<string, string>> = {
  "an array of many dimensions": "#99999999A()",
  "a vector of many elements": "#99999999(0)",
  "many bits": "#99999999*0",
  "many vectors": "#99999(0) ".repeat(50),
  "an array of shared lists": `#7A${SHARED}`,
  "an integer of 100,000 digits": "7".repeat(100_000),
  "a float of 100,000 digits": `1.${"7".repeat(100_000)}d300`,
  "a ratio of 100,000 digits": `1/${"7".repeat(100_000)}`,
  "a hexadecimal integer": `#x${"f".repeat(100_000)}`,
  "a number of dimensions of 100,000 digits": `#${"9".repeat(100_000)}A()`,
  "the name of a character": `#\\${"a".repeat(100_000)}`,
  "a long name": "a".repeat(100_000),
  "an unclosed list, nested": "(".repeat(100_000),
  "a list, nested": `'${"(".repeat(100_000)}${")".repeat(100_000)}`,
  quotes: `${"'".repeat(100_000)}a`,
  vectors: `${"#(".repeat(50_000)}${")".repeat(50_000)}`,
  "a circular feature expression": "#+#1=(or . #1#) a",
  "a float beyond all": "1e999999999",
  "code that runs when it is read": "#.(loop)",
  "a structure": "#S(a)",
};

/** Texts that are large when copied, but not as they are read. */
const ACCEPTED: Readonly<Record<string, string>> = {
  "shared lists": `'${SHARED}`,
  "a circular list": "'#1=(a b . #1#)",
  "a circular vector": "#1=#(1 #1#)",
  "a long string": JSON.stringify("x".repeat(200_000)),
  "an integer of 5,000 digits": "7".repeat(5000),
  "a tiny float": "1d-99999999",
  "an array": "#2A((1 2) (3 4))",
};

describe("arguments that are read as data", function () {
  this.timeout(300_000);
  const server = liveServer({ args: ["--read-only"] });
  let pid: number;
  before(async () => {
    await server.call("class-info", { name: "print-object" });
    pid = await server.imagePid();
  });

  /** Calls a tool, which must answer within 10 s, in the same image and with a short text. */
  async function answer(tool: string, args: Record<string, unknown>): Promise<string> {
    const start = performance.now();
    const text = blocks(await server.call(tool, args)).join("\n");
    expect(performance.now() - start, tool).to.be.below(10_000);
    expect(text.length, tool).to.be.below(60_000);
    expect(await server.imagePid(), tool).to.equal(pid);
    return text;
  }

  for (const [title, text] of Object.entries(REFUSED))
    it(`refuse ${title}`, async () => {
      for (const tool of ["describe-symbol", "class-info"])
        expect(await answer(tool, { name: "documentation", arguments: [text, "t"] }), tool).to.match(/unknown: /);
      for (const args of [{ mode: "instances", type: text }]) await answer("heap", args);
    });

  for (const [title, text] of Object.entries(ACCEPTED))
    it(`take ${title}`, async () => {
      for (const tool of ["describe-symbol", "class-info"])
        expect(await answer(tool, { name: "print-object", arguments: [text, "*standard-output*"] }), tool)
          .to.match(/PRINT-OBJECT \(?/)
          .and.not.match(/unknown: /);
    });

  it("refuse types that are circular or large", async () => {
    for (const type of ["#1=(or . #1#)", "#1=(or #1# #1#)", `(or ${SHARED})`, `(or ${"fixnum ".repeat(3000)})`])
      expect(await answer("heap", { mode: "instances", type }), type).to.match(/type/);
  });

  it("are code that is expanded within the same limits", async () => {
    for (const code of ["#99999999A()", `(when 1 '${SHARED})`, "(when #1=(a . #1#) 2)", "7".repeat(100_000)])
      expect(await answer("macroexpand-form", { form: code, code }), code.slice(0, 40)).to.match(/\S/);
  });
});

describe("search-source in any folder, with any pattern", function () {
  this.timeout(300_000);
  const folder = liveFolder("odd-files");
  const server = liveServer({ args: ["--read-only"] });
  before(async () => {
    await mkdir(join(folder, "inner"));
    await writeFile(join(folder, "a.lisp"), "(defun find-me () 1)\n");
    await writeFile(join(folder, "inner", "b.lisp"), "(defun find-me-too () 1)\n");
    await writeFile(join(folder, "binary.lisp"), Buffer.from([0, 255, 1, 254, 10, 0]));
    const huge = join(folder, "huge.lisp");
    await writeFile(huge, "");
    await truncate(huge, 2 ** 31);
    execFileSync("mkfifo", [join(folder, "pipe.lisp")]);
    await symlink(folder, join(folder, "inner", "loop"));
    await symlink("nowhere", join(folder, "broken.lisp"));
    await symlink("/dev/zero", join(folder, "device.lisp"));
  });

  async function found(args: Record<string, unknown>): Promise<string> {
    return blocks(await server.call("search-source", args)).join("\n");
  }

  it("reads neither pipes nor devices, and follows no link twice", async () => {
    const text = await found({ pattern: "find-me", folder });
    expect(text)
      .to.match(/^2 lines in 2 files/)
      .and.to.include("Looked at 4 files (1 could not be read)");
  });

  it("answers in time about folders of the whole machine", async () => {
    for (const whole of ["/proc", "/dev", "/"]) {
      const start = performance.now();
      const text = await found({ pattern: "defun find-me", folder: whole });
      expect(performance.now() - start, whole).to.be.below(45_000);
      expect(text, whole).to.match(/Looked at \d+ files?/);
    }
  });

  it("refuses patterns that are nested too deep or too long, and ends those that take too long", async () => {
    const [open, close] = ["(", ")"].map((char) => char.repeat(50_000));
    for (const pattern of [
      `${open}a${close}`,
      `${open}`,
      `a${"*".repeat(50_000)}`,
      `a${"{1}".repeat(50_000)}`,
      "a{1,100000}",
      "a|".repeat(50_000),
      "((a{1,100}){1,100}){1,100}",
    ])
      for (const tool of ["search-source", "apropos-search"]) {
        const text = blocks(await server.call(tool, { pattern, regexp: true })).join("\n");
        expect(text, `${tool} ${pattern.slice(0, 20)}`).to.match(/pattern/i);
      }
    expect(await found({ pattern: "(x*)*y", regexp: true, folder })).to.match(/^No line/);
  });

  it("looks only at the program's files if no folder is named", async () => {
    await server.call("class-info", { name: "print-object" });
    const text = await found({ pattern: "defun" });
    expect(text).not.to.match(/swank/i);
  });
});
