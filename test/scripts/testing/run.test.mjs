import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { inRepository } from "../../../scripts/setup/paths.mjs";
import { countTests } from "../../../scripts/testing/run-tests.mjs";

describe("a run of the tests", function () {
  this.timeout(60_000);
  /** @type {string} */
  let folder;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "run-tests-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /**
   * Runs mocha with the repository's configuration.
   *
   * @param {readonly string[]} options
   * @param {Record<string, string>} files the bodies of suites
   * @returns {Promise<{ code: number | null, output: string, counts: unknown }>}
   */
  async function mocha(options, files) {
    for (const [name, body] of Object.entries(files))
      await writeFile(join(folder, name), `describe("${name}", () => { ${body} });\n`);
    const paths = Object.keys(files).map((name) => join(folder, name));
    const program = inRepository("node_modules/mocha/bin/mocha.js");
    const child = spawn(process.execPath, [program, ...options, ...paths], {
      cwd: inRepository(),
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: { ...process.env, TEST_GRACE: "200" },
    });
    let output = "";
    /** @type {unknown} */
    let counts;
    child.on("message", (message) => {
      counts = message;
    });
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk));
    const code = await new Promise((resolve) => child.once("close", resolve));
    return { code, output, counts };
  }

  for (const options of [[], ["--parallel", "--jobs", "2"]]) {
    const how = options.length > 0 ? "side by side" : "one by one";

    it(`counts tests ${how}, and fails if they leave something open`, async () => {
      const { code, output, counts } = await mocha([...options, "--exit"], {
        "one.test.mjs": 'it("passes", () => {}); it("fails", () => { throw new Error("no"); });',
        "open.test.mjs": 'it("opens a timer", () => { setInterval(() => {}, 1000); });',
      });
      expect(output).to.include("have left something open: Timeout");
      expect(counts).to.deep.equal({ passed: 2, failed: 2 });
      expect(code).to.equal(2);
    });
  }

  it("fails if a file ends its process", async () => {
    const body = 'it("exits", () => { process.exit(0); });';
    const { code } = await mocha(["--parallel", "--jobs", "2"], {
      "exit.test.mjs": body,
      "two.test.mjs": 'it("passes", () => {});',
    });
    expect(code).not.to.equal(0);
  });

  it("of a file that does not exist is a failure", async () => {
    expect(await countTests(["test/sexp-parser/none.test.ts"])).to.deep.equal({ passed: 0, failed: 1 });
  });
});
