import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { missingLisp } from "../../../scripts/setup/missing-lisp.mjs";

describe("the search for missing parts of Lisp", () => {
  /** @type {string} */
  let empty;

  before(async () => {
    empty = await mkdtemp(join(tmpdir(), "missing-lisp-"));
  });

  after(() => rm(empty, { recursive: true }));

  /** @param {Promise<unknown>} promise */
  const refusal = (promise) =>
    promise.then(
      () => expect.fail("should have been refused"),
      (error) => error,
    );

  it("finds SBCL and Swank", async () => {
    expect(await missingLisp()).to.deep.equal([]);
  });

  it("reports that no SBCL is on the PATH", async () => {
    const { SBCL: _named, ...env } = process.env;
    expect(await missingLisp({}, { ...env, PATH: empty })).to.include("sbcl");
  });

  it("fails if a part that the user named is missing, instead of installing another one", async () => {
    const lisp = join(empty, "sbcl");
    expect(await refusal(missingLisp({ lisp }))).to.have.property("name", "SetupError");
    expect((await refusal(missingLisp({ lisp }))).message).to.include(lisp);
    expect((await refusal(missingLisp({ swank: empty }))).message).to.include(empty);
    expect((await refusal(missingLisp({}, { ...process.env, SWANK: empty }))).message).to.include(empty);
  });
});
