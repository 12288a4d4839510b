import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Emacs } from "../support/emacs.js";
import { eachUser, following } from "./user.js";

const LIST = "*swank-mcp changes*";
const FILE = "(in-package :cl-user)\n\n(defun twice (n)\n  (+ n n))\n\n(defun kept () 1)\n";
const CHANGED = "(defun twice (n)\n  (* 2 n))";

describe("swank-mcp-changes", function () {
  this.timeout(300_000);
  const user = eachUser();
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "changes-")));
    file = join(folder, "twice.lisp");
    await writeFile(file, FILE);
    const { emacs } = user();
    await following(emacs);
    await emacs.eval(`(progn (defvar test-asked '())
      (advice-add 'y-or-n-p :override (lambda (prompt) (push prompt test-asked) nil))
      (find-file ${JSON.stringify(file)}) t)`);
    await compileFile(emacs);
    await emacs.until("slime-last-compilation-result", "the end of the compilation");
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Presses `C-c C-k` in the file's buffer. => the error that it signals, or an empty text */
  async function compileFile(emacs: Emacs): Promise<string> {
    return JSON.parse(
      await emacs.eval(`(with-current-buffer "twice.lisp" (setq slime-last-compilation-result nil)
        (condition-case problem (progn (call-interactively (key-binding (kbd "C-c C-k"))) "")
          (user-error (error-message-string problem))))`),
    );
  }

  /** Waits until the image can compare itself with files, which Emacs prepares after an agent has defined something. */
  async function comparable(emacs: Emacs): Promise<void> {
    await emacs.until(
      '(listp (swank-mcp--changes-now (car swank-mcp--lisps) (buffer-file-name (get-buffer "twice.lisp"))))',
      "a comparison",
    );
  }

  /** Presses a key on the line of the list that has this text. */
  async function press(emacs: Emacs, key: string, text: string): Promise<void> {
    await emacs.eval(`(with-current-buffer "${LIST}" (goto-char (point-min))
      (let ((case-fold-search nil)) (search-forward ${JSON.stringify(text)}))
      (call-interactively (key-binding (kbd "${key}"))))`);
  }

  async function buffer(emacs: Emacs): Promise<string> {
    return (await emacs.bufferShowing("twice.lisp", "")).text;
  }

  it("lists what agents have evaluated by file as diffs; visits, applies, reverts and ignores it", async () => {
    const { emacs } = user();
    await emacs.eval("(swank-mcp-changes)");
    await emacs.messageMatching("No agent is connected that could compare");
    const agent = await user().agent();
    await agent.evaluate(`${CHANGED}\n(defun fresh () 2)`);
    await emacs.eval("(swank-mcp-changes)");
    const { text } = await emacs.bufferShowing(LIST, "in no file");
    expect(text.replace(folder, "/folder")).to.equal(
      "/folder/twice.lisp\n\nfunction TWICE  by an agent\n (defun twice (n)\n-  (+ n n))\n+  (* 2 n))\n\nin no file\n\nfunction FRESH  by an agent\n+(defun fresh () 2)\n\n",
    );
    await press(emacs, "RET", "TWICE");
    expect(await emacs.eval('(with-current-buffer "twice.lisp" (thing-at-point \'line t))')).to.include("(defun twice");
    await press(emacs, "a", "TWICE");
    expect(await buffer(emacs)).to.equal(FILE.replace("(+ n n)", "(* 2 n)"));
    expect(await readFile(file, "utf8")).to.equal(FILE);
    await emacs.eval('(with-current-buffer "twice.lisp" (revert-buffer t t))');
    await press(emacs, "g", "FRESH");
    await emacs.bufferShowing(LIST, "TWICE");
    expect(await emacs.evaluateInRepl("(sb-kernel:%fun-lambda-list #'fresh)")).to.equal("NIL");
    await press(emacs, "i", "FRESH");
    await press(emacs, "r", "TWICE");
    await emacs.until("slime-last-compilation-result", "the end of the compilation");
    await agent.evaluate("(list (twice 2))");
    await emacs.eval("(swank-mcp-changes)");
    await emacs.bufferShowing(LIST, "All definitions are as in their files.");
    await agent.evaluate("(defun fresh () 3)");
    await emacs.eval("(swank-mcp-changes)");
    await emacs.bufferShowing(LIST, "+(defun fresh () 3)");
    expect(await emacs.eval("test-asked")).to.equal("nil");
  });

  it("warns before C-c C-l undoes what an agent has changed, and says that C-c C-c has", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    await agent.evaluate(CHANGED);
    await emacs.until("(eql 0 (swank-mcp-test-open-calls))", "the agent's call");
    const body = "(cl-user::twice 5)";
    await comparable(emacs);
    const load = `(with-current-buffer "twice.lisp" (condition-case problem (slime-load-file ${JSON.stringify(file)})
      (user-error (error-message-string problem))))`;
    expect(JSON.parse(await emacs.eval(load))).to.equal(
      "Not loaded: it would undo what agents have changed in the Lisp, TWICE.  C-c C-l again loads it anyway",
    );
    await emacs.bufferShowing(LIST, "+  (* 2 n))");
    const compileAt = async (text: string) => {
      await emacs.eval(`(with-current-buffer "twice.lisp" (goto-char (point-min)) (search-forward "${text}")
        (setq slime-last-compilation-result nil) (call-interactively (key-binding (kbd "C-c C-c"))))`);
      await emacs.until("slime-last-compilation-result", "the end of the compilation");
    };
    await compileAt("kept");
    await compileAt("twice");
    expect(await emacs.messageMatching("This has replaced")).to.equal(
      "This has replaced TWICE of an agent.  M-x swank-mcp-transcript still has its code.",
    );
    await emacs.eval('(with-current-buffer "*Messages*" (let ((inhibit-read-only t)) (erase-buffer)))');
    await compileAt("twice");
    await emacs.messageMatching("Compilation finished");
    expect(await emacs.eval('(with-current-buffer "*Messages*" (string-match-p "replaced" (buffer-string)))')).to.equal(
      "nil",
    );
    expect(await emacs.evaluateInRepl(body)).to.equal("10");
    await emacs.eval("(swank-mcp-changes)");
    await emacs.bufferShowing(LIST, "All definitions are as in their files.");
  });

  it("warns with the diff before C-c C-k undoes what an agent has changed, and compiles in the command when it is repeated", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    await agent.evaluate("(list 1)");
    expect(await compileFile(emacs)).to.equal("");
    await emacs.until("slime-last-compilation-result", "the end of the compilation");
    await agent.evaluate(CHANGED);
    await comparable(emacs);
    expect(await compileFile(emacs)).to.equal(
      "Not compiled: it would undo what agents have changed in the Lisp, TWICE.  C-c C-k again compiles it anyway",
    );
    await emacs.bufferShowing(LIST, "+  (* 2 n))");
    expect(await emacs.eval("slime-last-compilation-result")).to.equal("nil");
    expect(await agent.evaluate("(twice 5)")).to.deep.equal(["=> 10"]);
    expect(await compileFile(emacs)).to.equal("");
    await emacs.until("slime-last-compilation-result", "the end of the compilation");
    await emacs.eval("(swank-mcp-changes)");
    await emacs.bufferShowing(LIST, "All definitions are as in their files.");
    expect(await emacs.eval("test-asked")).to.equal("nil");
  });

  it("saves an unsaved buffer in C-c C-k itself, and does not wait for an agent's client that is suspended", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    await agent.evaluate("(list 1)");
    await emacs.until("(eql 0 (swank-mcp-test-open-calls))", "the agent's call");
    agent.process.kill("SIGSTOP");
    try {
      await emacs.eval(`(with-current-buffer "twice.lisp" (goto-char (point-max)) (insert "(defun more () 2)\n")
        (setq compilation-ask-about-save nil) (setq slime-last-compilation-result nil)
        (call-interactively (key-binding (kbd "C-c C-k"))))`);
      expect(await readFile(file, "utf8")).to.equal(`${FILE}(defun more () 2)\n`);
      await emacs.messageMatching("Compiling without a look at what agents have changed: the agent's client has not");
      await emacs.until("slime-last-compilation-result", "the end of the compilation");
      expect(await emacs.evaluateInRepl("(more)")).to.equal("2");
    } finally {
      agent.process.kill("SIGCONT");
    }
  });

  it("keeps save-changes from writing under edits that are not saved in Emacs", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    await agent.evaluate(CHANGED);
    const inFile = (form: string) => emacs.eval(`(with-current-buffer "twice.lisp" ${form})`);
    await inFile('(progn (goto-char (point-max)) (insert ";; unsaved\n"))');
    const save = async () => (await agent.call("save-changes", { "dry-run": false })).content;
    expect(JSON.stringify(await save())).to.match(/twice\.lisp:3:1: not written: the file has unsaved edits.*Emacs/);
    expect(await readFile(file, "utf8")).to.equal(FILE);
    await inFile("(save-buffer)");
    expect(JSON.stringify(await save())).to.match(/twice\.lisp:3:1: written/);
    expect(await readFile(file, "utf8")).to.equal(`${FILE.replace("(+ n n)", "(* 2 n)")};; unsaved\n`);
  });
});
