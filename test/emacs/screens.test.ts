import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { BesideEmacs } from "../support/beside-emacs.js";
import { McpStdio } from "../support/mcp-stdio.js";
import { fencedBlocks } from "../support/page.js";
import { answer, noQuestion, question } from "../support/swank-mcp-el.js";
import { following, oneUser } from "./user.js";

const FRAGILE = '(defun fragile (x) (declare (optimize (debug 3))) (let ((y (* 2 x))) (error "bad ~a" y) y))';
const GREET = '(defun greet (name)\n  (format t "hello ~a" name)\n  (length name))\n(greet "you")';
const AGENT = "claude-code";

/** Replaces what differs between two runs: times, threads, and the parts of the stack below the program. */
function lasting(text: string): string {
  return text
    .replace(/\d\d:\d\d:\d\d/g, "HH:MM:SS")
    .replace(/\d+\.\d\d s/g, "T s")
    .replace(/\b\d+\/(\d+)\b/g, "N/$1")
    .replace(/connection \d+/g, "connection N")
    .replace(/Swank \d+/g, "Swank PORT")
    .replace(/^\d+ +/gm, "ID ")
    .replace(/ +$/gm, "")
    .replace(/ {2,}/g, "  ");
}

/** Whether a screen has the parts of the page's block, in order, which lines of "..." separate. Threads have no order. */
function shows(screen: string, block: string): boolean {
  const lines = block.trimEnd().split("\n");
  if (lines.every((line) => line.endsWith("Running"))) return lines.every((line) => screen.split("\n").includes(line));
  let end = 0;
  return block.split(/^\.\.\.\n/m).every((part) => {
    const start = screen.indexOf(part.trimEnd(), end);
    end = start + part.trimEnd().length;
    return start >= 0;
  });
}

describe("docs/emacs.md", function () {
  this.timeout(300_000);
  const user = oneUser(() => BesideEmacs.startedByEmacs());
  let folder: string;
  let agent: McpStdio;
  const screens: string[] = [];

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "screens-")));
    const { emacs, port } = user();
    await following(emacs);
    await emacs.openFrame();
    agent = new McpStdio(["--attach", String(port)]);
    const clientInfo = { name: AGENT, version: "0" };
    await agent.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    agent.send({ method: "notifications/initialized" });
  });

  after(async () => {
    await agent.end();
    await rm(folder, { recursive: true, force: true });
  });

  async function buffer(name: string, text: string): Promise<string> {
    return (await user().emacs.bufferShowing(name, text)).text;
  }

  it("shows screens of Emacs as they are", async () => {
    const { emacs } = user();
    await emacs.eval("(swank-mcp-transcript)");
    await agent.evaluate(GREET);
    await agent.evaluate('(error "no such luck")');
    const set = agent.call("breakpoint_set", { function: "greet", thread: "any" });
    await question(emacs);
    screens.push(await buffer("*swank-mcp*", "asking"));
    answer(emacs, "n");
    await set;
    screens.push(await buffer("*swank-mcp*", "Not allowed"));
    await agent.call("debugger_invoke_restart", { restart: "ABORT" });

    await emacs.evaluateInRepl(FRAGILE);
    await emacs.typeInRepl("(fragile 21)");
    const { thread } = await emacs.debuggerShowing("bad 42");
    const inDebugger = (form: string) => emacs.eval(`(with-current-buffer (sldb-find-buffer ${thread}) ${form})`);
    const atFrame = '(goto-char (point-min)) (search-forward "(FRAGILE 21)")';
    const toggle =
      "(cl-letf (((symbol-function 'slime--display-region) 'ignore)) (call-interactively (key-binding (kbd \"t\"))))";
    await inDebugger(`(progn ${atFrame} ${toggle})`);
    await inDebugger(
      `(progn ${atFrame} (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "why 42?"))) (call-interactively 'swank-mcp-ask)))`,
    );
    await emacs.messageMatching("reads it");
    screens.push((await agent.evaluate("(list 2)")).join("\n"));
    const evaluated = agent.call("debugger_eval_in_frame", { frame: 0, code: "(setf y 5)", thread: `${thread}/1` });
    await question(emacs, "(setf y 5)");
    answer(emacs, "y");
    await evaluated;
    const { text } = await emacs.debuggerShowing("Y = 5");
    const header = JSON.parse(await inDebugger("header-line-format"));
    screens.push(`${header}\n${text}`);
    const code = "(list\n  y\n  :second-line)";
    const long = agent.call("debugger_eval_in_frame", { frame: 0, code, thread: `${thread}/1` });
    screens.push(await question(emacs, ":second-line"));
    answer(emacs, "n");
    await long;
    await noQuestion(emacs);
    await emacs.pressInDebugger(thread, "q");
    await emacs.debuggerClosed(thread);

    // The thread that sends output, which the list shows, ends some seconds after the last one.
    await agent.evaluate('(princ "so far")');
    const running = agent.evaluate("(loop until (boundp 'cl-user::*enough*) do (sleep 0.01))");
    await emacs.until("(eq 'running (swank-mcp--state (car swank-mcp--lisps)))", "running code");
    await emacs.eval("(slime-list-threads)");
    screens.push(await buffer("*slime-threads*", `worker ${AGENT}`));
    await emacs.evaluateInRepl("(defvar *enough* t)");
    await running;

    await emacs.evaluateInRepl("(mapc 'fmakunbound '(greet fragile))");
    await mkdir(join(folder, "project"));
    const file = join(folder, "project", "twice.lisp");
    await writeFile(file, "(in-package :cl-user)\n\n(defun twice (n)\n  (+ n n))\n");
    await emacs.eval(`(progn (find-file ${JSON.stringify(file)}) (setq slime-last-compilation-result nil)
      (call-interactively (key-binding (kbd "C-c C-k"))))`);
    await emacs.until("slime-last-compilation-result", "the end of the compilation");
    await agent.evaluate("(defun twice (n)\n  (* 2 n))\n(defun fresh () 2)");
    await emacs.eval("(swank-mcp-changes)");
    screens.push((await buffer("*swank-mcp changes*", "function TWICE")).replace(folder, "~"));

    const actual = screens.map(lasting);
    // Another version of SLIME, which SLIME names, draws its own buffers otherwise.
    const isOtherSlime = process.env["SLIME"] !== undefined;
    for (const block of await fencedBlocks("emacs.md", "text"))
      expect(
        isOtherSlime || actual.some((screen) => shows(screen, lasting(block))),
        `${block}\nis no part of:\n${screens.join("\n-----\n")}`,
      ).to.equal(true);
  });
});
