import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import * as z from "zod";
import type { Emacs } from "../support/emacs.js";
import { modeLine, modeLineShowing, useSwankMcp } from "../support/swank-mcp-el.js";
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

const names = z.array(z.string());

/** The names of the messages that an Emacs has received since `recordMessages`, except those of the channels that are the REPLs of SLY. */
async function messages(emacs: Emacs): Promise<readonly string[]> {
  const list = await emacs.eval(`(json-encode (vconcat (mapcar 'symbol-name (mapcar 'car
    (cl-remove-if (lambda (message) (memq (car-safe (nth 2 message)) '(:process :prompt :write-string :write-values)))
                  swank-mcp-test-messages)))))`);
  return names.parse(JSON.parse(JSON.parse(list)));
}

/** Begins to record all messages of Lisps, without changing what Emacs does with them. */
async function recordMessages(emacs: Emacs): Promise<void> {
  await emacs.eval(`(progn (defvar swank-mcp-test-messages '())
    (add-hook 'slime-event-hooks (lambda (message) (push message swank-mcp-test-messages) nil)))`);
}

describe("events about agents", function () {
  this.timeout(300_000);
  const user = eachUser();
  it("never reach an Emacs without swank-mcp.el, also beside one that has it", async () => {
    const plain = user().emacs;
    await recordMessages(plain);
    const listening = await user().anotherEmacs();
    await listening.connect(user().port);
    await following(listening);
    const agent = await user().agent();
    await agent.evaluate('(progn (format t "hello") 1)');
    await agent.evaluate('(error "stop")');
    await agent.call("debugger_invoke_restart", { restart: "ABORT" });
    await agent.evaluate("(defun seen () 1)");
    await listening.until("(eql 0 (swank-mcp-test-open-calls))", "the end of all calls");
    await agent.end();
    await modeLineShowing(listening, "");
    expect(await plain.evaluateInRepl("(seen)")).to.include("1");
    expect(await messages(listening)).to.include(":channel-send");
    const received = new Set(await messages(plain));
    // Those of its own request, and the rules of indentation that Swank sends by itself.
    for (const known of [":return", ":write-string", ":indentation-update", ":new-features", ":emacs-rex"])
      received.delete(known);
    expect([...received]).to.deep.equal([]);
  });

  it("of two agents reach two Emacsen, also one that comes later, and end when everything is killed in the middle", async () => {
    const first = user().emacs;
    await following(first);
    const [one, other] = [await user().agent(), await user().agent()];
    await one.evaluate("(list :from-one)");
    await other.evaluate("(list :from-other)");
    const second = await user().anotherEmacs();
    await second.connect(user().port);
    await useSwankMcp(second);
    await second.eval("(swank-mcp-transcript)");
    await second.bufferShowing("*swank-mcp*", "=> (:FROM-ONE)");
    const { text } = await second.bufferShowing("*swank-mcp*", "=> (:FROM-OTHER)");
    expect(text).to.match(/ test {2}[\s\S]* test 2 {2}/);
    const running = one.evaluate("(sleep 300)").catch(() => []);
    await other.evaluate('(error "stopped")');
    for (const emacs of [first, second]) await modeLineShowing(emacs, "agent running");
    one.process.kill("SIGKILL");
    await running;
    for (const emacs of [first, second]) await modeLineShowing(emacs, "agent stopped");
    await second.bufferShowing("*swank-mcp*", "The agent disconnected.");
    await second.kill();
    expect(await other.evaluate("(list :still-here)")).to.deep.equal(["=> (:STILL-HERE)"]);
    other.process.kill("SIGKILL");
    await modeLineShowing(first, "");
    expect(await first.evaluateInRepl("(list 1 2)")).to.equal("(1 2)");
  });

  it("name the agent and the code of each worker in the list of threads, and only there", async () => {
    const { emacs } = user();
    await following(emacs);
    const agent = await user().agent();
    const running = agent.evaluate("(loop until (boundp 'go-on)\n  do (sleep 0.01))");
    await modeLineShowing(emacs, "agent running");
    await emacs.eval("(slime-list-threads)");
    await emacs.until(
      `(with-current-buffer "*slime-threads*"
         (or (string-match-p "test: (loop" (buffer-string)) (progn (slime-update-threads-buffer) nil)))`,
      "a list with the worker",
    );
    const { text } = await emacs.bufferShowing("*slime-threads*", "test: ");
    expect(text).to.match(/worker test: \(loop until \(boundp 'go-on\) +Running/);
    expect(await emacs.evaluateInRepl("(progn (defvar go-on t) 'set)")).to.equal("SET");
    await running;
    // SLIME lists the threads once, perhaps before the worker has ended: ask again each time
    await emacs.until(
      `(with-current-buffer "*slime-threads*"
         (or (not (string-match-p "test:" (buffer-string))) (progn (slime-update-threads-buffer) nil)))`,
      "a list without workers",
    );
  });
});
