import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { McpStdio } from "../support/mcp-stdio.js";

const NOBODY = 65534;

describe("swank-mcp --log-file with another user's file, as root", () => {
  it("does not write to the file, and reports the reason on standard error", async () => {
    if (process.getuid?.() !== 0) throw new Error("Files can be given to another user by root only.");
    const folder = await mkdtemp(join(tmpdir(), "foreign-log-"));
    const file = join(folder, "log");
    await writeFile(file, "theirs\n");
    await chown(file, NOBODY, NOBODY);
    const server = new McpStdio(["--log-file", file]);
    await server.end();
    expect(server.errorText).to.equal(
      `swank-mcp: the log cannot be written: ${file} belongs to another user. Name a file that you can write, in a folder that exists, with --log-file.\n`,
    );
    expect(await readFile(file, "utf8")).to.equal("theirs\n");
    await rm(folder, { recursive: true });
  });
});
