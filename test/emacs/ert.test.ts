import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import * as z from "zod";
import { slimeFolder } from "../support/emacs-process.js";

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL("../../../packages/swank-mcp/emacs", import.meta.url));
const RUNNER = fileURLToPath(new URL("../../support/ert.el", import.meta.url));
const TESTS = join(FOLDER, "tests");

const results = z.array(z.object({ name: z.string(), problem: z.string().nullable() }));

/** Runs an Emacs without a configuration that has SLIME and swank-mcp.el, and evaluates forms. */
async function emacs(...args: readonly string[]) {
  const load = ["-Q", "--batch", "-L", await slimeFolder(), "-L", FOLDER, "-l", RUNNER];
  return run("emacs", [...load, ...args]);
}

function elispFiles(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.endsWith(".el"));
}

describe("swank-mcp.el", function () {
  this.timeout(120_000);

  describe("ERT", () => {
    const texts = elispFiles(TESTS).map((name) => readFileSync(join(TESTS, name), "utf8"));
    const tests = texts.flatMap((text) => [...text.matchAll(/^\(ert-deftest (\S+) \(\)\n {2}"([^"]+)"/gm)]);
    let found: z.output<typeof results>;

    before(async () => {
      const files = elispFiles(TESTS).flatMap((name) => ["-l", join(TESTS, name)]);
      const { stdout } = await emacs(...files, "--eval", "(swank-test-run-ert)");
      found = results.parse(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""));
    });

    it("runs each test once", () =>
      expect(found.map(({ name }) => name)).to.have.members(tests.map(([, name]) => name)));

    for (const [, name = "", expected = ""] of tests)
      it(`${name}: ${expected}`, () =>
        expect(found.find((result) => result.name === name)).to.deep.equal({ name, problem: null }));
  });

  for (const name of elispFiles(FOLDER))
    it(`${name} compiles without warnings, and its docstrings are as checkdoc wants them`, async () => {
      const { stderr } = await emacs("--eval", `(swank-test-warnings ${JSON.stringify(join(FOLDER, name))})`);
      expect(stderr.split("\n").filter((line) => !/^(?:Wrote|Loading) |^$/.test(line))).to.deep.equal([]);
    });
});
