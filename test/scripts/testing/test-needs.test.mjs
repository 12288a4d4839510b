import { expect } from "chai";
import { testNeeds } from "../../../scripts/testing/test-needs.mjs";

describe("what a test file needs", () => {
  /**
   * @param {string} file
   * @param {Record<string, string>} sources by path
   */
  async function needsOf(file, sources) {
    const { live, lisp, emacs } = await testNeeds(file, async (path) => sources[path] ?? "");
    return { live, lisp, emacs };
  }

  it("is nothing when neither it nor its helpers start a program", async () => {
    const needs = await needsOf("test/dist/a/x.test.js", {
      "test/dist/a/x.test.js": 'import { help } from "../support/help.js";\nimport { scan } from "sexp-parser";',
      "test/dist/support/help.js": 'export { help } from "../a/x.test.js";\nimport "../../../packages/p/dist/p.js";',
      "packages/p/dist/p.js": 'import "node:child_process";',
    });
    expect(needs).to.deep.equal({ live: false, lisp: false, emacs: false });
  });

  for (const starter of ["node:child_process", "swank-client/launch", "@modelcontextprotocol/sdk/client/stdio.js"]) {
    it(`is a Lisp when a helper imports ${starter}`, async () => {
      const needs = await needsOf("test/dist/a/x.test.js", {
        "test/dist/a/x.test.js": 'import { start } from "../support/start.js";',
        "test/dist/support/start.js": `import { spawn } from "${starter}";`,
      });
      expect(needs).to.deep.equal({ live: true, lisp: true, emacs: false });
    });
  }

  it("is Emacs when a helper starts one", async () => {
    const needs = await needsOf("test/dist/emacs/x.test.js", {
      "test/dist/emacs/x.test.js": 'import { EmacsProcess } from "../support/emacs-process.js";',
      "test/dist/support/emacs-process.js": 'import { spawn } from "node:child_process";',
    });
    expect(needs).to.deep.equal({ live: true, lisp: true, emacs: true });
  });

  it("is no Lisp for a test of the scripts that starts programs, unless it looks for Lisp", async () => {
    const file = "test/scripts/x.test.mjs";
    const sources = { [file]: 'import { spawn } from "node:child_process";' };
    expect(await needsOf(file, sources)).to.deep.equal({ live: true, lisp: false, emacs: false });
    sources[file] += '\nimport { missingLisp } from "../../scripts/setup/missing-lisp.mjs";';
    expect(await needsOf(file, sources)).to.deep.equal({ live: true, lisp: true, emacs: false });
  });

  it("is right for this repository's tests", async () => {
    const needs = async (/** @type {string} */ name) => (await testNeeds(`test/dist/${name}.test.js`)).lisp;
    expect(await needs("sexp-parser/scan")).to.equal(false);
    expect(await needs("swank-client/live/stops")).to.equal(true);
    expect((await testNeeds("test/dist/emacs/share.test.js")).emacs).to.equal(true);
  });
});
