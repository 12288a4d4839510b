import { expect } from "chai";
import { BesideEmacs } from "../support/beside-emacs.js";
import { COMPILING, LoadableSystems } from "../support/loadable-systems.js";
import { blocks } from "../support/mcp-results.js";
import type { McpStdio } from "../support/mcp-stdio.js";
import { NOTHING_WATCHES, SHOP, SHOP_GOES_ON } from "../support/watched-functions.js";
import { eachUser, oneUser } from "./user.js";

/** Lisp code: `(note)` records the variables that a REPL and new threads see, `(changes)` names those that have changed since. */
const NOTE_CHANGES = `
(progn
  (defvar *variables*
    (append '(*package* *readtable* *default-pathname-defaults* *debugger-hook* *break-on-signals* *macroexpand-hook* *features* *modules*
              *standard-input* *standard-output* *error-output* *trace-output* *terminal-io* *query-io* *debug-io*
              *read-base* *read-default-float-format* *read-eval* *read-suppress* *random-state*
              sb-ext:*invoke-debugger-hook* sb-ext:*stepper-hook* sb-ext:*evaluator-mode* sb-ext:*muffled-warnings*
              sb-ext:*suppress-print-errors* sb-ext:*inline-expansion-limit*)
            (remove-if-not (lambda (symbol) (and (boundp symbol) (eql 0 (search "*PRINT-" (symbol-name symbol)))))
                           (let ((found '())) (do-external-symbols (symbol :cl found) (push symbol found))))
            (list (find-symbol "*ISTATE*" :swank) (find-symbol "*EMACS-CONNECTION*" :swank)
                  (find-symbol "*SLDB-CONDITION-PRINTER*" :swank) (find-symbol "*SLDB-INITIAL-FRAMES*" :swank)
                  (find-symbol "*GLOBAL-STDIO-CONNECTION*" :swank-repl))))
  (defun facts ()
    (list* (cons 'policy (with-output-to-string (*standard-output*) (sb-ext:describe-compiler-policy)))
           (cons 'restricted (sb-ext:restrict-compiler-policy))
           (cons 'directory (sb-unix:posix-getcwd))
           (cons 'macro-character (get-macro-character #\\?))
           (cons 'case (readtable-case *readtable*))
           (cons 'default-connection (swank::default-connection))
           (append (loop for name in *variables* collect (cons name (symbol-value name)))
                   (loop for name in *variables* collect (cons (list name 'globally) (sb-ext:symbol-global-value name))))))
  (defvar *noted*)
  (defun note () (setf *noted* (facts)) 'noted)
  (defun changes ()
    (loop for (name . now) in (facts)
          unless (equal now (cdr (assoc name *noted* :test #'equal))) collect name)))`;

/** Evaluations that could change the user's REPL or settings. */
const EVALUATIONS = [
  '(defpackage "AGENT" (:use "CL")) (in-package "AGENT")',
  "(values 1 2 3)",
  "(setf *print-base* 2 *print-radix* t *print-case* :downcase *print-length* 1 *print-level* 1 *print-pretty* nil)",
  "(setf *print-escape* nil *print-circle* t *print-right-margin* 20 *print-lines* 2 *print-array* nil *print-gensym* nil)",
  "(setf *read-base* 8 *read-default-float-format* 'double-float)",
  "(set-macro-character #\\? (lambda (stream character) stream character :asked))",
  "(setf (readtable-case *readtable*) :preserve)",
  "(SETF CL:*DEBUGGER-HOOK* CL:NIL)",
  "(SETF (READTABLE-CASE *READTABLE*) :UPCASE)",
  "(defun recur (n) (if (zerop n) (break) (1+ (recur (1- n)))))",
  '(defclass thing () ((part :initform 1))) (defmethod print-object ((thing thing) stream) (error "unprintable"))',
  "(make-instance 'thing)",
  '(handler-case (error "handled") (error () :handled))',
  '(warn "agent\'s warning")',
  "(compile nil '(lambda () (undefined-function-of-agent)))",
  "(trace recur) (untrace)",
  "(read-line)",
  "(car 1)",
  "(nowhere:symbol)",
  "(unbalanced",
  "(let ((x 5)) (recur x))",
];

/** Evaluates, stops, steps and inspects; returns all answers. */
async function beBusy(agent: McpStdio): Promise<string> {
  const told: string[] = [];
  const call = async (name: string, args: object = {}) => told.push(...blocks(await agent.call(name, args)));
  for (const code of EVALUATIONS) await call("evaluate-lisp", { code });
  await call("debugger_frames");
  await call("debugger_frame_locals", { frame: 1 });
  await call("debugger_eval_in_frame", { frame: 1, code: "(list *print-base* (car 2))" });
  await call("debugger_continue");
  await call("evaluate-lisp", { code: "(loop)", timeout: 0.2 });
  await call("debugger_invoke_restart", { restart: "ABORT" });
  await call("breakpoint_set", { function: "recur" });
  await call("evaluate-lisp", { code: "(recur 2)" });
  for (const mode of ["into", "over", "out"]) await call("debugger_step", { mode });
  for (const name of ["breakpoint_list", "list-definitions", "describe-last-error", "get-backtrace"]) await call(name);
  await call("describe-symbol", { name: "recur", package: "AGENT" });
  return told.join("\n");
}

/** What the user has compiled, with macros that print, read, fail and stop. */
const USERS_CODE = `(progn
  (defun users-sum (a b) (+ a b))
  (defmacro loud (form)
    (dolist (stream (list *standard-output* *error-output* *trace-output* *query-io* *debug-io* *terminal-io*))
      (print :expanding stream)
      (finish-output stream))
    form)
  (defmacro asking (form) (list form (read-line *standard-input* nil) (read-line *query-io* nil)))
  (defmacro failing (form) (declare (ignore form)) (error "no expansion"))
  (defmacro stopping (form) (break) form))`;

/** Questions about code, each with a part of its answer. */
const QUESTIONS: readonly (readonly [tool: string, args: object, answer: string])[] = [
  ["show-source", { name: "users-sum" }, "(defun users-sum (a b)"],
  ["show-source", { name: "print-object" }, "(METHOD PRINT-OBJECT "],
  ["show-source", { name: "never-interned" }, "NEVER-INTERNED"],
  ["show-source", { file: "no-such-file.lisp" }, "no-such-file.lisp"],
  ["apropos-search", { pattern: "users-sum" }, "USERS-SUM"],
  ["apropos-search", { pattern: ".", regexp: true }, "names"],
  ["search-source", { pattern: "defun swank-" }, "Looked at "],
  ["search-source", { pattern: "never", system: "no-such-system" }, "no-such-system"],
  ["macroexpand-form", { code: "(loud (+ 1 never-interned))", mode: "all" }, "(+ 1 never-interned)"],
  ["list-changes", {}, "LOUD"],
  ["find-references", { name: "users-sum", mode: "callers" }, "USERS-SUM"],
  ["class-info", { name: "print-object" }, "PRINT-OBJECT"],
  ["compile-code", { code: "(loud (+ 1 2))" }, "The code compiles"],
  ["compile-code", { code: "(failing 1)" }, "no expansion"],
  ["save-changes", {}, "Nothing to save"],
  ["run-tests", { name: "no-such-tests" }, "no-such-tests"],
  ["load-system", { system: "no-such-system" }, "no-such-system"],
  ["load-changes", {}, "Nothing to load"],
  ["macroexpand-form", { code: "(asking 1)" }, "(1 nil nil)"],
  ["macroexpand-form", { code: "(failing 1)" }, "no expansion"],
  ["macroexpand-form", { code: "(stopping 1)" }, "break [SIMPLE-CONDITION]"],
  ["macroexpand-form", { code: "(unbalanced" }, "The code ends in the middle"],
];

/** Lisp code: the names of the threads that have begun since `*threads*` was set. */
const NEW_THREADS = "(mapcar #'sb-thread:thread-name (set-difference (sb-thread:list-all-threads) *threads*))";

describe("agent's work beside the user's", function () {
  this.timeout(300_000);
  const user = oneUser(() => BesideEmacs.startedByEmacs(["slime-fancy"]));
  let agent: McpStdio;

  before(async () => {
    agent = await user().agent();
    await user().emacs.evaluateInRepl(NOTE_CHANGES);
  });

  it("leaves the user's REPL, settings and inspector unchanged, even at stops", async () => {
    const { emacs } = user();
    // The first session loads the runtime systems that load on demand.
    await agent.evaluate("1");
    await emacs.eval('(slime-inspect "(list :first :second)")');
    await emacs.until('(get-buffer "*slime-inspector*")', "an inspector");
    for (const form of ["(note)", "(values 2 3)", ":third"]) await emacs.evaluateInRepl(form);
    const told = await beBusy(agent);
    for (const reason of ["[ERROR]", "[BREAK]", "[TIMEOUT]", "[BREAKPOINT]", "[STEP]"]) expect(told).to.include(reason);
    expect(await emacs.evaluateInRepl("(list * ** *** / // /// + ++ +++)")).to.equal(
      "(:THIRD 2 NOTED (:THIRD) (2 3) (NOTED) :THIRD (VALUES 2 3) (NOTE))",
    );
    expect(await emacs.evaluateInRepl("(changes)")).to.equal("NIL");
    await agent.call("reset-session");
    expect(await emacs.evaluateInRepl("(changes)")).to.equal("NIL");
    expect(await emacs.evaluateInRepl("(list 10 'a '(1 (2)) 0.5 \"text\")")).to.equal('(10 A (1 (2)) 0.5 "text")');
    await emacs.eval('(with-current-buffer "*slime-inspector*" (slime-inspector-reinspect))');
    expect(await emacs.eval("(slime-eval '(swank:inspector-nth-part 1))")).to.equal(":first");
    expect(blocks(await agent.call("lisp-status"))[0]).to.include('"stopped":[]');
  });

  it("keeps the user's output in the REPL, and returns the agent's simultaneous output to the agent", async () => {
    const { emacs } = user();
    const print = (who: string) =>
      `(loop repeat 40 do (format t "${who}~%") (format *error-output* "${who}~%") (finish-output) (sleep 0.01))`;
    await emacs.typeInRepl(print("the user"));
    const report = (await agent.evaluate(`${print("the agent")} (warn "the agent's warning") (describe 'car)`)).join(
      "\n",
    );
    await emacs.prompt();
    expect(report).to.include("the agent").and.not.include("the user");
    expect(await emacs.replText())
      .to.include("the user")
      .and.not.include("the agent");
  });

  it("leaves nothing behind when it asks about the user's code, even if a macro prints, reads, fails or stops", async () => {
    const { emacs } = user();
    await emacs.compile(USERS_CODE);
    await emacs.evaluateInRepl("(defvar *threads* (sb-thread:list-all-threads))");
    // load-system loads it; SLIME's newest version does not.
    await emacs.evaluateInRepl('(progn (require "asdf") nil)');
    const asking = await user().agent();
    await asking.evaluate("1");
    const shown = async () => [
      await emacs.replText(),
      await emacs.eval(
        "(mapcar 'buffer-name (seq-remove (lambda (b) (eq ?\\s (aref (buffer-name b) 0))) (buffer-list)))",
      ),
      await emacs.debuggerBuffers(),
    ];
    await emacs.evaluateInRepl("(note)");
    const before = await shown();
    for (const [tool, args, answer] of QUESTIONS)
      expect(blocks(await asking.call(tool, args)).join("\n"), `${tool} ${JSON.stringify(args)}`).to.include(answer);
    expect(await shown()).to.deep.equal(before);
    expect(await emacs.evaluateInRepl('(list * (changes) (find-symbol "NEVER-INTERNED"))')).to.equal("(NOTED NIL NIL)");
    expect(blocks(await asking.call("lisp-status"))[0]).to.include('"stopped":[]');
    await asking.end();
    while ((await emacs.evaluateInRepl(NEW_THREADS)) !== "NIL");
    expect(await emacs.evaluateInRepl("(changes)")).to.equal("NIL");
  });
});

const WATCHES = [
  ["trace-calls", { functions: ["shop::work"], limit: 100_000 }],
  ["profile-code", { mode: "calls", package: "shop" }],
  ["profile-code", {}],
] as const;

describe("watching a program beside Emacs", function () {
  this.timeout(300_000);
  const user = eachUser();
  it("shows threads of the program, keeps Emacs usable, and ends when the server is killed", async () => {
    const { emacs } = user();
    await emacs.evaluateInRepl(`(dolist (text (list ${texts()})) (eval (read-from-string text)))`);
    const watcher = await user().agent("--approval", "off");
    await watcher.evaluate("1");
    for (const [tool, what] of WATCHES) {
      const agent = await user().agent("--approval", "off");
      const found = blocks(await agent.call(tool, { ...what, seconds: 1 })).join("\n");
      expect(found).to.match(tool === "trace-calls" ? /^Thread \d+ "?server-0"?:$/m : / real, /);
      agent.startCall(tool, { ...what, seconds: 3600 }).result.catch(() => undefined);
      while ((await watcher.evaluate(NOTHING_WATCHES))[0] === "=> T");
      expect(await emacs.evaluateInRepl("(shop::total (list 1 2))")).to.equal("30");
      agent.process.kill("SIGKILL");
      while ((await watcher.evaluate(NOTHING_WATCHES))[0] !== "=> T");
      expect(await watcher.evaluate(SHOP_GOES_ON)).to.deep.equal(["=> :ON"]);
      expect(await emacs.evaluateInRepl("(+ 1 2)")).to.equal("3");
      expect(await emacs.debuggerBuffers()).to.deep.equal([]);
    }
  });
});

/** The forms of the program as strings, on one line, as they are typed in Emacs. */
function texts(): string {
  const forms = SHOP.trim().split(/\n(?=\()/);
  return forms.map((form) => JSON.stringify(form.replaceAll("\n", " "))).join(" ");
}

describe("load-system beside Emacs", function () {
  this.timeout(COMPILING);
  const user = oneUser(() => BesideEmacs.startedByEmacs(["slime-fancy"]));
  let systems: LoadableSystems;

  before(async () => {
    systems = await LoadableSystems.create();
  });

  after(() => systems.remove());

  it("shows Emacs nothing when it is cancelled in the middle of 100 files, and does not block Emacs's compilations", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    await systems.writeWide(
      60,
      `(warn "The agent's warning.") (format t "The agent's output.~%")
(eval-when (:compile-toplevel) (defvar cl-user::*waits* t) (loop until (boundp 'cl-user::*go-on*) do (sleep 0.01)))\n`,
    );
    await emacs.compile("(defun users-sum (a b) (+ a b))");
    // SLIME's newest version does not load it.
    await emacs.evaluateInRepl('(progn (require "asdf") nil)');
    await emacs.evaluateInRepl(`(defvar *noted* (list *package* *standard-output* *error-output* *features*))`);
    const shown = async () => [
      await emacs.eval(
        "(mapcar 'buffer-name (seq-remove (lambda (b) (eq ?\\s (aref (buffer-name b) 0))) (buffer-list)))",
      ),
      await emacs.debuggerBuffers(),
      await emacs.replText(),
    ];
    const before = await shown();
    const file = `${systems.folder}/wide/wide.asd`;
    const call = agent.startCall("load-system", { file, timeout: 500 });
    await agent.evaluate("(loop until (boundp '*waits*) do (sleep 0.01))");
    agent.cancel(call.id);
    let notice: string | undefined;
    while (notice === undefined) [, notice] = await agent.evaluate("1");
    expect(notice).to.match(/^load-system was cancelled\.\nSystem wide is not loaded completely: 59 of 100 files\./);
    expect(await shown()).to.deep.equal(before);
    await emacs.compile("(defun users-product (a b) (* a b))");
    expect(
      await emacs.evaluateInRepl(
        "(list (users-product 6 7) (equal *noted* (list *package* *standard-output* *error-output* *features*)))",
      ),
    ).to.equal("(42 T)");
    const quiet = await shown();
    await agent.evaluate("(defvar *go-on* t)");
    const result = await agent.call("load-system", { file, timeout: 500 });
    expect(blocks(result)[0]).to.match(/^System wide is loaded: 41 files, compiled now\./);
    expect(await shown()).to.deep.equal(quiet);
  });
});
