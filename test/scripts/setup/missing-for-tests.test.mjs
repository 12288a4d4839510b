import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { missingForTests } from "../../../scripts/setup/missing-for-tests.mjs";

describe("the search for what tests need", () => {
  /** @type {string} */
  let empty;

  before(async () => {
    empty = await mkdtemp(join(tmpdir(), "missing-for-tests-"));
  });

  after(() => rm(empty, { recursive: true }));

  it("finds everything, which was installed before this test", async () => {
    expect(await missingForTests()).to.deep.equal([]);
  });

  it("reports Lisp's libraries together with a missing SBCL, so that one installation is enough", async () => {
    const { SBCL: _named, ...env } = process.env;
    const missing = await missingForTests({ ...env, PATH: empty });
    expect(missing).to.include.members(["sbcl", "fiveam", "cl-ppcre", "hunchentoot"]);
  });
});
