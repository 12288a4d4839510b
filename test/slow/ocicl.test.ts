import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { COMPILING, loadText } from "../support/loadable-systems.js";
import { McpStdio } from "../support/mcp-stdio.js";
import { encapsulated } from "../support/tested-systems.js";

const SOURCES = process.env["OCICL_SOURCES"];

/** A folder in which ocicl has installed two systems, and a system that needs one of them. */
const FILES = {
  "ocicl.csv": `leaf, ghcr.io/ocicl/leaf@sha256:00, leaf-20240503-0000000/leaf.asd
twig, ghcr.io/ocicl/twig@sha256:00, twig-20240503-0000000/twig.asd
`,
  "ocicl/leaf-20240503-0000000/leaf.asd": `(defsystem "leaf" :depends-on ("twig") :components ((:file "leaf")))`,
  "ocicl/leaf-20240503-0000000/leaf.lisp": "(defun leaf () (list (twig)))\n",
  "ocicl/twig-20240503-0000000/twig.asd": `(defsystem "twig" :components ((:file "twig")))`,
  "ocicl/twig-20240503-0000000/twig.lisp": "(defun twig () :twig)\n",
  "tree.asd": `(defsystem "tree" :depends-on ("leaf" "root") :components ((:file "tree")))`,
  "tree.lisp": "(defun tree () (leaf))\n",
  "plain.asd": `(defsystem "plain" :components ((:file "tree")))`,
} as const;

describe("load-system with ocicl", function () {
  this.timeout(COMPILING);
  let folder: string;
  let server: McpStdio;

  before(async () => {
    if (SOURCES === undefined) throw new Error("OCICL_SOURCES must name a folder with the sources of ocicl.");
    folder = await realpath(await mkdtemp(join(tmpdir(), "ocicl-")));
    for (const [name, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    server = await McpStdio.start([], { PATH: `${folder}/bin:${process.env["PATH"] ?? ""}` });
    // ASDF may be replaced by the newer one that comes with ocicl, after the tool has used the old one.
    expect(await load({ file: `${folder}/plain.asd` })).to.match(/^System plain is loaded: 1 file/);
    const setup = await server.call("evaluate-lisp", {
      code: `(uiop:chdir "${folder}/") (setf *default-pathname-defaults* #p"${folder}/")
(load "${SOURCES}/runtime/ocicl-runtime.lisp")
(push #p"${folder}/" asdf:*central-registry*)`,
      timeout: 500,
    });
    expect(setup.isError, loadText(setup)).to.equal(false);
  });

  after(async () => {
    await server.end();
    await rm(folder, { recursive: true });
  });

  async function load(args: Record<string, unknown>): Promise<string> {
    return loadText(await server.call("load-system", args));
  }

  /** What is said about a system that is missing. */
  async function missing(system: string): Promise<string> {
    const answer = await load({ system });
    expect(answer).to.match(
      /^System \S+ is not loaded\. Nothing was compiled or loaded\.\nASDF does not find a system /,
    );
    return answer;
  }

  /** Makes a program of the name ocicl that the image finds. It stands for the real one without a network. */
  async function installProgram(script: string): Promise<void> {
    const file = join(folder, "bin/ocicl");
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
  }

  it("loads systems that only ocicl's list has, with the newer ASDF that ocicl needs", async () => {
    expect(await server.evaluate('(asdf:version-satisfies (asdf:asdf-version) "3.3.5")')).to.deep.equal(["=> T"]);
    expect(await load({ system: "leaf" })).to.equal(
      "System leaf is loaded: 2 files, compiled now.\nFiles: twig 1, leaf 1",
    );
    expect(await load({ system: "leaf" })).to.match(/^System leaf was loaded before, and its code is up to date/);
    expect(await load({ system: "leaf", force: true })).to.match(
      /^System leaf is loaded: 1 file, compiled now\.\n\nRedefined by ocicl\/leaf-20240503-0000000\/leaf\.lisp: LEAF$/,
    );
    expect(await server.evaluate("(leaf)")).to.deep.equal(["=> (:TWIG)"]);
  });

  it("reports a missing system, with ocicl's failure and its folders, when there is no program ocicl", async () => {
    const answer = await missing("leav");
    expect(answer).to.include(", ocicl/**/\n");
    expect(answer).to.match(/\nNot provided by: ocicl \(it failed: .*"ocicl".*\)\nSimilar: leaf\n/);
  });

  it("reports a missing dependency when ocicl has no network, and what ocicl prints", async () => {
    await installProgram('echo "no network" >&2; exit 1');
    const answer = await missing("tree");
    expect(answer).to.match(/\nASDF does not find a system root, which tree needs\.\n/);
    expect(answer).to.match(/\nNot provided by: ocicl \(it failed: .*exited with error code 1\)\n/);
    expect(answer).to.match(/\n\[stderr\]\n(?:no network\n?)+$/);
  });

  it("loads what ocicl installs, and tells that it is asked", async () => {
    await writeFile(join(folder, "root.txt"), `(defsystem "root" :components ((:file "root")))`);
    await installProgram(`test "$1" = install || exit 0
mkdir -p ${folder}/ocicl/root-1
mv ${folder}/root.txt ${folder}/ocicl/root-1/root.asd
echo '(list 1)' > ${folder}/ocicl/root-1/root.lisp
echo 'root, none, root-1/root.asd' >> ${folder}/ocicl.csv
until test -e ${folder}/seen; do sleep 0.1; done`);
    const call = server.startCall("load-system", { system: "tree", timeout: 500 });
    expect((await server.progressOf(call)).params?.["message"]).to.include("Asking ocicl for root");
    await writeFile(join(folder, "seen"), "");
    expect(loadText(await call.result)).to.match(
      /^System tree is loaded: 2 files, compiled now\.\nFiles: root 1, tree 1/,
    );
  });

  it("does not ask ocicl for test systems that only have a usual name, and leaves its function as it was", async () => {
    await installProgram(`echo "$@" >> ${folder}/asked`);
    expect(await load({ system: "leaf", test: true })).to.include("\nNo test system was found.");
    await missing("leav");
    expect(await readFile(join(folder, "asked"), "utf8")).not.to.match(/test/);
    const functions = "ocicl-runtime::system-definition-searcher asdf:perform asdf/plan:perform-plan";
    expect(await server.evaluate(encapsulated(functions))).to.deep.equal(["=> NIL"]);
  });
});
