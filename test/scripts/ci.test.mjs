import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect } from "chai";
import { inRepository } from "../../scripts/setup/paths.mjs";

describe(".ci/run", () => {
  /** @type {string} */
  let folder;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "ci-run-"));
  });

  after(() => rm(folder, { recursive: true }));

  /**
   * Runs it with an npm that only says something and ends.
   *
   * @param {string} check shell code for `npm run check`
   * @param {string} test shell code for `npm test`
   * @returns {Promise<{ lastLine: string | undefined, succeeded: boolean }>}
   */
  async function run(check, test) {
    const npm = join(folder, "npm");
    await writeFile(npm, `#!/bin/sh\ncase "$1" in run) ${check};; test) ${test};; esac\n`);
    await chmod(npm, 0o755);
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"]}` };
    return new Promise((resolve) => {
      execFile("bash", [inRepository(".ci/run")], { env }, (error, stdout) => {
        resolve({ lastLine: stdout.trimEnd().split("\n").at(-1), succeeded: error === null });
      });
    });
  }

  const CHECKED = 'echo "8 passed, 0 failed"';

  it("adds up checks and tests", async () => {
    const { lastLine, succeeded } = await run(CHECKED, 'echo "34 passed, 0 failed"');
    expect(lastLine).to.equal("42 passed, 0 failed");
    expect(succeeded).to.equal(true);
  });

  it("fails with a failed test or a failed check", async () => {
    expect(await run(CHECKED, 'echo "33 passed, 1 failed"; exit 1')).to.deep.equal({
      lastLine: "41 passed, 1 failed",
      succeeded: false,
    });
    expect(await run('echo "7 passed, 1 failed"; exit 1', 'echo "34 passed, 0 failed"')).to.deep.equal({
      lastLine: "41 passed, 1 failed",
      succeeded: false,
    });
  });

  it("counts a command as failed if it fails without counts or prints nothing", async () => {
    const failed = { lastLine: "8 passed, 1 failed", succeeded: false };
    expect(await run(CHECKED, "exit 3")).to.deep.equal(failed);
    expect(await run(CHECKED, "exit 0")).to.deep.equal(failed);
    expect(await run(CHECKED, 'echo "0 passed, 0 failed"; exit 1')).to.deep.equal(failed);
  });

  it("reads the last line of counts, even if a test has printed another one", async () => {
    const { lastLine } = await run(CHECKED, 'echo "1 passed, 5 failed"; echo "34 passed, 0 failed"');
    expect(lastLine).to.equal("42 passed, 0 failed");
  });
});
