import { chmod, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { McpStdio } from "../../support/mcp-stdio.js";

describe("launch notes", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "swank-mcp-launching-"));
  });
  after(() => rm(folder, { recursive: true }));

  it("come with the first answer if a file of --load is missing or fails to load", async () => {
    const missing = join(folder, "missing.lisp");
    const broken = join(folder, "broken.lisp");
    await writeFile(broken, '(defvar *begun* t)\n(error "no further")\n(defvar *done* t)\n');
    const server = await McpStdio.start(["--load", missing, "--load", broken]);
    const [values, remarks] = await server.evaluate("(list *begun* (boundp '*done*))");
    expect(values).to.equal("=> (T NIL)");
    expect(remarks?.split("\n").slice(0, 2)).to.deep.equal([
      `${missing} was not loaded: there is no such file. Check --load.`,
      `${broken} was only partly loaded: no further [SIMPLE-ERROR]`,
    ]);
    expect(await server.evaluate("1")).to.deep.equal(["=> 1"]);
    await server.end();
  });

  it("are in lisp-status if nothing can be cached", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    const server = await McpStdio.start(["--cache-dir", join(file, "cache")], { TMPDIR: file });
    const { structuredContent } = await server.call("lisp-status");
    expect(structuredContent?.["notes"]).to.deep.equal([
      `No files can be kept between launches: ${join(file, "cache")} cannot be used: ${file}, which leads to it, is not a folder.`,
    ]);
    await server.end();
  });
});

describe("launch with a cache folder that other users can write", () => {
  it("does not use the folder, and says so in lisp-status", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "swank-mcp-open-")));
    await chmod(folder, 0o777);
    const server = await McpStdio.start(["--cache-dir", folder]);
    const { structuredContent } = await server.call("lisp-status");
    expect(String(structuredContent?.["notes"])).to.match(
      /^Files are kept between launches in \S*\/swank-toolkit-\d+: \S+ can be written by other users\.$/,
    );
    expect(await readdir(folder)).to.deep.equal([]);
    await server.end();
    await rm(folder, { recursive: true });
  });
});

describe("launch with --dynamic-space-size", () => {
  it("starts an image with a heap of that size", async () => {
    const server = await McpStdio.start(["--dynamic-space-size", "1500"]);
    expect(await server.evaluate("(floor (sb-ext:dynamic-space-size) (expt 2 20))")).to.deep.equal(["=> 1500\n=> 0"]);
    await server.end();
  });

  it("reports a heap size that no image can start with", async () => {
    const server = await McpStdio.start(["--dynamic-space-size", "16777216"]);
    const [text] = await server.evaluate("1");
    expect(text).to.match(/No image can be started with a heap of 16777216 MB/);
    await server.end();
  });
});
