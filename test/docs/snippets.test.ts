import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
// The program tests.ts needs FiveAM.
import "../support/fiveam.js";
import { type RealSwank, startRealSwank } from "../support/real-swank.js";
import { Snapshots } from "../support/snapshots.js";
import { USER_CACHE } from "../support/test-cache.js";

const SNIPPETS = new URL("../../../docs/snippets/", import.meta.url);
const snippetNames = (await readdir(SNIPPETS))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replace(".ts", ""))
  .sort();
const snapshots = new Snapshots(import.meta.url);

/** The standard output of a compiled snippet. */
async function outputOf(name: string, port: number): Promise<string> {
  const file = fileURLToPath(new URL(`dist/${name}.js`, SNIPPETS));
  const { stdout } = await promisify(execFile)(process.execPath, [file], {
    cwd: tmpdir(),
    env: { ...process.env, FORCE_COLOR: "0", SWANK_PORT: `${port}`, XDG_CACHE_HOME: USER_CACHE },
  });
  return stdout;
}

describe("Code in the documentation", function () {
  this.timeout(240_000);
  let swank: RealSwank;
  before(async () => {
    swank = await startRealSwank();
  });
  after(() => swank.stop());

  for (const name of snippetNames) {
    it(`prints the output that the documentation shows: docs/snippets/${name}.ts`, async () => {
      snapshots.match(name, await outputOf(name, swank.port));
    });
  }
});

snapshots.testCompleteness();
