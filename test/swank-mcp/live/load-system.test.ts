import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import * as z from "zod";
import { expectFacts } from "../../support/facts.js";
import { loadLibrary } from "../../support/libraries.js";
import { COMPILING, loadingSuite, loadText } from "../../support/loadable-systems.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { encapsulated } from "../../support/tested-systems.js";

const notesOf = z.object({ notes: z.array(z.object({ file: z.string().optional(), line: z.number().optional() })) });

describe("load-system", () => {
  const suite = loadingSuite();

  it("loads a system with those that it needs, and reports each note with its place", async () => {
    const result = await suite.server.call("load-system", { system: "shop" });
    expectFacts(
      loadText(result),
      "System shop is loaded: 3 files, compiled now.\nFiles: cart 1, shop 2\nThe compiler: 1 style warning.\n\ncart.lisp:5:1: STYLE-WARNING in (DEFUN TOTAL): The variable UNUSED",
      "[stdout]\nshop is loaded\n\n[stderr]\norders, too",
    );
    expect(result.isError).to.equal(false);
    const loaded = result._meta?.["swank-mcp/loaded"];
    expect(loaded).to.deep.include({ status: "loading", system: "shop", compiled: 3, left_out: 0, tests: [] });
    expect(loaded).to.have.nested.property("notes[0].line", 5);
  });

  it("compiles nothing that is up to date, and knows names that are written like symbols", async () => {
    expectFacts(
      await suite.load({ system: "shop" }),
      "System shop was loaded before, and its code is up to date: no file was compiled or loaded.",
    );
    expect(await suite.load({ system: "#:SHOP" })).to.equal(await suite.load({ system: ":Shop" }));
  });

  it("compiles everything by force, loads test systems, and names what is redefined", async () => {
    expectFacts(
      await suite.load({ system: "shop", force: true, test: true }),
      "System shop is loaded: 3 files, compiled now.\nIts test systems are loaded: shop/tests.\nFiles: shop 2, shop/tests 1\n\nRedefined by src/orders.lisp: ORDER",
    );
    expect(await suite.load({ system: "cart", test: true })).to.match(/\nNo test system was found\.$/);
    expect(await suite.load({ system: "shop", test: true })).to.match(/^System shop was loaded before,/);
  });

  it("says which system is missing, what needs it, where it was looked for, and what is similar", async () => {
    expectFacts(
      await suite.load({ system: "needy" }),
      "System needy is not loaded. Nothing was compiled or loaded.\nASDF does not find a system shoop, which needy needs.\nIt looked in: ./, <sbcl>/**/\nSimilar: shop\nASDF reads the folders once",
    );
    expect(await suite.load({ system: "*" })).to.match(/^System \* is not loaded\. Nothing was compiled or loaded\.\n/);
    expectFacts(
      (await suite.load({ system: "old" })).split("\n\n")[0] ?? "",
      "ASDF finds shop, but not version 3.1, which old needs.",
    );
    expect((await suite.server.call("load-system", { system: "carts" })).isError).to.equal(true);
  });

  it("names systems that need each other", async () => {
    expectFacts(await suite.load({ system: "ring" }), "These need each other: ring/a -> ring/b -> ring/a");
  });

  it("loads a system that a file below the image's directory defines, and says so, or which files there are", async () => {
    const folders = [join(suite.systems.folder, "one"), join(suite.systems.folder, "two", "three")];
    for (const folder of folders) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "twice.asd"), '(asdf:defsystem "twice")');
    }
    expectFacts(
      await suite.load({ system: "twice" }),
      "ASDF does not find a system twice.",
      'Not in these folders: one/twice.asd, two/three/twice.asd (load-system takes it as "file")',
    );
    expect(await suite.load({ file: "one/twice.asd" })).to.match(/^System twice /);
    expect(await suite.load({ system: "secret" })).to.equal(
      "System secret is loaded: 1 file, compiled now.\nASDF did not find it: hidden/secret.asd below the image's directory defines it.",
    );
    expect(await suite.server.evaluate("(secret)")).to.deep.equal(["=> 42"]);
    const registered = "(length asdf:*central-registry*)";
    const before = await suite.server.evaluate(registered);
    expect((await suite.load({ system: "secret/none" })).split("\n")[0]).to.equal(
      "System secret/none is not loaded. Nothing was compiled or loaded.",
    );
    expect(await suite.server.evaluate(registered)).to.deep.equal(before);
    expectFacts(
      await suite.load({ file: "several.asd" }),
      "several.asd defines no system of its own name. Load one of these by its name: several/one, several/two",
    );
  });

  it("compiles and loads a file, and keeps the compiled one where ASDF does", async () => {
    expectFacts(
      await suite.load({ file: "single.lisp" }),
      "single.lisp is loaded: 1 file, compiled now.\nThe compiler: 1 style warning.\n\nsingle.lisp:1:19: STYLE-WARNING in (DEFUN SINGLE): undefined function",
    );
    expect((await readdir(suite.systems.folder)).filter((name) => name.endsWith(".fasl"))).to.deep.equal([]);
    expect(await readdir(join(suite.systems.folder, "fasl"))).to.include("single.fasl");
  });

  it("installs what is missing with Quicklisp, if the image has that", async () => {
    await suite.server.evaluate(`(defpackage :ql-dist (:use) (:export #:find-system #:ensure-installed))
      (defun ql-dist:find-system (name) (find name '("remote" "remote-lib") :test #'string=))
      (defun ql-dist:ensure-installed (name) (push (list name) *installed*)
        (pushnew (merge-pathnames (format nil "dists/far/software/~a/" name)) asdf:*central-registry* :test #'equal))
      (defvar *installed* '())`);
    await suite.systems.write(
      "dists/far/software/remote/remote.asd",
      `(defsystem "remote" :depends-on ("remote-lib") :components ((:file "remote")))`,
    );
    await suite.systems.write("dists/far/software/remote/remote.lisp", "(defun remote () (remote-lib))\n");
    await suite.systems.write(
      "dists/far/software/remote-lib/remote-lib.asd",
      `(defsystem "remote-lib" :components ((:file "remote-lib")))`,
    );
    await suite.systems.write("dists/far/software/remote-lib/remote-lib.lisp", "(defun remote-lib () :far)\n");
    expectFacts(
      await suite.load({ system: "remote" }),
      "System remote is loaded: 2 files, compiled now.\nFiles: remote-lib 1, remote 1",
    );
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

describe("load-system with a file whose system has a namesake elsewhere", () => {
  const suite = loadingSuite();
  before(async () => {
    const { server, systems } = suite;
    // Compiled files of all folders share one: the names differ.
    for (const place of ["near", "far"]) {
      await systems.write(`${place}/price.asd`, `(defsystem "price" :components ((:file "price-${place}")))`);
      await systems.write(`${place}/price-${place}.lisp`, `(defun price () :${place})\n`);
    }
    await systems.write(
      "near/bill.asd",
      `(defsystem "bill" :depends-on ("price")
        :perform (test-op (o c) (format t "price: ~a~%" (symbol-call :cl-user :price))))`,
    );
    await server.evaluate(
      `(asdf:initialize-source-registry '(:source-registry (:directory "${systems.folder}/far/") :ignore-inherited-configuration))`,
    );
  });

  const answer = async (tool: string, args: Record<string, unknown>) => loadText(await suite.server.call(tool, args));

  it("makes ASDF find the systems of the file's folder from then on", async () => {
    expect(await answer("load-system", { file: "near/bill.asd" })).to.match(/^System bill is loaded: 1 file,/);
    const tested = await answer("run-tests", { name: "bill" });
    expect(tested).to.include("[stdout]\nprice: NEAR");
    expect(tested).not.to.include("Redefined");
    expect(await answer("load-system", { system: "price" })).to.match(/^System price was loaded before/);
    await suite.server.evaluate("(asdf:clear-system :price) (asdf:load-system :price)");
    expect(await suite.server.evaluate("(price)")).to.deep.equal(["=> :NEAR"]);
  });

  it("lets run-tests name what it has redefined, if ASDF finds the other one", async () => {
    await suite.server.evaluate(
      '(setf asdf:*central-registry* (last asdf:*central-registry*)) (asdf:load-asd (truename "near/bill.asd"))',
    );
    const tested = await answer("run-tests", { name: "bill" });
    expect(tested).to.include("[stdout]\nprice: FAR");
    expect(tested).to.include("\n\nRedefined by far/price-far.lisp: PRICE");
  });
});
