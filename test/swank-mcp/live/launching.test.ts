import { chmod, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { McpStdio } from "../../support/mcp-stdio.js";

describe("what is odd about a launch", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "swank-mcp-launching-"));
  });
  after(() => rm(folder, { recursive: true }));

  it("is told with the first answer where it is about a file to load: which is not there, or not loaded to its end", async () => {
    const missing = join(folder, "missing.lisp");
    const broken = join(folder, "broken.lisp");
    await writeFile(broken, '(defvar *begun* t)\n(error "no further")\n(defvar *done* t)\n');
    const server = await McpStdio.start(["--load", missing, "--load", broken]);
    const [values, remarks] = await server.evaluate("(list *begun* (boundp '*done*))");
    expect(values).to.equal("=> (T NIL)");
    expect(remarks?.split("\n").slice(0, 2)).to.deep.equal([
      `${missing} was not loaded: there is no such file.`,
      `${broken} was not loaded to its end: no further [SIMPLE-ERROR]`,
    ]);
    expect(await server.evaluate("1")).to.deep.equal(["=> 1"]);
    await server.end();
  });

  it("is in lisp-status where nothing can be kept for the next one", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    const server = await McpStdio.start(["--cache-dir", join(file, "cache")], { TMPDIR: file });
    const { structuredContent } = await server.call("lisp-status");
    expect(structuredContent?.["notes"]).to.deep.equal([
      `Nothing can be kept between launches: ${join(file, "cache")} cannot be used: ${file}, which leads to it, is not a folder.`,
    ]);
    await server.end();
  });
});

describe("a cache folder that other users can write", () => {
  it("is not used, which lisp-status says", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "swank-mcp-open-")));
    await chmod(folder, 0o777);
    const server = await McpStdio.start(["--cache-dir", folder]);
    const { structuredContent } = await server.call("lisp-status");
    expect(String(structuredContent?.["notes"])).to.match(
      /^What is kept between launches is in \S*\/swank-toolkit-\d+: \S+ can be written by other users\.$/,
    );
    expect(await readdir(folder)).to.deep.equal([]);
    await server.end();
    await rm(folder, { recursive: true });
  });
});

describe("the heap of an image that is launched", () => {
  it("is as large as was asked for", async () => {
    const server = await McpStdio.start(["--dynamic-space-size", "1500"]);
    expect(await server.evaluate("(floor (sb-ext:dynamic-space-size) (expt 2 20))")).to.deep.equal(["=> 1500\n=> 0"]);
    await server.end();
  });

  it("cannot be one that no image starts with, which the call says", async () => {
    const server = await McpStdio.start(["--dynamic-space-size", "16777216"]);
    const [text] = await server.evaluate("1");
    expect(text).to.match(/No image can be started with a heap of 16777216 MB/);
    await server.end();
  });
});
