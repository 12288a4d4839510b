import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { COMPILING, loadingSuite, loadText } from "../../support/loadable-systems.js";
import { blocks } from "../../support/mcp-results.js";

describe("load-system that does not end", () => {
  const suite = loadingSuite();

  async function restart(name: string): Promise<string> {
    return loadText(await suite.server.call("debugger_invoke_restart", { restart: name }));
  }

  it("stops in a form that fails, with its line, and loads the rest when the corrected file is compiled again", async () => {
    const stopped = await suite.server.call("load-system", { system: "failing" });
    expectFacts(
      loadText(stopped),
      "System failing is not loaded completely: 1 of 3 files.\nNot loaded to its end: config.lisp. Its forms before the failed one have run.\nNot loaded: config.lisp, after.lisp",
      "[ERROR] SIMPLE-ERROR\nThere is no configuration.",
      "1. TRY-RECOMPILING - …4. RETRY - Retry ASDF operation. (also 6)…8. ABORT - Return to top level",
    );
    expect(blocks(stopped).join()).to.include("Source lines of frames: 0 config.lisp:2");
    expect(blocks(stopped).join()).not.to.match(/CALL-AS-ACTION|LOAD-CODE/);
    await suite.systems.write("config.lisp", "(defvar *config-read* t)\n");
    expectFacts(await restart("TRY-RECOMPILING"), "System failing is loaded: 3 files, compiled now.");
  });

  it("reports the errors of a file at which it stops, and only those of the last compilation when it is resumed", async () => {
    const stopped = await suite.server.call("load-system", { system: "broken" });
    expectFacts(
      loadText(stopped),
      "System broken is not loaded completely: 2 of 4 files.\nFiles: cart 1, broken 1 of 3\nNot compiled to its end: wrong.lisp\nNot loaded: wrong.lisp, after.lisp\nThe compiler: 1 error, 1 style warning.",
      "wrong.lisp:4:3: ERROR in (DEFUN WRONG): …cart.lisp:5:1: STYLE-WARNING…[ERROR] UIOP/LISP-BUILD:COMPILE-FILE-ERROR\n",
      "1. LOAD-ANYWAY - Compile wrong.lisp again, and load it despite its warnings and errors.",
    );
    expect(stopped.isError).to.equal(true);
    await suite.systems.write("wrong.lisp", "(defun wrong (unused) 1)\n");
    expectFacts(
      await restart("RETRY"),
      "System broken is loaded: 4 files, compiled now.\nFiles: cart 1, broken 3\nThe compiler: 2 style warnings.",
      "Redefined by after.lisp: AFTER",
      "Invoked restart 2, the innermost RETRY. Others of this name: 4, 6, 9.",
    );
  });

  it("shows errors and warnings, and only counts notes about optimization beside them", async () => {
    const speedy = Array.from(
      { length: 5 },
      (_, n) => `(defun speedy-${n} (x) (declare (optimize speed)) (* x ${n + 2}))`,
    );
    const { server, systems } = suite;
    await systems.write("speedy.asd", `(defsystem "speedy" :serial t :components ((:file "fast") (:file "bad")))`);
    await systems.write("fast.lisp", speedy.join("\n"));
    await systems.write("bad.lisp", "(defun bad ()\n  (if))\n");
    const failed = await suite.load({ system: "speedy" });
    expect(failed).to.match(/\nThe compiler: 1 error, \d+ notes\.\n\nbad\.lisp:2:3: ERROR in \(DEFUN BAD\)/);
    expect(failed).to.match(
      /\n\nNot shown: \d+ notes about optimization \(compile-code with a file shows its notes\)\n\n/,
    );
    expect(failed).not.to.include("NOTE");
    await systems.write("bad.lisp", "(defun bad () 1)\n");
    await restart("RETRY");
    expect(await suite.load({ system: "speedy", force: true })).to.match(
      /\nThe compiler: \d+ notes\.\n\nfast\.lisp:1:\d+: NOTE/,
    );
    expect(await server.evaluate("(bad)")).to.deep.equal(["=> 1"]);
  });

  it("names the parenthesis that is probably missing, and says what is loaded after an abort", async () => {
    expectFacts(
      await suite.load({ system: "unread" }),
      "System unread is not loaded: 0 of 1 file.\nNot compiled to its end: open.lisp\nNot loaded: open.lisp\nThe compiler: 1 error.\n\nopen.lisp:2:1: READ-ERROR: the list that begins here never ends",
      "\n    line 3: (list 1 2)\n    By its indentation, it may mean (not applied):\n    line 3: -",
      "\n\n[ERROR] UIOP/LISP-BUILD:COMPILE-FILE-ERROR",
    );
    expectFacts(
      await restart("ABORT"),
      "System unread is not loaded: 0 of 1 file.\nNot compiled to its end: open.lisp\nNot loaded: open.lisp\nThe compiler: 1 error.\n\nopen.lisp:2:1: READ-ERROR: the list that begins here never ends",
      "; Evaluation aborted\n\nThread N/1 ended.",
    );
  });

  it("sends the names and numbers of 100 files as progress", async function () {
    this.timeout(COMPILING);
    // Progress is sent after half a second.
    await suite.systems.writeWide(
      100,
      "(eval-when (:compile-toplevel) (loop until (boundp 'cl-user::*seen*) do (sleep 0.01)))\n",
    );
    const call = suite.server.startCall("load-system", { file: "wide/wide.asd", timeout: 500 });
    expect((await suite.server.progressOf(call)).params?.["message"]).to.match(
      /Compiling wide\/wide-\d+\.lisp \(file \d+ of 100\)\n/,
    );
    await suite.server.evaluate("(defvar *seen* t)");
    expect(loadText(await call.result)).to.equal("System wide is loaded: 100 files, compiled now.");
    expect(await suite.load({ file: "wide/wide.asd" })).to.match(
      /^System wide was loaded before, and its code is up to date/,
    );
  });

  it("stops when its time is up, and continues", async () => {
    await suite.systems.write("slow.asd", `(defsystem "slow" :components ((:file "wait")))`);
    await suite.systems.write(
      "wait.lisp",
      "(defvar cl-user::*go-on* nil)\n(loop until cl-user::*go-on* do (sleep 0.01))\n",
    );
    expect(await suite.load({ system: "slow", timeout: 1 })).to.match(
      /^System slow is not loaded: 0 of 1 file\.\nNot loaded to its end: wait\.lisp\. Its forms[\s\S]*\[TIMEOUT\]/,
    );
    await suite.server.evaluate("(setf *go-on* t)");
    expect(loadText(await suite.server.call("debugger_continue", {}))).to.equal(
      "System slow is loaded: 1 file, compiled now.",
    );
  });

  it("ends at a failure if errors unwind, and says what is loaded", async () => {
    const unwinding = await suite.systems.start(["--on-error", "unwind"]);
    await suite.systems.write(
      "fails.asd",
      `(defsystem "fails" :serial t :components ((:file "before") (:file "fails") (:file "after")))`,
    );
    await suite.systems.write("fails.lisp", '(error "It fails.")\n');
    const answer = loadText(await unwinding.call("load-system", { system: "fails" }));
    expect(answer).to.match(
      /^System fails is not loaded completely: 1 of 3 files\.\nNot loaded to its end: fails\.lisp[\s\S]*\n\n\[ERROR\] SIMPLE-ERROR\nIt fails\./,
    );
    expect(answer).not.to.include("Stopped");
    await unwinding.end();
  });
});
