import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { missingEmacs } from "../../../scripts/setup/missing-emacs.mjs";

describe("the search for missing parts of Emacs", () => {
  /** @type {string} */
  let folder;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "missing-emacs-"));
  });

  afterEach(() => rm(folder, { recursive: true }));

  it("finds Emacs and SLIME", async () => {
    expect(await missingEmacs()).to.deep.equal([]);
  });

  it("reports that no Emacs is on the PATH", async () => {
    expect(await missingEmacs({ PATH: folder })).to.deep.equal(["emacs", "slime"]);
  });

  it("reports that Emacs has no SLIME", async () => {
    await symlink(process.execPath, join(folder, "emacsclient"));
    await writeFile(join(folder, "emacs"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    expect(await missingEmacs({ PATH: folder })).to.deep.equal(["slime"]);
  });
});
