import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { ENVIRONMENT } from "../../support/server-process.js";

const PACKAGE = fileURLToPath(new URL("../../../../packages/swank-mcp", import.meta.url));
const run = promisify(execFile);

describe("published swank-mcp", function () {
  this.timeout(240_000);
  let folder: string;
  let bin: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "published-"));
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: PACKAGE });
    const [tarball = ""] = await readdir(folder);
    await run("tar", ["-xzf", tarball], { cwd: folder });
    bin = join(folder, "package/bin/swank-mcp.js");
  });

  after(() => rm(folder, { recursive: true }));

  /** Evaluates a form in the console, and returns the output and the files with the compiled code. */
  async function evaluate(home: string): Promise<{ readonly output: string; readonly kept: readonly string[] }> {
    const environment = { ...process.env, ...ENVIRONMENT, SWANK_MCP_CACHE_DIR: "", HOME: home, XDG_CACHE_HOME: "" };
    const started = run(process.execPath, [bin, "console"], { env: environment });
    started.child.stdin?.end("(+ 1 2)\n");
    const { stdout } = await started;
    const kept = await readdir(join(home, ".cache/swank-toolkit/code")).catch(() => []);
    return { output: stdout, kept };
  }

  it("evaluates without any other package, and keeps its compiled code for the next start", async () => {
    const home = join(folder, "home");
    await mkdir(home);
    const first = await evaluate(home);
    expect(first.output).to.include("=> 3");
    expect(first.kept).to.have.length(1);
    const path = join(home, ".cache/swank-toolkit/code", first.kept[0] ?? "");
    const { ino } = await stat(path);
    expect((await evaluate(home)).output).to.include("=> 3");
    // A start that could not use the code would have replaced it.
    expect((await stat(path)).ino).to.equal(ino);
  });
});
