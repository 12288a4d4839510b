import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import * as z from "zod";
import { loadLibrary } from "../../support/libraries.js";
import { COMPILING, loadingSuite, loadText } from "../../support/loadable-systems.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { encapsulated } from "../../support/tested-systems.js";

const notesOf = z.object({ notes: z.array(z.object({ file: z.string().optional(), line: z.number().optional() })) });

describe("load-system", () => {
  const suite = loadingSuite(import.meta.url);

  it("loads a system with those that it needs, and reports each note with its place", async () => {
    const result = await suite.server.call("load-system", { system: "shop" });
    suite.snapshots.match("a system", loadText(result));
    expect(result.isError).to.equal(false);
    const loaded = result._meta?.["swank-mcp/loaded"];
    expect(loaded).to.deep.include({ status: "loading", system: "shop", compiled: 3, left_out: 0, tests: [] });
    expect(loaded).to.have.nested.property("notes[0].line", 5);
  });

  it("compiles nothing that is up to date, and knows names that are written like symbols", async () => {
    suite.snapshots.match("a system that is up to date", await suite.load({ system: "shop" }));
    expect(await suite.load({ system: "#:SHOP" })).to.equal(await suite.load({ system: ":Shop" }));
  });

  it("compiles everything by force, loads test systems, and names what is redefined", async () => {
    suite.snapshots.match("by force, with tests", await suite.load({ system: "shop", force: true, test: true }));
    expect(await suite.load({ system: "cart", test: true })).to.match(/\nNo test system was found\.$/);
  });

  it("says which system is missing, what needs it, where it was looked for, and what is similar", async () => {
    suite.snapshots.match("a missing dependency", await suite.load({ system: "needy" }));
    suite.snapshots.match("a missing system", await suite.load({ system: "carts" }));
    expect(await suite.load({ system: "*" })).to.match(/^System \* is not loaded\. Nothing was compiled or loaded\.\n/);
    suite.snapshots.match("a version that is missing", (await suite.load({ system: "old" })).split("\n\n")[0] ?? "");
    expect((await suite.server.call("load-system", { system: "carts" })).isError).to.equal(true);
  });

  it("names systems that need each other", async () => {
    suite.snapshots.match("a circle", await suite.load({ system: "ring" }));
  });

  it("finds the definition of a system that ASDF does not find, and loads that by its file", async () => {
    suite.snapshots.match("a system elsewhere", await suite.load({ system: "secret" }));
    expect(await suite.load({ file: "hidden/secret.asd" })).to.equal("System secret is loaded: 1 file, compiled now.");
    expect(await suite.server.evaluate("(secret)")).to.deep.equal(["=> 42"]);
    suite.snapshots.match("a file with several systems", await suite.load({ file: "several.asd" }));
  });

  it("compiles and loads a file, and keeps the compiled one where ASDF does", async () => {
    suite.snapshots.match("a file", await suite.load({ file: "single.lisp" }));
    expect((await readdir(suite.systems.folder)).filter((name) => name.endsWith(".fasl"))).to.deep.equal([]);
    expect(await readdir(join(suite.systems.folder, "fasl"))).to.include("single.fasl");
    suite.snapshots.match("no such file", await suite.load({ file: "singel.lisp" }));
  });

  it("refuses wrong arguments", async () => {
    for (const args of [
      {},
      { system: "shop", file: "single.lisp" },
      { file: "single.lisp", test: true },
      { system: "" },
      { file: "" },
      { system: 1 },
      { system: "shop", force: "yes" },
      { system: "shop", test: 2 },
      { system: "shop", timeout: 0 },
      { system: "shop", forced: true },
    ])
      expect(
        (await suite.server.call("load-system", args)).structuredContent,
        JSON.stringify(args),
      ).to.have.nested.property("error.data.type", "INVALID_ARGUMENTS");
  });

  it("installs what is missing with Quicklisp, if the image has that", async () => {
    await suite.server.evaluate(`(defpackage :ql-dist (:use) (:export #:find-system #:ensure-installed))
      (defun ql-dist:find-system (name) (find name '("remote" "remote-lib") :test #'string=))
      (defun ql-dist:ensure-installed (name) (push (list name) *installed*)
        (pushnew (merge-pathnames (format nil "~a/" name)) asdf:*central-registry* :test #'equal))
      (defvar *installed* '())`);
    await suite.systems.write(
      "remote/remote.asd",
      `(defsystem "remote" :depends-on ("remote-lib") :components ((:file "remote")))`,
    );
    await suite.systems.write("remote/remote.lisp", "(defun remote () (remote-lib))\n");
    await suite.systems.write(
      "remote-lib/remote-lib.asd",
      `(defsystem "remote-lib" :components ((:file "remote-lib")))`,
    );
    await suite.systems.write("remote-lib/remote-lib.lisp", "(defun remote-lib () :far)\n");
    suite.snapshots.match("systems from Quicklisp", await suite.load({ system: "remote" }));
    expect(await suite.server.evaluate("(list (remote) (reverse *installed*))")).to.deep.equal([
      '=> (:FAR (("remote") ("remote-lib")))',
    ]);
    expect(await suite.load({ system: "elsewhere" })).to.include("\nNot provided by: Quicklisp\n");
    await suite.server.evaluate('(delete-package "QL-DIST")');
  });

  it("leaves ASDF and its conditions as they were", async () => {
    await suite.load({ system: "cart", force: true });
    expect(await suite.server.evaluate(encapsulated("asdf:perform asdf/plan:perform-plan"))).to.deep.equal(["=> NIL"]);
    const value = await suite.server.evaluate(
      `(list *package* (symbolp (handler-case (asdf:find-system "gone") (error (c) (type-of c)))))`,
    );
    expect(value).to.deep.equal(['=> (#<PACKAGE "COMMON-LISP-USER"> T)']);
  });

  it("works the same on an image that it is attached to", async () => {
    const [port = ""] = await suite.server.evaluate("(swank:create-server :port 0 :dont-close t)");
    const attached = await McpStdio.start(["--attach", port.replace("=> ", "")]);
    const result = await attached.call("load-system", { system: "cart", force: true });
    expect(loadText(result)).to.match(
      /^System cart is loaded: 1 file, compiled now\.\nThe compiler: 1 style warning\./,
    );
    await attached.end();
  });

  it("loads a library, with the place of every note about its files", async function () {
    this.timeout(COMPILING);
    const other = await McpStdio.start();
    await other.call("evaluate-lisp", { code: loadLibrary("hunchentoot"), timeout: 500 });
    expect(loadText(await other.call("load-system", { system: "hunchentoot" }))).to.match(
      /^System hunchentoot was loaded before/,
    );
    const result = await other.call("load-system", { system: "cl-ppcre", force: true, timeout: 500 });
    expect(loadText(result)).to.match(/^System cl-ppcre is loaded: \d\d files, compiled now\.\n/);
    const { notes } = notesOf.parse(result._meta?.["swank-mcp/loaded"]);
    expect(notes.filter(({ file, line }) => file === undefined || line === undefined)).to.deep.equal([]);
    await other.end();
  });
});
