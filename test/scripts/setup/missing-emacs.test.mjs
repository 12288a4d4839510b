import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { missingEmacs } from "../../../scripts/setup/missing-emacs.mjs";

describe("looking for Emacs before the tests need it", () => {
  /** @type {string} */
  let folder;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "missing-emacs-"));
  });

  afterEach(() => rm(folder, { recursive: true }));

  it("finds what the tests drive", async () => {
    expect(await missingEmacs()).to.deep.equal([]);
  });

  it("tells that no Emacs is on the PATH", async () => {
    expect(await missingEmacs({ PATH: folder })).to.deep.equal(["emacs", "slime"]);
  });

  it("tells that an Emacs knows no SLIME", async () => {
    await symlink(process.execPath, join(folder, "emacsclient"));
    await writeFile(join(folder, "emacs"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    expect(await missingEmacs({ PATH: folder })).to.deep.equal(["slime"]);
  });
});
