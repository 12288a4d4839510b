import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { keepWhileRunning } from "swank-client/internal";

describe("keepWhileRunning", () => {
  it("removes the files of processes that were killed, and no others", async () => {
    const folder = await mkdtemp(join(tmpdir(), "kept-"));
    const keep = (name: string) => keepWhileRunning(folder, { name, ending: ".url" }, name);
    const mine = (await keep("page-1")) ?? "";
    const code = `import { keepWhileRunning } from "swank-client/internal";
      await keepWhileRunning(${JSON.stringify(folder)}, { name: "page-2", ending: ".url" }, "gone");
      process.kill(process.pid, "SIGKILL");`;
    expect(() => execFileSync(process.execPath, ["--input-type=module", "-e", code])).to.throw();
    expect((await readdir(folder)).filter((name) => name.startsWith("page-2"))).to.have.lengthOf(1);
    const other = (await keep("page-3")) ?? "";
    const left = (await readdir(folder)).filter((name) => name.startsWith("page-"));
    expect(left.map((name) => join(folder, name)).sort()).to.deep.equal([mine, other].sort());
    expect(await readFile(mine, "utf8")).to.equal("page-1");
    await rm(folder, { recursive: true });
  });
});
