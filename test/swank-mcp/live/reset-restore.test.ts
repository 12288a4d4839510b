import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { attachedTo, liveEditor, liveFolder, liveServer, liveSwank } from "../../support/live-server.js";
import { blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { startRealSwank } from "../../support/real-swank.js";

/** Ends the image at once, without cleaning up. */
const END = '(sb-ext:run-program "/bin/sh" (list "-c" (format nil "kill -9 ~d" (sb-posix:getpid))))';

describe("reset-session with restore", function () {
  this.timeout(180_000);
  const server = liveServer({ each: true });
  const folder = liveFolder("restore", { each: true });

  // Servers can be shared, and keep what the first of two resets has ended.
  beforeEach(async () => void (await reset()));

  async function reset(args: Record<string, unknown> = {}): Promise<readonly string[]> {
    return blocks(await server.call("reset-session", args));
  }

  it("evaluates the definitions of a lost image again, in order, without what else their forms did", async () => {
    const file = join(folder, "effects");
    await server.evaluate(`(defpackage :app (:use :cl))
      (in-package :app)
      (defmacro twice (x) (list 'list x x))
      (progn (defun run () (twice *n*)) (with-open-file (out "${file}" :direction :output :if-exists :append :if-does-not-exist :create) (print 1 out)))
      (defvar *n* 3)
      (defstruct point x)
      (defmethod size ((p point)) (point-x p))
      (let ((count 0)) (defun tick () (incf count)) (tick))
      (defun run () (twice (1+ *n*)))
      (setf *n* 10)
      (defmacro define-thing (name) (list 'defun name '() :thing))
      (define-thing thing)`);
    await server.call("compile-code", { code: "(defun compiled () :compiled)", load: true });
    await server.evaluate(`(eval '(defun evaluated () 1))`);
    await writeFile(join(folder, "loaded.lisp"), "(in-package :cl-user) (defun loaded () 1)");
    await server.evaluate(`(load "${join(folder, "loaded.lisp")}")`);
    const killed = await server.evaluate(`(defun last-one () :last) ${END} (sleep 10)`);
    expect(killed[0]).to.include("IMAGE-LOST");
    const notice = (await server.evaluate("(fboundp 'cl-user::run)")).join("\n");
    expect(notice)
      .to.include("=> NIL")
      .and.include("reset-session with restore true evaluates your definitions again.");
    const [text = ""] = await reset({ restore: true });
    expect(text).to.match(
      /^Restored: \d+ forms with definitions, evaluated again in the image with pid \d+\. The package is APP\./,
    );
    expect(text).to.match(
      /\[not restored\]\n\(eval '\(defun evaluated \(\) 1\)\): its definitions cannot be told from what else it does\n/,
    );
    expect(text).to.include(`[not loaded again]\n${join(folder, "loaded.lisp")}`);
    expect(text).to.match(/\[values not restored\]\n(?:APP::)?\*N\*/);
    expect(
      await server.evaluate(
        `(list (run) (size (make-point :x 5)) (tick) (thing) (compiled) (last-one) (with-open-file (in "${file}") (file-length in)))`,
      ),
    ).to.deep.equal(["=> ((4 4) 5 1 :THING :COMPILED :LAST 3)"]);
    const list = (await server.call("list-definitions")).content.map((block) => JSON.stringify(block)).join();
    expect(list).to.include("APP::TICK").and.include("APP::TWICE");
  });

  it("says which definitions failed and why, and tries those again, in the same image", async () => {
    await server.evaluate("(defpackage :lib) (defun f () 1)");
    await server.evaluate("(eval '(defpackage :made (:use :cl)))");
    await server.evaluate("(defun g () :g)", { package: "MADE" });
    await server.evaluate(`${END} (sleep 10)`);
    const [first = ""] = await reset({ restore: true });
    expect(first).to.match(/^Restored: 2 forms/);
    expect(first).to.match(/\[not restored\]\n\(defun g \(\) :g\): There is no package named MADE\.\n/);
    expect(first).to.include("the failed forms are kept.");
    await server.evaluate("(defvar *here* 1) (defpackage :made (:use :cl))");
    const [second = ""] = await reset({ restore: true });
    expect(second)
      .to.match(/^Restored: \d+ forms/)
      .and.not.include("(defun g");
    expect(await server.evaluate("(list *here* (made::g))")).to.deep.equal(["=> (1 :G)"]);
  });

  it("keeps a form that fails again once, and the values that variables have got since", async () => {
    await server.evaluate("(defvar *old* 1)");
    const needed = join(folder, "needed");
    await writeFile(needed, "");
    await server.evaluate(`(defvar *fails* (if (probe-file "${needed}") 1 (error "Not yet.")))`);
    await rm(needed);
    await server.evaluate("(defparameter *both* :old) (defun uses () (later))");
    await server.evaluate(`${END} (sleep 10)`);
    await reset({ restore: true });
    await server.evaluate("(setf *old* 2) (defparameter *new* 1) (setf *new* 2) (defconstant +list+ (list 1 2))");
    for (const round of [1, 2]) {
      const [text = ""] = await reset({ restore: true });
      const failed = /\[not restored\]\n([^[]*?)\n\n/.exec(text)?.[1]?.split("\n") ?? [];
      expect(failed, `round ${round}`).to.have.length(1);
      expect(failed[0]).to.include("*fails*").and.include("Not yet.");
    }
    await writeFile(needed, "");
    expect((await reset({ restore: true }))[0]).to.not.include("[not restored]");
    expect(await server.evaluate("(list *old* *new* *fails* *both* +list+)")).to.deep.equal(["=> (2 2 1 :OLD (1 2))"]);
  });

  it("replaces an image that runs, and evaluates its definitions again in the next one", async () => {
    await server.evaluate("(defvar *x* 1) (defun f () *x*) (setf *x* 2)");
    const [text = ""] = await reset({ restore: true });
    expect(text).to.match(/^Session reset\. A fresh image \(pid \d+\) has replaced the old one\.\n\n/);
    expect(text).to.include("Restored: 2 forms");
    expect(await server.evaluate("(f)")).to.deep.equal(["=> 1"]);
    expect(await reset({ restore: true })).to.have.length(1);
    expect(await server.evaluate("(f)")).to.deep.equal(["=> 1"]);
  });

  it("is possible after a reset, until the next one, and says when nothing is kept", async () => {
    expect((await reset({ restore: true })).join("\n")).to.include("Nothing was restored");
    await server.evaluate("(defun f () :f)");
    const [text = "", hint] = await reset();
    expect(text).to.match(/\[only in the old image\]\nfunction COMMON-LISP-USER::F$/);
    expect(hint).to.equal("reset-session with restore true evaluates these definitions again, until the next reset.");
    expect(await server.evaluate("(fboundp 'f)")).to.deep.equal(["=> NIL"]);
    await reset({ restore: true });
    expect(await server.evaluate("(f)")).to.deep.equal(["=> :F"]);
    await reset();
    await reset();
    expect((await reset({ restore: true })).join("\n")).to.include("Nothing was restored");
  });

  it("names the loaded files of the image that it replaces, but no definition that was saved", async () => {
    await writeFile(join(folder, "kept.lisp"), "(in-package :cl-user)\n\n(defun in-file () 1)\n");
    await server.evaluate(`(load "${join(folder, "kept.lisp")}") (defun in-file () 2) (defun only-here () 3)`);
    const saved = await server.call("save-changes", { files: [join(folder, "kept.lisp")] });
    const [text = ""] = await reset();
    expect(text).to.include(`[loaded in the old image]\n${join(folder, "kept.lisp")}`);
    expect(text).to.include("function COMMON-LISP-USER::ONLY-HERE");
    if (saved.isError !== true) expect(text).to.not.include("IN-FILE");
  });

  it("does not name as lost what a loaded file has, written there by hand, or what a file has redefined since", async () => {
    const file = join(folder, "by-hand.lisp");
    const [defpackage, defun] = ["(defpackage :by-hand (:use :cl))", "(defun here () 2)"];
    await writeFile(file, "(defpackage :by-hand)\n(in-package :by-hand)\n(cl:defun late () 1)\n");
    const load = () => server.evaluate(`(load ${JSON.stringify(file)})`);
    await load();
    await server.evaluate(`${defpackage} (in-package :by-hand) ${defun} (defun late () 2) (defun lost () 1)`);
    await writeFile(file, `${defpackage}\n(in-package :by-hand)\n(defun late () 3)\n${defun}\n`);
    const [before = ""] = await reset();
    expect(before).to.match(/\[only in the old image\]\nfunction BY-HAND::LATE\nfunction BY-HAND::LOST$/);
    await load();
    await server.evaluate("(in-package :by-hand) (defun late () 4)");
    await load();
    expect((await reset()).join()).to.not.include("only in the old image");
  });

  it("is refused together with stops-only", async () => {
    const answer = await server.call("reset-session", { restore: true, "stops-only": true });
    expect(refusalType(answer)).to.equal("INVALID_ARGUMENTS");
  });
});

describe("reset-session with stops-only", function () {
  this.timeout(120_000);
  const image = liveSwank();
  const editor = liveEditor(image);
  const server = liveServer({ each: true, args: attachedTo(image) });

  it("ends the stops of the agent's evaluations and threads, and changes nothing else", async () => {
    const theirs = editor.client.evaluate('(error "theirs")');
    await theirs.next();
    await server.evaluate("(defun kept () :kept) (in-package :keyword)");
    await server.evaluate('(cl:error "one")');
    await server.evaluate('(cl:handler-bind () (cl:error "two"))');
    const running = await server.call("evaluate-lisp", { code: "(cl:progn (cl:sleep 3) 1)", background: true });
    await server.evaluate('(cl:progn (sb-thread:make-thread (cl:lambda () (cl:error "in a thread"))) 1)');
    let status = (await server.call("lisp-status")).structuredContent;
    while (!JSON.stringify(status).includes("in a thread"))
      status = (await server.call("lisp-status")).structuredContent;
    const answer = await server.call("reset-session", { "stops-only": true });
    expect(blocks(answer)[0]).to.equal("3 stops were ended. Nothing else was changed.");
    expect((await server.call("lisp-status")).structuredContent)
      .to.include({ package: "KEYWORD" })
      .and.have.nested.property("stopped")
      .that.has.length(1);
    expect(blocks(running)[0]).to.include("has not ended");
    expect(await server.evaluate("(cl-user::kept)")).to.deep.include("=> :KEPT");
    expect(blocks(await server.call("reset-session", { "stops-only": true }))[0]).to.include("no stops to end");
    await theirs.abort();
  });
});

describe("reset-session with restore on an attached image", function () {
  this.timeout(120_000);

  it("evaluates the definitions again in the image that has come in the place of a lost one", async () => {
    const first = await startRealSwank();
    const server = await McpStdio.start(["--attach", String(first.port)]);
    await server.evaluate("(defpackage :app (:use :cl)) (in-package :app) (defun f () :again)");
    await first.stop();
    const second = await startRealSwank(undefined, first.port);
    const [text = ""] = blocks(await server.call("reset-session", { restore: true }));
    expect(text).to.match(/^Restored: 2 forms/);
    expect(await server.evaluate("(f)")).to.deep.equal(["=> :AGAIN"]);
    const [reset = ""] = blocks(await server.call("reset-session", { restore: true }));
    expect(reset)
      .to.match(/^Session reset\. The package is COMMON-LISP-USER\./)
      .and.include("Restored: 2 forms");
    expect(await server.evaluate("(app::f)")).to.deep.equal(["=> :AGAIN"]);
    await server.end();
    await second.stop();
  });
});
