import { expect } from "chai";
import {
  isInstalled,
  LISP_TESTS_TIME,
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
    this.timeout(LISP_TESTS_TIME + 60_000);
    results = await runLispTests();
  });

  it("runs each FiveAM test once", () =>
    expect(results.map(({ name }) => name)).to.have.members(tests.map(({ name }) => name)));

  for (const { name, expected } of tests)
    it(`${name}: ${expected}`, () =>
      expect(results.find((result) => result.name === name)).to.deep.equal({ name, problem: undefined }));

  it("unwinds no thread in the C library where the stack has no limit, so that the library is elsewhere", async function () {
    this.timeout(LISP_TESTS_TIME + 60_000);
    const names = ["the-c-library-is-told-from-lisp", "a-thread-is-not-unwound-inside-the-c-library"];
    const passed = names.map((name) => ({ name, problem: undefined }));
    expect(await runLispTests(names, "unlimited")).to.have.deep.members(passed);
  });
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
