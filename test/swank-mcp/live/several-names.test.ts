import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

describe("Several things in one call", () => {
  let server: McpStdio;
  let folder: string;
  let file: string;
  const source = (args: Record<string, unknown>) => server.call("show-source", args);

  before(async function () {
    this.timeout(60_000);
    folder = await mkdtemp(join(tmpdir(), "several-"));
    file = join(folder, "several.lisp");
    const lines = Array.from({ length: 30 }, (_, index) => `(defun line-${index + 1} () ${index + 1})`);
    await writeFile(file, `${lines.join("\n")}\n`);
    server = await McpStdio.start();
    await server.evaluate("(defun one () 1) (defun two () (one)) (defun three () (list (one) (two)))");
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it("show-source shows the definitions of several names, those that it finds", async () => {
    const { isError, _meta, ...result } = await source({ name: "one no-such-name two" });
    const [first = "", second = "", third = ""] = blocks(result);
    expect(first).to.match(/^function ONE \(evaluated code/);
    expect(second).to.match(/NO-SUCH-NAME/);
    expect(third).to.match(/^function TWO /);
    expect(isError).to.equal(false);
    expect(_meta).to.have.nested.property("swank-mcp/source.answers").that.has.lengthOf(3);
    expect((await source({ name: ["no-such-name", "nor-this"] })).isError).to.equal(true);
    expect(blocks(await source({ name: "(setf car)\n(method one (t))" }))).to.have.lengthOf(2);
    expect(refusalType(await source({ name: "a ".repeat(11) }))).to.equal("INVALID_ARGUMENTS");
  });

  it("find-references lists the uses of several names", async () => {
    const result = await server.call("find-references", { name: ["one", "two"], mode: "callers" });
    expect(blocks(result).map((block) => block.split("\n")[0])).to.deep.equal([
      "2 callers of ONE:",
      "1 caller of TWO:",
    ]);
  });

  it("show-source shows lines from one to another", async () => {
    expect(blocks(await source({ file, from: 3, to: 6 }))[0]?.replace(folder, "")).to.equal(
      "/several.lisp: lines 3-6 of 30\n3  (defun line-3 () 3)\n4  (defun line-4 () 4)\n5  (defun line-5 () 5)\n6  (defun line-6 () 6)",
    );
    expect(
      blocks(await source({ file, from: 29 }))[0]
        ?.split("\n")
        .slice(1),
    ).to.deep.equal(["29  (defun line-29 () 29)", "30  (defun line-30 () 30)"]);
    expect(blocks(await source({ file, to: 2 }))[0]?.split("\n")).to.have.lengthOf(3);
  });

  for (const args of [
    { from: 5, to: 4 },
    { from: 1, to: 501 },
    { from: 1, line: 2 },
    { from: 31, to: 32 },
  ])
    it(`show-source refuses ${JSON.stringify(args)} of a file`, async () => {
      expect(refusalType(await source({ file, ...args }))).to.equal("INVALID_ARGUMENTS");
    });
});
