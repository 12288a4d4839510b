import { link, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { liveFolder } from "../../support/live-server.js";
import { McpStdio } from "../../support/mcp-stdio.js";

const REMEDY = "Name a file that you can write, in a folder that exists, with --log-file.";

/** Starts and ends a server, and returns its standard error. */
async function serve(file: string): Promise<string> {
  const server = new McpStdio(["--log-file", file]);
  expect((await server.end()).code).to.equal(0);
  return server.errorText;
}

async function mode(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

describe("swank-mcp --log-file", () => {
  const folder = liveFolder("swank-mcp-log-file", { each: true });
  const file = join(folder, "log");

  it("creates a file that only its owner can read", async () => {
    expect(await serve(file)).to.equal("");
    expect(await mode(file)).to.equal("600");
  });

  it("appends to an existing file and removes other users' access", async () => {
    await writeFile(file, "before\n", { mode: 0o644 });
    expect(await serve(file)).to.equal("");
    expect(await mode(file)).to.equal("600");
    expect(await readFile(file, "utf8")).to.match(/^before\n[^\n]* swank-mcp [^\n]*\n/);
  });

  it("refuses a symbolic link and a file with a second hard link, with the reason on standard error", async () => {
    const other = join(folder, "other");
    await writeFile(other, "", { mode: 0o644 });
    await symlink(other, file);
    expect(await serve(file)).to.equal(
      `swank-mcp: the log cannot be written: ${file} is a symbolic link, which is not followed. Name the file itself with --log-file.\n`,
    );
    await rm(file);
    await link(other, file);
    expect(await serve(file)).to.equal(
      `swank-mcp: the log cannot be written: ${file} has more than one hard link. ${REMEDY}\n`,
    );
    expect([await readFile(other, "utf8"), await mode(other)]).to.deep.equal(["", "644"]);
  });

  it("says what to name instead when the file cannot be opened", async () => {
    const missing = join(folder, "missing", "log");
    expect(await serve(missing))
      .to.match(/^swank-mcp: the log cannot be written: ENOENT: [^\n]*\n$/)
      .and.to.include(`'${missing}'. ${REMEDY}\n`);
  });
});
