import { expect } from "chai";
import {
  isInstalled,
  type LispResult,
  lispTests,
  OTHER_LISP,
  runLispTests,
  runTextTests,
  TEXT_TESTS,
} from "../support/fiveam.js";

describe("The Lisp system swank-client", () => {
  const tests = lispTests();
  let results: readonly LispResult[];
  before(async function () {
    // compiles all systems
    this.timeout(300_000);
    results = await runLispTests();
  });

  it("runs each FiveAM test once", () =>
    expect(results.map(({ name }) => name)).to.have.members(tests.map(({ name }) => name)));

  for (const { name, expected } of tests)
    it(`${name}: ${expected}`, () =>
      expect(results.find((result) => result.name === name)).to.deep.equal({ name, problem: undefined }));
});

describe("The Lisp system swank-client/text", () => {
  const passed = lispTests([TEXT_TESTS]).map(({ name }) => ({ name, problem: undefined }));

  it("passes its tests in an SBCL without Swank", async () =>
    expect(await runTextTests("sbcl")).to.have.deep.members(passed));

  it(`passes its tests in ${OTHER_LISP}, where that is installed`, async () => {
    if (await isInstalled(OTHER_LISP)) expect(await runTextTests(OTHER_LISP)).to.have.deep.members(passed);
    else process.stdout.write(`      ${OTHER_LISP} is not installed: only SBCL has run the tests of text/.\n`);
  });
});
