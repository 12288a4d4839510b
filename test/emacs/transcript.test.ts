import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { modeLine, modeLineShowing } from "../support/swank-mcp-el.js";
import { eachUser, following } from "./user.js";

/** Replaces times and thread ids. */
function timeless(text: string): string {
  return text
    .replace(/\d\d:\d\d:\d\d/g, "HH:MM:SS")
    .replace(/\d+\.\d\d s/g, "T s")
    .replace(/\b\d+\/(\d+)\b/g, "N/$1");
}

describe("the transcript of swank-mcp.el", function () {
  this.timeout(300_000);
  const user = eachUser();
  let folder: string;

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "transcript-")));
    await following(user().emacs);
  });

  afterEach(() => rm(folder, { recursive: true }));

  it("shows each call with its agent, code, output and values, while the mode line shows the agent's state", async () => {
    const { emacs } = user();
    await emacs.eval("(swank-mcp-transcript)");
    expect(await modeLine(emacs)).to.equal("");
    const agent = await user().agent();
    await agent.evaluate('(defun greet (name)\n  (format t "hello ~a" name)\n  (length name))\n(greet "you")');
    const { text } = await emacs.bufferShowing("*swank-mcp*", "=> 3");
    expect(timeless(text)).to.equal(
      'HH:MM:SS test  T s\n(defun greet (name)\n  (format t "hello ~a" name)\n  (length name))\n(greet "you")\nhello you\n=> 3\n\n',
    );
    await modeLineShowing(emacs, "agent idle");
    await agent.evaluate('(error "no such luck")');
    await modeLineShowing(emacs, "agent stopped");
    await emacs.bufferShowing("*swank-mcp*", "no such luck");
    await agent.call("debugger_invoke_restart", { restart: "ABORT" });
    await modeLineShowing(emacs, "agent idle");
    const running = agent.evaluate("(loop until (boundp 'go-on) do (sleep 0.01))");
    await modeLineShowing(emacs, "agent running");
    await emacs.evaluateInRepl("(defvar go-on t)");
    await running;
    await modeLineShowing(emacs, "agent idle");
    await agent.end();
    await modeLineShowing(emacs, "");
  });

  it("shows a background thread's stop until it ends, loaded systems and tests in words, and marks what it leaves out", async () => {
    const { emacs } = user();
    await emacs.eval("(swank-mcp-transcript)");
    const agent = await user().agent();
    await agent.evaluate('(sb-thread:make-thread (lambda () (error "in the background"))) (values)');
    const { text } = await emacs.bufferShowing("*swank-mcp*", "in the background\n");
    expect(timeless(text)).to.match(
      /HH:MM:SS test \(background stop\) {2}stopped at N\/1\n;; Thread \d+\nin the background\n/,
    );
    await modeLineShowing(emacs, "agent stopped");
    await agent.call("debugger_invoke_restart", { restart: "ABORT" });
    await modeLineShowing(emacs, "agent idle");
    const file = join(folder, "single.lisp");
    await writeFile(file, "(defun single (x) x)\n");
    await agent.call("load-system", { file });
    const { text: loaded } = await emacs.bufferShowing("*swank-mcp*", "compiled now.");
    expect(timeless(loaded)).to.include(
      `test (load-system)  T s\n(load-system :file "${file}")\n${file}: 1 of 1 files loaded, 1 compiled now.\n`,
    );
    await agent.call("load-system", { file: join(folder, "none.lisp") });
    await emacs.bufferShowing("*swank-mcp*", "none.lisp is not found.");
    await agent.call("run-tests", { name: "no-such-tests" });
    await emacs.bufferShowing("*swank-mcp*", '(run-tests "no-such-tests")\nno-such-tests is not found.\n');
    await agent.call("load-changes");
    await emacs.bufferShowing("*swank-mcp*", "(load-changes)\n");
    await agent.evaluate("(dotimes (i 3) (princ (make-string 15000 :initial-element #\\x)) (finish-output))");
    await emacs.bufferShowing("*swank-mcp*", "x [... further output is left out]\n=> NIL");
    await agent.evaluate("(dotimes (i 20001) (princ #\\y))");
    await emacs.bufferShowing("*swank-mcp*", "y [... further output is left out]\n=> NIL");
    await emacs.eval("(setq swank-mcp-kept-calls 2)");
    await agent.evaluate("(list 1)");
    await emacs.until('(string-match-p "earlier calls are not kept" (swank-mcp--earlier-text))', "the header line");
  });
});
