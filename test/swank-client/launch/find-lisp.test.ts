import { chmod, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect } from "chai";
import { findLisp } from "swank-client/launch";
import { rejection } from "../../support/caught.js";
import { folders } from "./launching.js";

describe("findLisp", () => {
  const { folder } = folders();

  it("finds sbcl on the PATH and describes it", async () => {
    const lisp = await findLisp();
    expect(basename(lisp.executable)).to.equal("sbcl");
    expect(lisp.version).to.match(/^\d+\.\d+\.\d+/);
    expect(lisp.hasThreads).to.equal(true);
    expect(lisp.core).to.match(/sbcl\.core$/);
  });

  it("takes a path, a name, and the variable SBCL, in that order", async () => {
    const { executable } = await findLisp();
    const env = { PATH: dirname(executable), SBCL: "/nowhere/sbcl" };
    expect((await findLisp({ lisp: executable, env })).executable).to.equal(executable);
    expect((await findLisp({ lisp: "sbcl", env })).executable).to.equal(executable);
    expect((await rejection(findLisp({ env }), "LISP_NOT_FOUND")).message).to.include("/nowhere/sbcl");
    expect((await findLisp({ env: { SBCL: executable } })).executable).to.equal(executable);
    expect((await findLisp({ env: { PATH: dirname(executable), SBCL: "" } })).executable).to.equal(executable);
  });

  it("finds the program behind a script", async () => {
    const { executable, runtime, core } = await findLisp();
    const script = join(await folder(), "my-lisp");
    await writeFile(script, `#!/bin/sh\nexec ${executable} "$@"\n`);
    await chmod(script, 0o755);
    expect(await findLisp({ lisp: script })).to.deep.include({ executable: script, runtime, core });
  });

  it("reports how to install SBCL if there is none", async () => {
    const error = await rejection(findLisp({ lisp: "sbcl", env: { PATH: await folder() } }), "LISP_NOT_FOUND");
    expect(error.message).to.equal("There is no executable sbcl.");
    for (const command of ["apt-get install sbcl", "dnf install sbcl", "pacman -S sbcl", "brew install sbcl"]) {
      expect(error.remedy).to.include(command);
    }
  });

  it("refuses a file that is not executable", async () => {
    const file = join(await folder(), "sbcl");
    await writeFile(file, "");
    await rejection(findLisp({ lisp: file }), "LISP_NOT_FOUND");
  });

  for (const [program, what] of [
    ["true", "says nothing"],
    ["false", "fails"],
    ["echo", "says something else"],
  ] as const) {
    it(`refuses a program that ${what}`, async () => {
      const error = await rejection(findLisp({ lisp: program }), "LISP_NOT_FOUND");
      expect(error.message).to.include("cannot be used");
    });
  }
});
