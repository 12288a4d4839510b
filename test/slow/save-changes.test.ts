import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, realpath, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { blocks } from "../support/mcp-results.js";
import { McpStdio } from "../support/mcp-stdio.js";

const EARLIER = new Date(Date.now() - 60_000);
const ROUNDS = 25;

/** The text of a file with a definition and a comment that makes it large. */
function text(value: number, kilobytes: number): string {
  return `(defun price () ${value})\n${`;${" ".repeat(1022)}\n`.repeat(kilobytes)}`;
}

describe("save-changes when things go wrong", function () {
  this.timeout(600_000);
  let folder: string;
  let file: string;
  let server: McpStdio;

  async function prepare(kilobytes: number): Promise<void> {
    file = join(folder, "toll.lisp");
    await writeFile(file, text(1, kilobytes));
    await utimes(file, EARLIER, EARLIER);
    await redefine();
  }

  async function redefine(): Promise<void> {
    await server.evaluate(`(load ${JSON.stringify(file)}) (defun price () 2)`);
  }

  async function save(): Promise<string> {
    return blocks(await server.call("save-changes", { "dry-run": false })).join("\n");
  }

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "save-changes-")));
    server = await McpStdio.start();
  });

  afterEach(async () => {
    await server.end();
    await rm(folder, { recursive: true });
  });

  it(`leaves the old text or the new one when the image is killed at any time, in ${ROUNDS} rounds`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await prepare(900);
      const pid = await server.imagePid();
      const call = server.startCall("save-changes", { "dry-run": false });
      await setTimeout(round * 10);
      process.kill(pid, "SIGKILL");
      await call.result;
      expect([text(1, 900), text(2, 900)].includes(await readFile(file, "utf8")), `round ${round}`).to.equal(true);
      await server.evaluate("1");
    }
    await prepare(900);
    expect(await save()).to.match(/toll\.lisp:1:1: written/);
    expect(await readdir(folder)).to.deep.equal(["toll.lisp"]);
  });

  it("keeps the old text on a full disk, and writes when there is room again", async () => {
    if (process.getuid?.() !== 0) throw new Error("A small file system can be mounted by root only.");
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]);
    try {
      await prepare(20);
      await writeFile(join(folder, "filler"), "x".repeat(36 * 1024));
      expect(await save()).to.match(/: not written: .*the disk is full/);
      expect(await readFile(file, "utf8")).to.equal(text(1, 20));
      expect(await readdir(folder)).to.have.members(["filler", "toll.lisp"]);
      await rm(join(folder, "filler"));
      expect(await save()).to.match(/toll\.lisp:1:1: written/);
      expect(await readFile(file, "utf8")).to.equal(text(2, 20));
      expect(await readdir(folder)).to.deep.equal(["toll.lisp"]);
    } finally {
      execFileSync("umount", [folder]);
    }
  });
});
