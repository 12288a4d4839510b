import { chmod, mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect } from "chai";
import { findLisp, findSwank } from "swank-client/launch";
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

  it("gives up a script without waiting for the program that it has started", async () => {
    const made = await folder();
    const script = join(made, "my-lisp");
    // The child keeps the script's output open. It ends by itself.
    await writeFile(script, `#!/bin/sh\n(sleep 5; echo > '${made}/ended')\n`);
    await chmod(script, 0o755);
    await rejection(findLisp({ lisp: script, signal: AbortSignal.timeout(200) }), "CANCELLED");
    expect(await readdir(made)).to.deep.equal(["my-lisp"]);
  });

  it("reports how to install SBCL if there is none", async () => {
    const error = await rejection(findLisp({ lisp: "sbcl", env: { PATH: await folder() } }), "LISP_NOT_FOUND");
    expect(error.message).to.equal("There is no executable sbcl.");
    for (const command of ["apt-get install sbcl", "dnf install sbcl", "pacman -S sbcl", "brew install sbcl"])
      expect(error.remedy).to.include(command);
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
  ] as const)
    it(`refuses a program that ${what}`, async () =>
      expect((await rejection(findLisp({ lisp: program }), "LISP_NOT_FOUND")).message).to.include("cannot be used"));
});

describe("findSwank", () => {
  const { folder } = folders();

  /** A home folder, on a system that has nothing of its own. */
  async function home() {
    const path = await folder();
    const place = async (name: string, time = 1_000) => {
      const swank = join(path, name);
      await mkdir(swank, { recursive: true });
      const loader = join(swank, "swank-loader.lisp");
      await writeFile(loader, "");
      await utimes(loader, time, time);
      return swank;
    };
    return { path, env: { HOME: path, XDG_DATA_DIRS: join(path, "nothing") }, place };
  }

  it("accepts the given folder or file, or the variable SWANK", async () => {
    const { env, place } = await home();
    const swank = await place("anywhere");
    await place("quicklisp/dists/quicklisp/software/slime-v2.30");
    expect(await findSwank({ swank, env })).to.equal(swank);
    expect(await findSwank({ swank: join(swank, "swank-loader.lisp"), env })).to.equal(swank);
    expect(await findSwank({ env: { ...env, SWANK: swank } })).to.equal(swank);
  });

  it("searches no other place if the named folder has no Swank", async () => {
    const { path, env, place } = await home();
    await place("quicklisp/dists/quicklisp/software/slime-v2.30");
    const error = await rejection(findSwank({ swank: join(path, "gone"), env }), "SWANK_NOT_FOUND");
    expect(error.message).to.include(join(path, "gone"));
  });

  for (const name of [
    "quicklisp/dists/quicklisp/software/slime-v2.30",
    "quicklisp/local-projects/slime",
    "common-lisp/slime",
    ".local/share/common-lisp/source/slime-2.32",
    ".emacs.d/elpa/slime-20240125.1336",
    ".config/emacs/elpa/slime-2.32",
    ".emacs.d/straight/repos/slime",
    ".config/emacs/.local/straight/repos/slime",
    ".emacs.d/elpaca/repos/slime",
    ".emacs.d/slime",
  ])
    it(`finds ~/${name}`, async () => {
      const { env, place } = await home();
      const swank = await place(name);
      expect(await findSwank({ env })).to.equal(swank);
    });

  for (const name of [
    "common-lisp/source/slime",
    "emacs/site-lisp/elpa/slime-2.27",
    "emacs/site-lisp/elpa-src/slime-2.27",
  ])
    it(`finds ${name} in the system's folders`, async () => {
      const { path, env, place } = await home();
      const swank = await place(`usr/share/${name}`);
      expect(await findSwank({ env: { ...env, XDG_DATA_DIRS: `/nowhere:${path}/usr/share` } })).to.equal(swank);
    });

  it("finds Swank in folders of ASDF's configuration", async () => {
    const { path, env, place } = await home();
    const swank = await place("src/lisp/slime");
    expect(await findSwank({ env: { ...env, CL_SOURCE_REGISTRY: `${path}/src//:` } })).to.equal(swank);
    expect(await findSwank({ env: { ...env, CL_SOURCE_REGISTRY: swank } })).to.equal(swank);
    const file = join(path, ".config/common-lisp/source-registry.conf.d/50-mine.conf");
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `(:tree "${path}/src/")`);
    expect(await findSwank({ env })).to.equal(swank);
  });

  it("reads ASDF's configuration file, and ignores an unreadable one", async () => {
    const { path, env, place } = await home();
    const swank = await place("src/slime");
    const config = join(path, ".config/common-lisp");
    await mkdir(join(config, "source-registry.conf.d"), { recursive: true });
    await writeFile(join(config, "source-registry.conf.d/broken.conf"), "(:tree ");
    await writeFile(
      join(config, "source-registry.conf"),
      `(:source-registry (:also-exclude "x") (:directory "${swank}/") :inherit-configuration)`,
    );
    expect(await findSwank({ env })).to.equal(swank);
  });

  it("prefers the newest of a kind, and Quicklisp's to the others", async () => {
    const { env, place } = await home();
    const packaged = await place(".emacs.d/elpa/slime-2.32", 9_000);
    await place(".emacs.d/elpa/slime-2.9", 8_000);
    expect(await findSwank({ env })).to.equal(packaged);
    await place("quicklisp/dists/quicklisp/software/slime-20210630-git", 1_000);
    const newest = await place("quicklisp/dists/quicklisp/software/slime-v2.30", 2_000);
    expect(await findSwank({ env })).to.equal(newest);
  });

  it("reports the places searched and the remedy if there is none", async () => {
    const { path, env } = await home();
    await mkdir(join(path, ".emacs.d/elpa/slime-2.32"), { recursive: true });
    const error = await rejection(findSwank({ env }), "SWANK_NOT_FOUND");
    expect(error.message).to.include(`Quicklisp: ${path}/quicklisp, ${path}/.quicklisp`);
    expect(error.message).to.include(`${path}/nothing/common-lisp/source`);
    expect(error.remedy).to.include("apt-get install cl-swank").and.include('(ql:quickload "swank")');
  });
});
