import { expect } from "chai";
import { testNeeds } from "../../../scripts/testing/test-needs.mjs";

describe("testNeeds", () => {
  /**
   * @param {string} file
   * @param {Record<string, string>} sources by path
   */
  async function needsOf(file, sources) {
    const { live, lisp, fiveam, emacs } = await testNeeds(file, async (path) => sources[path] ?? "");
    return { live, lisp, fiveam, emacs };
  }

  it("is empty if neither the file nor its helpers start a program", async () => {
    const needs = await needsOf("test/dist/a/x.test.js", {
      "test/dist/a/x.test.js": 'import { help } from "../support/help.js";\nimport { scan } from "sexp-parser";',
      "test/dist/support/help.js": 'export { help } from "../a/x.test.js";\nimport "../../../packages/p/dist/p.js";',
      "packages/p/dist/p.js": 'import "node:child_process";',
    });
    expect(needs).to.deep.equal({ live: false, lisp: false, fiveam: false, emacs: false });
  });

  for (const starter of [
    "node:child_process",
    "swank-client/launch",
    "@modelcontextprotocol/sdk/client/stdio.js",
    "@modelcontextprotocol/client/stdio",
  ]) {
    it(`includes Lisp if a helper imports ${starter}`, async () => {
      const needs = await needsOf("test/dist/a/x.test.js", {
        "test/dist/a/x.test.js": 'import { start } from "../support/start.js";',
        "test/dist/support/start.js": `import { spawn } from "${starter}";`,
      });
      expect(needs).to.deep.equal({ live: true, lisp: true, fiveam: false, emacs: false });
    });
  }

  it("includes Emacs if a helper starts it", async () => {
    const needs = await needsOf("test/dist/emacs/x.test.js", {
      "test/dist/emacs/x.test.js": 'import { EmacsProcess } from "../support/emacs-process.js";',
      "test/dist/support/emacs-process.js": 'import { spawn } from "node:child_process";',
    });
    expect(needs).to.deep.equal({ live: true, lisp: true, fiveam: false, emacs: true });
  });

  it("includes FiveAM if a helper runs the tests of the Lisp code", async () => {
    const needs = await needsOf("test/dist/a/x.test.js", {
      "test/dist/a/x.test.js": 'import { runLispTests } from "../support/fiveam.js";',
      "test/dist/support/fiveam.js": 'import { findLisp } from "swank-client/launch";',
    });
    expect(needs).to.deep.equal({ live: true, lisp: true, fiveam: true, emacs: false });
  });

  it("includes libraries if a helper loads them", async () => {
    const file = "test/dist/a/x.test.js";
    const { libraries } = await testNeeds(file, async () => 'import { loadLibrary } from "../support/libraries.js";');
    expect(libraries).to.equal(true);
    expect((await testNeeds(file, async () => "")).libraries).to.equal(false);
  });

  it("includes Lisp for a test of the scripts only if it searches for Lisp", async () => {
    const file = "test/scripts/x.test.mjs";
    const sources = { [file]: 'import { spawn } from "node:child_process";' };
    expect(await needsOf(file, sources)).to.deep.equal({ live: true, lisp: false, fiveam: false, emacs: false });
    sources[file] += '\nimport { missingLisp } from "../../scripts/setup/missing-lisp.mjs";';
    expect(await needsOf(file, sources)).to.deep.equal({ live: true, lisp: true, fiveam: false, emacs: false });
  });

  it("is right for this repository's tests", async () => {
    const needs = async (/** @type {string} */ name) => (await testNeeds(`test/dist/${name}.test.js`)).lisp;
    expect(await needs("sexp-parser/scan")).to.equal(false);
    expect(await needs("swank-client/live/stops")).to.equal(true);
    expect((await testNeeds("test/dist/swank-client/lisp-system.test.js")).fiveam).to.equal(true);
    expect((await testNeeds("test/dist/emacs/share.test.js")).emacs).to.equal(true);
  });
});
