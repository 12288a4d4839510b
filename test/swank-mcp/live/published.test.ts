import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import module from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { liveFolder } from "../../support/live-server.js";
import { ENVIRONMENT } from "../../support/server-process.js";

const PACKAGE = fileURLToPath(new URL("../../../../packages/swank-mcp", import.meta.url));
const run = promisify(execFile);

describe("published swank-mcp", function () {
  this.timeout(240_000);
  const folder = liveFolder("published");
  let bin: string;
  before(async () => {
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: PACKAGE });
    const [tarball = ""] = await readdir(folder);
    await run("tar", ["-xzf", tarball], { cwd: folder });
    bin = join(folder, "package/bin/swank-mcp.js");
  });

  it("evaluates without any other package, and keeps its compiled code in the user's cache folder if Node can", async () => {
    const home = join(folder, "home");
    await mkdir(home);
    const environment = { ...process.env, ...ENVIRONMENT, HOME: home, XDG_CACHE_HOME: "" };
    const started = run(process.execPath, [bin, "console"], { env: environment });
    started.child.stdin?.end("(+ 1 2)\n");
    expect((await started).stdout).to.include("=> 3");
    expect(existsSync(join(home, ".cache/swank-toolkit/node"))).to.equal("enableCompileCache" in module);
  });
});
