import { expect } from "chai";
import { COMPILING, LoadableSystems, loadText } from "../../support/loadable-systems.js";
import { blocks } from "../../support/mcp-results.js";
import type { McpStdio } from "../../support/mcp-stdio.js";
import { Snapshots } from "../../support/snapshots.js";

describe("load-system that does not end", () => {
  const snapshots = new Snapshots(import.meta.url);
  let systems: LoadableSystems;
  let server: McpStdio;

  before(async () => {
    systems = await LoadableSystems.create();
    server = await systems.start();
  });

  after(async () => {
    await server.end();
    await systems.remove();
  });

  async function load(args: Record<string, unknown>): Promise<string> {
    return loadText(await server.call("load-system", args));
  }

  async function restart(name: string): Promise<string> {
    return loadText(await server.call("debugger_invoke_restart", { restart: name }));
  }

  it("stops in a form that fails, with its line, and loads the rest when the corrected file is compiled again", async () => {
    const stopped = await server.call("load-system", { system: "failing" });
    snapshots.match("a form that fails", loadText(stopped));
    expect(blocks(stopped).join()).to.include("Source lines of frames: 0 config.lisp:2");
    expect(blocks(stopped).join()).not.to.match(/CALL-AS-ACTION|LOAD-CODE/);
    await systems.write("config.lisp", "(defvar *config-read* t)\n");
    snapshots.match("the form, corrected", await restart("TRY-RECOMPILING"));
  });

  it("reports the errors of a file at which it stops, and only those of the last compilation when it is resumed", async () => {
    const stopped = await server.call("load-system", { system: "broken" });
    snapshots.match("a file that does not compile", loadText(stopped));
    expect(stopped.isError).to.equal(true);
    await systems.write("wrong.lisp", "(defun wrong (unused) 1)\n");
    snapshots.match("the file, corrected", await restart("RETRY"));
  });

  it("names the parenthesis that is probably missing, and says what is loaded after an abort", async () => {
    snapshots.match("a file that cannot be read", await load({ system: "unread" }));
    snapshots.match("a loading that is aborted", await restart("ABORT"));
  });

  it("sends the names and numbers of 100 files as progress", async function () {
    this.timeout(COMPILING);
    const names = Array.from({ length: 100 }, (_, index) => `wide-${index + 1}`);
    for (const name of names) await systems.write(`wide/${name}.lisp`, `(defun ${name} () 1)\n`);
    // Progress is sent after half a second.
    await systems.write(
      "wide/wide-100.lisp",
      "(eval-when (:compile-toplevel) (loop until (boundp 'cl-user::*seen*) do (sleep 0.01)))\n",
    );
    const components = names.map((name) => `(:file "${name}")`).join(" ");
    await systems.write("wide/wide.asd", `(defsystem "wide" :serial t :components (${components}))`);
    const call = server.startCall("load-system", { file: "wide/wide.asd", timeout: 500 });
    expect((await server.progressOf(call)).params?.["message"]).to.match(
      /Compiling wide\/wide-\d+\.lisp \(file \d+ of 100\)\n/,
    );
    await server.evaluate("(defvar *seen* t)");
    expect(loadText(await call.result)).to.equal("System wide is loaded: 100 files, compiled now.");
    expect(await load({ file: "wide/wide.asd" })).to.match(/^System wide was loaded before, and is up to date/);
  });

  it("unwinds when the call is cancelled, and the next answer says what is loaded", async () => {
    await systems.write(
      "endless.asd",
      `(defsystem "endless" :serial t :components ((:file "before") (:file "loop") (:file "after")))`,
    );
    await systems.write(
      "loop.lisp",
      "(eval-when (:compile-toplevel) (defvar cl-user::*loops* t) (loop (sleep 0.01)))\n",
    );
    const call = server.startCall("load-system", { system: "endless" });
    await server.evaluate("(loop until (boundp '*loops*) do (sleep 0.01))");
    server.cancel(call.id);
    let notice: string | undefined;
    while (notice === undefined) [, notice] = await server.evaluate("1");
    expect(notice).to.equal(
      "load-system was cancelled.\nSystem endless is not loaded completely: 1 of 3 files.\nNot compiled to its end: loop.lisp\nNot loaded: loop.lisp, after.lisp",
    );
  });

  it("stops when its time is up, and continues", async () => {
    await systems.write("slow.asd", `(defsystem "slow" :components ((:file "wait")))`);
    await systems.write("wait.lisp", "(defvar cl-user::*go-on* nil)\n(loop until cl-user::*go-on* do (sleep 0.01))\n");
    expect(await load({ system: "slow", timeout: 1 })).to.match(
      /^System slow is not loaded: 0 of 1 file\.\nNot loaded to its end: wait\.lisp\. Its forms[\s\S]*\[TIMEOUT\]/,
    );
    await server.evaluate("(setf *go-on* t)");
    expect(loadText(await server.call("debugger_continue", {}))).to.equal(
      "System slow is loaded: 1 file, compiled now.",
    );
  });

  it("ends at a failure if errors unwind, and says what is loaded", async () => {
    const unwinding = await systems.start(["--on-error", "unwind"]);
    await systems.write(
      "fails.asd",
      `(defsystem "fails" :serial t :components ((:file "before") (:file "fails") (:file "after")))`,
    );
    await systems.write("fails.lisp", '(error "It fails.")\n');
    const answer = loadText(await unwinding.call("load-system", { system: "fails" }));
    expect(answer).to.match(
      /^System fails is not loaded completely: 1 of 3 files\.\nNot loaded to its end: fails\.lisp[\s\S]*\n\n\[ERROR\] SIMPLE-ERROR\nIt fails\./,
    );
    expect(answer).not.to.include("Stopped");
    await unwinding.end();
  });

  snapshots.testCompleteness();
});
