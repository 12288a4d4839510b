import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import {
  missingBrowser,
  missingEmacs,
  missingForTests,
  missingLisp,
  missingOthers,
} from "../../../scripts/setup/lisp.mjs";

describe("the search for missing programs", () => {
  /** @type {string} */
  let folder;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "missing-"));
  });

  afterEach(() => rm(folder, { recursive: true }));

  /** @param {Promise<unknown>} promise */
  const refusal = (promise) =>
    promise.then(
      () => expect.fail("should have been refused"),
      (error) => error,
    );

  it("finds SBCL, Swank and everything else that tests need, which was installed before this test", async () => {
    expect(await missingLisp()).to.deep.equal([]);
    expect(await missingForTests()).to.deep.equal([]);
  });

  it("reports that no SBCL is on the PATH, together with Lisp's libraries, so that one installation is enough", async () => {
    const { SBCL: _named, ...env } = process.env;
    expect(await missingLisp({}, { ...env, PATH: folder })).to.include("sbcl");
    const missing = await missingForTests({ ...env, PATH: folder });
    expect(missing).to.include.members(["sbcl", "fiveam", "cl-ppcre", "hunchentoot"]);
  });

  it("fails if a part that the user named is missing, instead of installing another one", async () => {
    const lisp = join(folder, "sbcl");
    expect(await refusal(missingLisp({ lisp }))).to.have.property("name", "SetupError");
    expect((await refusal(missingLisp({ lisp }))).message).to.include(lisp);
    expect((await refusal(missingLisp({ swank: folder }))).message).to.include(folder);
    expect((await refusal(missingLisp({}, { ...process.env, SWANK: folder }))).message).to.include(folder);
  });

  it("reports libraries that neither ASDF nor Quicklisp finds", async () => {
    const nowhere = { CL_SOURCE_REGISTRY: "(:source-registry :ignore-inherited-configuration)", HOME: folder };
    expect(await missingForTests({ ...process.env, ...nowhere })).to.include.members(["fiveam", "cl-ppcre"]);
  });

  it("reports that no Emacs is on the PATH", async () => {
    expect(await missingEmacs({ PATH: folder })).to.deep.equal(["emacs", "slime"]);
  });

  it("reports that no ECL is on the PATH", () => {
    expect(missingOthers({ PATH: folder })).to.deep.equal(["ecl"]);
  });

  it("reports that Emacs has no SLIME", async () => {
    await symlink(process.execPath, join(folder, "emacsclient"));
    await writeFile(join(folder, "emacs"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    expect(await missingEmacs({ PATH: folder })).to.deep.equal(["slime"]);
  });

  it("finds a browser by any of its names", async () => {
    await symlink(process.execPath, join(folder, "google-chrome"));
    expect(await missingBrowser({ PATH: folder })).to.deep.equal([]);
  });
});
