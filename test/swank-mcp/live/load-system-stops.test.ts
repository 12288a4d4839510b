import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { COMPILING, LoadableSystems, loadingSuite, loadText } from "../../support/loadable-systems.js";
import { blocks } from "../../support/mcp-results.js";
import type { McpStdio } from "../../support/mcp-stdio.js";
import { encapsulated } from "../../support/tested-systems.js";

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

/** Form of a file that is compiled until `*go-on*` is bound. */
const WAIT = `(eval-when (:compile-toplevel)
  (defvar cl-user::*waits* t)
  (loop until (boundp 'cl-user::*go-on*) do (sleep 0.01)))
`;

const UNDEFINE = '(loop for n from 1 to 100 do (fmakunbound (intern (format nil "WIDE-~d" n))))';

/** Code whose value is true when all 100 files are loaded whose functions give their numbers. */
const ALL_LOADED = '(loop for n from 1 to 100 always (eql n (funcall (intern (format nil "WIDE-~d" n)))))';

describe("load-system that is cancelled", function () {
  this.timeout(COMPILING);
  let systems: LoadableSystems;
  let server: McpStdio;

  beforeEach(async () => {
    systems = await LoadableSystems.create();
    server = await systems.start();
    await systems.writeWide(60, `${WAIT}(defun wide-60 () 60)\n`);
    await server.evaluate("(defvar *threads* (sb-thread:list-all-threads))");
  });

  afterEach(async () => {
    await server.end();
    await systems.remove();
  });

  /** What the answer of a later call says about the cancelled one. */
  async function notice(): Promise<string> {
    for (;;) {
      const [, text] = await server.evaluate("1");
      if (text !== undefined) return text;
    }
  }

  /** Evaluates a loop to its end. The failure has the whole answer, which says whether the image was lost or the loop timed out. */
  async function waitIn(loop: string): Promise<void> {
    const [value, ...notices] = await server.evaluate(loop, { timeout: 500 });
    expect(value, notices.join("\n")).to.equal("=> NIL");
  }

  /** Waits until no thread is left that has begun since the start, except that of this question. */
  async function quiet(): Promise<void> {
    await waitIn(
      "(loop while (remove sb-thread:*current-thread* (set-difference (sb-thread:list-all-threads) *threads*)) do (sleep 0.01))",
    );
  }

  it("unwinds in the middle of 100 files, says what is loaded, leaves nothing behind, and finishes in the next call", async () => {
    const call = server.startCall("load-system", { file: "wide/wide.asd", timeout: 500 });
    await waitIn("(loop until (boundp '*waits*) do (sleep 0.01))");
    server.cancel(call.id);
    expect(await notice()).to.match(
      /^load-system was cancelled\.\nSystem wide is not loaded completely: 59 of 100 files\.\nNot compiled to its end: wide\/wide-60\.lisp\nNot loaded: wide\/wide-60\.lisp, (?:wide\/wide-\d+\.lisp, )+\.\.\. 31 more files$/,
    );
    await quiet();
    const [left = ""] = await server.evaluate(`(list (fboundp 'wide-59) (fboundp 'wide-60)
      ${encapsulated("asdf:perform asdf/plan:perform-plan")} (funcall (compile nil '(lambda () :compiled))))`);
    expect(left).to.match(/^=> \(#<FUNCTION WIDE-59> NIL NIL :COMPILED\)$/);
    await server.evaluate("(defvar *go-on* t)");
    expect(blocks(await server.call("load-system", { file: "wide/wide.asd", timeout: 500 }))).to.deep.equal([
      "System wide is loaded: 41 files, compiled now.",
    ]);
    expect(await server.evaluate(ALL_LOADED)).to.deep.equal(["=> T"]);
  });

  it("can be cancelled at any time, and always finishes in the end", async () => {
    await server.evaluate("(defvar *go-on* t)");
    const files = { file: "wide/wide.asd", timeout: 500 };
    for (const count of [1, 20, 45, 70, 99]) {
      await waitIn(UNDEFINE);
      const call = server.startCall("load-system", { ...files, force: true });
      await waitIn(`(loop until (fboundp 'wide-${count}) do (sleep 0.001))`);
      server.cancel(call.id);
      await quiet();
    }
    await waitIn(UNDEFINE);
    const result = await server.call("load-system", { ...files, force: true });
    expect(blocks(result)[0]).to.match(/^System wide is loaded: 100 files, compiled now\.$/);
    expect(await server.evaluate(ALL_LOADED)).to.deep.equal(["=> T"]);
  });
});
