import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { gone } from "../../support/mcp-processes.js";
import { KEYS, McpTerminal } from "../../support/mcp-terminal.js";
import { startRealSwank } from "../../support/real-swank.js";

const LOOP = "(progn (princ :begun) (finish-output) (loop (sleep 0.01)))";

describe("swank-mcp console in a terminal", () => {
  let state: string;
  let terminal: McpTerminal;

  beforeEach(async () => {
    state = await mkdtemp(join(tmpdir(), "console-"));
    terminal = new McpTerminal({ state });
  });

  afterEach(async () => {
    terminal.kill();
    await terminal.exited;
    await rm(state, { recursive: true });
  });

  /** Returns the image's process id from the greeting. */
  async function imagePid(): Promise<number> {
    await terminal.shows("CL-USER> ");
    return Number(/, process (\d+)\.$/m.exec(terminal.text)?.[1]);
  }

  it("names the Lisp, prompts with the package or for the rest of a form, and discards what is typed at Ctrl-C", async () => {
    await terminal.enter("(defun f (x)");
    await terminal.enter("(list x))", "     ... ");
    await terminal.shows("=> F");
    await terminal.enter("(defpackage :zoo (:use :cl)) (in-package :zoo)");
    await terminal.enter("(cl-user::f 1)", "ZOO> ");
    await terminal.shows("=> (1)");
    expect(terminal.text).to.match(/^SBCL \S+, launched, process \d+\.\nType a form to evaluate it\. ,help /);
    expect(terminal.text).to.include("\nCL-USER> (defun f (x)\n     ... (list x))\n=> F\nCL-USER> (defpackage");
    await terminal.enter("(list :unwanted", "ZOO> ");
    await terminal.shows(" ... ");
    terminal.press("(more", KEYS.interrupt);
    await terminal.shows("^C\nZOO> ");
    terminal.press(":wanted", KEYS.enter);
    await terminal.shows("=> :WANTED");
  });

  it("remembers lines across runs", async () => {
    await terminal.enter("(+ 1 2)");
    await terminal.shows("=> 3");
    await terminal.shows("CL-USER> ");
    terminal.press(KEYS.up);
    await terminal.shows("(+ 1 2)");
    terminal.press(KEYS.enter);
    await terminal.shows("=> 3");
    await terminal.shows("CL-USER> ");
    terminal.press(KEYS.endOfFile);
    expect(await terminal.exited).to.equal(0);
    terminal = new McpTerminal({ state });
    await terminal.shows("CL-USER> ");
    terminal.press(KEYS.up, KEYS.enter);
    await terminal.shows("=> 3");
  });

  it("completes commands and symbols of the session's package", async () => {
    await terminal.enter("(defpackage :zoo (:use :cl)) (in-package :zoo)");
    await terminal.enter("(defun quite-an-animal () :roar)", "ZOO> ");
    await terminal.shows("ZOO> ");
    terminal.press("(quite-an", KEYS.tab);
    await terminal.shows("(quite-an-animal");
    terminal.press(")", KEYS.enter);
    await terminal.shows("=> :ROAR");
    await terminal.shows("ZOO> ");
    terminal.press("(cl:multiple-value-pr", KEYS.tab);
    await terminal.shows("(cl:multiple-value-prog1");
    terminal.press(KEYS.interrupt);
    await terminal.shows("^C\nZOO> ");
    terminal.press(",defi", KEYS.tab);
    await terminal.shows(",definitions");
    terminal.press(KEYS.enter);
    await terminal.shows("ZOO::QUITE-AN-ANIMAL");
  });

  it("pauses an evaluation at Ctrl-C, which can be inspected and continued", async () => {
    await terminal.enter("(defvar *go-on* nil)");
    await terminal.enter("(defun waiting (n) (princ :begun) (finish-output) (loop until *go-on*) n)");
    await terminal.enter("(waiting 7)");
    await terminal.shows("[stdout]\nBEGUN");
    terminal.press(KEYS.interrupt);
    await terminal.shows("[INTERRUPT] INTERRUPTED\nThe evaluation was interrupted.\n");
    await terminal.shows("(WAITING 7)");
    await terminal.shows("CL-USER [");
    await terminal.enter("(setf *go-on* t)", "] ");
    await terminal.enter(",continue", "] ");
    await terminal.shows("=> 7");
    await terminal.shows("CL-USER> ");
  });

  it("aborts an evaluation in a frame at Ctrl-C and keeps the stop, also if Ctrl-C follows the entry at once", async () => {
    await terminal.shows("CL-USER>");
    terminal.press(`${LOOP}${KEYS.enter}${KEYS.interrupt}`);
    await terminal.shows("The call was cancelled before Lisp was reached.");
    await terminal.enter('(error "Halt")');
    await terminal.shows("CL-USER [");
    await terminal.shows("]");
    await terminal.enter(`,in 0 ${LOOP}`, "");
    terminal.press(KEYS.interrupt);
    await terminal.shows("cancelled");
    await terminal.shows("]");
    terminal.press(`,in 0 ${LOOP}${KEYS.enter}${KEYS.interrupt}`);
    await terminal.shows("cancelled");
    await terminal.shows("]");
    terminal.press(`,help${KEYS.enter}${KEYS.interrupt}`);
    await terminal.shows(",quit");
    await terminal.enter(",in 0 (+ 1 2)", "] ");
    await terminal.shows("=> 3");
  });

  it("abandons an evaluation that does not stop at the second Ctrl-C", async () => {
    await terminal.enter("(sb-sys:without-interrupts (princ :begun) (finish-output) (loop (sleep 0.01)))");
    await terminal.shows("BEGUN");
    terminal.press(KEYS.interrupt, KEYS.interrupt);
    await terminal.shows("aborted");
    await terminal.shows("CL-USER> ");
  });

  it("asks before it changes a stopped program under --approval strict", async () => {
    terminal.kill();
    terminal = new McpTerminal({ state, args: ["--approval", "strict"] });
    await terminal.enter('(error "Halt")');
    await terminal.enter(",in 0 (+ 1 2)", "] ");
    await terminal.shows("Code: (+ 1 2)");
    await terminal.shows("Yes, No, Show Code, Yes, for this stop? ");
    terminal.press("n", KEYS.enter);
    await terminal.shows("Not allowed: evaluate code in frame #0; the user said no.");
    await terminal.enter(",in 0 (+ 1 2)", "] ");
    await terminal.shows("Yes, for this stop? ");
    terminal.press("y", KEYS.enter);
    await terminal.shows("=> 3");
    await terminal.enter(",in 0 (+ 1 2)", "] ");
    await terminal.shows("Yes, for this stop? ");
    terminal.press(KEYS.endOfFile);
    expect(await terminal.exited).to.equal(0);
  });

  it("shows an answer again in its place until Ctrl-C, also while the code runs, or the first error", async () => {
    await terminal.enter("(defvar *n* 0)");
    await terminal.enter(",live 0.1 (incf *n*)");
    for (const value of [1, 2, 3]) await terminal.shows(`=> ${value}`, "again");
    terminal.press(KEYS.interrupt);
    await terminal.enter(":back");
    await terminal.shows("=> :BACK");
    expect(terminal.text.match(/\(incf \*n\*\) \(every 0\.1 seconds; Ctrl-C ends\)/g)).to.have.length(1);
    expect(terminal.text.match(/^=> \d+$/gm)).to.have.length(1);
    await terminal.enter(",live inspect (no-such-function)");
    await terminal.shows("6. RETRY - ");
    await terminal.enter(",live (progn (sleep 100) 1)", "] ");
    await terminal.shows("Ctrl-C ends)");
    terminal.press(KEYS.interrupt);
    await terminal.enter(",live ,threads", "] ");
    await terminal.shows(",threads (every second; Ctrl-C ends)");
    terminal.press(KEYS.endOfFile);
    expect(await terminal.exited).to.equal(0);
  });

  it("exits at Ctrl-D while one evaluation is stopped and another runs", async () => {
    const pid = await imagePid();
    terminal.press('(error "Halt")', KEYS.enter);
    await terminal.enter(LOOP, "] ");
    await terminal.shows("[stdout]\nBEGUN");
    terminal.press(KEYS.endOfFile);
    expect(await terminal.exited).to.equal(0);
    await gone(pid);
  });

  it("ends its image when its terminal is closed during an evaluation", async () => {
    const pid = await imagePid();
    terminal.press(LOOP, KEYS.enter);
    await terminal.shows("[stdout]\nBEGUN");
    terminal.kill();
    await gone(pid);
  });

  it("names the image that it is attached to", async () => {
    terminal.kill();
    const lisp = await startRealSwank();
    try {
      terminal = new McpTerminal({ state, args: ["--attach", String(lisp.port)] });
      await terminal.shows(`attached at 127.0.0.1:${lisp.port}, process ${lisp.process.pid}.`);
      terminal.press(KEYS.endOfFile);
      expect(await terminal.exited).to.equal(0);
    } finally {
      await lisp.stop();
    }
  });
});
