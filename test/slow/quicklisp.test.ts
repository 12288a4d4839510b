import { cp, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { COMPILING, loadText } from "../support/loadable-systems.js";
import { McpStdio } from "../support/mcp-stdio.js";
import { type DistProject, QuicklispDist } from "../support/quicklisp-dist.js";

const SOURCES = process.env["QUICKLISP_SOURCES"];

const PROJECTS: readonly DistProject[] = [
  {
    name: "remote-trees",
    needs: ["remote-nodes"],
    files: {
      "remote-trees.asd": `(defsystem "remote-trees" :depends-on ("remote-nodes") :components ((:file "trees")))
(defsystem "remote-trees/tests" :depends-on ("remote-trees") :components ((:file "tests")))`,
      "trees.lisp": "(defun remote-tree () (list (remote-node)))\n",
      "tests.lisp": "(defun test-remote-tree () (equal (remote-tree) '(:node)))\n",
    },
  },
  {
    name: "remote-nodes",
    files: {
      "remote-nodes.asd": `(defsystem "remote-nodes" :components ((:file "nodes")))`,
      "nodes.lisp": "(defun remote-node () :node)\n",
    },
  },
  {
    name: "remote-graphs",
    files: {
      "remote-graphs.asd": `(defsystem "remote-graphs" :components ((:file "graphs")))`,
      "graphs.lisp": "(defun remote-graph () :graph)\n",
    },
  },
  {
    name: "remote-pairs",
    files: {
      "remote-pairs.asd": `(defsystem "remote-pairs") (defsystem "remote-pairs/extra" :components ((:file "extra")))`,
      "extra.lisp": "(defun remote-pair () :pair)\n",
    },
  },
  ...["remote-gone", "remote-slow"].map((name) => ({
    name,
    files: { [`${name}.asd`]: `(defsystem "${name}" :components ((:file "file")))`, "file.lisp": "(list 1)\n" },
  })),
];

describe("load-system with Quicklisp", function () {
  this.timeout(COMPILING);
  let dist: QuicklispDist;
  let home: string;
  let server: McpStdio;

  before(async () => {
    if (SOURCES === undefined)
      throw new Error("QUICKLISP_SOURCES must name a folder with the sources of quicklisp-client.");
    dist = await QuicklispDist.start(PROJECTS);
    home = await realpath(await mkdtemp(join(tmpdir(), "quicklisp-")));
    for (const name of ["setup.lisp", "asdf.lisp", "quicklisp"])
      await cp(join(SOURCES, name), join(home, name), { recursive: true });
    await writeFile(
      join(home, "mine.asd"),
      `(defsystem "mine" :depends-on ("remote-graphs") :components ((:file "mine")))`,
    );
    await writeFile(join(home, "needy.asd"), `(defsystem "needy" :depends-on ("remote-nowhere"))`);
    await writeFile(join(home, "mine.lisp"), "(defun mine () (remote-graph))\n");
    server = await McpStdio.start();
    const setup = await server.call("evaluate-lisp", {
      // This is how quicklisp.lisp, the program that installs Quicklisp, names the first dist.
      code: `(defpackage :quicklisp-quickstart (:use))
(defvar quicklisp-quickstart::*quickstart-parameters* '(:initial-dist-url "${dist.url}/distinfo.txt"))
(load "${home}/setup.lisp")`,
      timeout: 500,
    });
    expect(setup.isError, loadText(setup)).to.equal(false);
  });

  after(async () => {
    await server.end();
    await dist.stop();
    await rm(home, { recursive: true });
  });

  async function load(args: Record<string, unknown>): Promise<string> {
    return loadText(await server.call("load-system", args));
  }

  /** An answer with the text before what Quicklisp prints. */
  async function verdict(args: Record<string, unknown>): Promise<string> {
    return (await load(args)).split("\n\n")[0] ?? "";
  }

  function archive(name: string): string {
    return `/${name}-2024-01-01.tgz`;
  }

  it("names what Quicklisp has of a similar name, where it was looked for, and what does not provide it", async () => {
    const text = await verdict({ system: "remote-graps" });
    expect(text).to.match(/^System remote-graps is not loaded\. Nothing was compiled or loaded\.\nASDF does not find/);
    expect(text).to.include(`${home}/local-projects/**/`);
    expect(text).to.match(/\nNot provided by: Quicklisp\nSimilar: remote-graphs\n/);
  });

  it("installs a system that only Quicklisp has, with those that it needs and its tests, and tells which it installs", async () => {
    dist.held.set(archive("remote-nodes"), undefined);
    const call = server.startCall("load-system", { system: "remote-trees", test: true, timeout: 500 });
    expect((await server.progressOf(call)).params?.["message"]).to.include("Installing remote-nodes with Quicklisp");
    dist.release(archive("remote-nodes"));
    const answer = loadText(await call.result);
    expect(answer).to.match(
      /^System remote-trees is loaded: 3 files, compiled now\.\nIts test systems are loaded: remote-trees\/tests\.\nFiles: remote-nodes 1, remote-trees 1, remote-trees\/tests 1\n/,
    );
    expect(answer).to.match(/\n\[stdout\]\n; Fetching #<URL "http:.*remote-trees-2024-01-01\.tgz">\n/);
    expect(await server.evaluate("(test-remote-tree)")).to.deep.equal(["=> T"]);
    expect(await load({ system: "remote-trees" })).to.match(
      /^System remote-trees was loaded before, and its code is up to date/,
    );
  });

  it("installs what a system of another folder needs", async () => {
    expect(await verdict({ file: `${home}/mine.asd` })).to.equal(
      "System mine is loaded: 2 files, compiled now.\nFiles: remote-graphs 1, mine 1",
    );
  });

  it("installs the system whose definition also defines the wanted one", async () => {
    expect(await verdict({ system: "remote-pairs/extra" })).to.equal(
      "System remote-pairs/extra is loaded: 1 file, compiled now.",
    );
  });

  it("stops when Quicklisp cannot install a system, and does so when it is tried again", async () => {
    dist.missing.add(archive("remote-gone"));
    const text = await load({ system: "remote-gone" });
    expect(text).to.match(
      /^System remote-gone is not loaded\. Nothing was compiled or loaded\.\nNot installed by Quicklisp to its end: remote-gone\n/,
    );
    expect(text).to.match(/\n\[ERROR\] QL-HTTP:UNEXPECTED-HTTP-STATUS\n.*404\n/);
    dist.missing.clear();
    expect(loadText(await server.call("debugger_invoke_restart", { restart: "RETRY" }))).to.match(
      /^System remote-gone is loaded: 1 file, compiled now\./,
    );
  });

  it("leaves no part of an archive when it is cancelled in a download, and installs in the next call", async () => {
    dist.held.set(archive("remote-slow"), undefined);
    const call = server.startCall("load-system", { system: "remote-slow", timeout: 500 });
    await server.progressOf(call);
    await dist.requested(archive("remote-slow"));
    server.cancel(call.id);
    dist.held.clear();
    expect(
      await server.evaluate(`(probe-file "${home}/dists/local/archives/remote-slow-2024-01-01.tgz")`),
    ).to.deep.equal(["=> NIL"]);
    expect(await verdict({ system: "remote-slow" })).to.match(/^System remote-slow is loaded: 1 file, compiled now\./);
  });

  it("reports a system that neither ASDF nor Quicklisp has", async () => {
    expect(await verdict({ system: "nowhere" })).to.match(/\nNot provided by: Quicklisp\n/);
    expect(await verdict({ file: `${home}/needy.asd` })).to.match(
      /\nASDF does not find a system remote-nowhere, which needy needs\.\n/,
    );
  });
});
