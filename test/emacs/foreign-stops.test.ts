import { expect } from "chai";
import * as z from "zod";
import { Emacs, type EmacsDebugger } from "../support/emacs.js";
import { type Answerer, type DebuggerOptions, McpDebugger } from "../support/mcp-debugger.js";
import { type RealSwank, startRealSwank } from "../support/real-swank.js";
import { REPL_THREAD } from "../support/usual-server.js";

const OWNER = "Emacs (Swank connection 1)";

const FRAGILE = `(defun fragile (x)
  (declare (optimize (debug 3)))
  (let ((y (* 2 x)))
    (restart-case (list :twice (if (eql y 42) (error "bad ~a" y) y))
      (use-instead (value) :report "Use another value." (list :instead value))
      (use-seven () :report "Use seven." 7))))`;

const listed = z.object({
  stopped: z.array(
    z.object({
      thread: z.string(),
      name: z.string().optional(),
      type: z.string(),
      message: z.string(),
      owner: z.string().optional(),
    }),
  ),
});

/** Gives the same answer to every question, and records the questions. */
function answering(choice: string, asked: string[]): Answerer {
  return async (message) => {
    asked.push(message);
    return { action: "accept", content: { answer: choice } };
  };
}

/** Replaces the addresses of objects, which the garbage collector changes. */
function withoutAddresses(text: string): string {
  return text.replace(/\{[0-9A-F]+\}/g, "{...}");
}

describe("foreign stop in Emacs", function () {
  this.timeout(180_000);
  let emacs: Emacs;
  let lisp: RealSwank;
  let agent: McpDebugger | undefined;

  before(async () => {
    lisp = await startRealSwank();
    emacs = await Emacs.start();
    await emacs.connect(lisp.port);
    await emacs.evaluateInRepl(FRAGILE);
  });

  afterEach(async () => {
    await agent?.close();
    agent = undefined;
    for (const { thread } of await emacs.debuggerBuffers()) {
      await emacs.pressInDebugger(thread, "q");
      await emacs.debuggerClosed(thread);
    }
  });

  after(async () => {
    await emacs.kill();
    await lisp.stop();
  });

  async function attach(options: DebuggerOptions = {}): Promise<McpDebugger> {
    agent = await McpDebugger.start({ ...options, args: ["--attach", String(lisp.port), ...(options.args ?? [])] });
    return agent;
  }

  async function failInRepl(): Promise<EmacsDebugger> {
    await emacs.typeInRepl("(fragile 21)");
    return emacs.debuggerShowing("bad 42");
  }

  async function stoppedThreads(server: McpDebugger) {
    return listed.parse(await server.json("lisp-status")).stopped;
  }

  it("is listed with its owner, in the REPL and in other threads, and is never chosen by auto", async () => {
    const inRepl = await failInRepl();
    await emacs.eval(
      `(slime-eval-async '(cl:progn (sb-thread:make-thread (cl:lambda () (cl:error "elsewhere")) :name "worker of mine") nil))`,
    );
    const inThread = await emacs.debuggerShowing("elsewhere");
    const server = await attach();
    const [first, second, ...more] = (await stoppedThreads(server)).sort((a, b) => a.message.localeCompare(b.message));
    expect(more).to.deep.equal([]);
    expect(first).to.deep.equal({
      thread: `${inRepl.thread}/1`,
      name: REPL_THREAD,
      type: "SIMPLE-ERROR",
      message: "bad 42",
      owner: OWNER,
    });
    expect(second).to.include({ thread: `${inThread.thread}/1`, name: "worker of mine", owner: OWNER });
    const refused = await server.refusal("debugger_frames");
    expect(refused).to.include({ type: "NOT_DEBUGGING", message: "Thread not in debugger" });
    expect(refused.next).to.match(
      /^No thread of this session is stopped\. Stopped in other clients: .*; give the thread's id/,
    );
    expect(refused.next).to.include(`${inRepl.thread}/1 in ${OWNER}`);
  });

  it("can be inspected by its thread, and Emacs's debugger keeps working", async () => {
    const { thread, text, restarts } = await failInRepl();
    const server = await attach();
    const { frames, total_frames, ...place } = await server.frames({ thread });
    expect(place).to.include({ thread: `${thread}/1` });
    const fragile = frames.find(({ call }) => call === "(FRAGILE 21)");
    expect(fragile?.function).to.equal("COMMON-LISP-USER::FRAGILE");
    const { locals } = await server.json("debugger_frame_locals", { frame: fragile?.index, thread });
    const named = z.array(z.object({ name: z.string(), value: z.string() })).parse(locals);
    expect(named.map(({ name, value }) => `${name} ${value}`)).to.include.members(["X 21", "Y 42"]);
    const offered = await server.json("debugger_restarts", { thread: `${thread}/1` });
    // Emacs marks the restart that q chooses.
    const shown = restarts.map(({ name, description }, at) => ({
      index: at + 1,
      name: name.replace("*", ""),
      description: withoutAddresses(description),
    }));
    expect(JSON.parse(withoutAddresses(JSON.stringify(offered["restarts"])))).to.deep.equal(shown);
    expect(await server.refusal("debugger_frame_locals", { frame: total_frames, thread })).to.include({
      type: "INVALID_FRAME",
      message: "Frame index out of range",
    });
    expect((await emacs.debuggerBuffers())[0]?.text).to.equal(text);
    await emacs.invokeRestart(thread, 1);
    await emacs.debuggerClosed(thread);
    expect(await emacs.evaluateInRepl("(list *)")).to.equal("(7)");
  });

  it("ends through a restart when the user confirms, and Emacs shows the value", async () => {
    const { thread } = await failInRepl();
    const asked: string[] = [];
    const server = await attach({ answer: answering("Yes", asked) });
    const report = await server.resume("debugger_invoke_restart", {
      restart: "USE-INSTEAD",
      values: ["(+ 1 2)"],
      thread,
    });
    expect(report).to.deep.equal([`; Thread ${thread}/1 resumed in ${OWNER}`]);
    expect(asked).to.deep.equal([
      `AI agent wants to invoke restart 1, in a thread that is stopped in ${OWNER}:\nUSE-INSTEAD: Use another value.\nValue 1: (+ 1 2)\n\nAllow? [Yes/No/Show Code] Timeout: 60s`,
    ]);
    await emacs.debuggerClosed(thread);
    expect(await emacs.evaluateInRepl("(list *)")).to.equal("((:INSTEAD 3))");
    expect(await emacs.debuggerBuffers()).to.deep.equal([]);
    expect(await stoppedThreads(server)).to.deep.equal([]);
  });

  it("is unchanged when the user declines", async () => {
    const { thread, text } = await failInRepl();
    const server = await attach({ answer: answering("No", []) });
    const { type, message } = await server.refusal("debugger_invoke_restart", { restart: "ABORT", thread });
    expect(type).to.equal("APPROVAL_DENIED");
    expect(message).to.include(OWNER).and.include("the user said no");
    expect((await emacs.debuggerBuffers()).map((open) => open.text)).to.deep.equal([text]);
  });

  it("accepts evaluations while Emacs evaluates there, and one confirmation can apply to the whole stop", async () => {
    const { thread } = await failInRepl();
    const asked: string[] = [];
    const server = await attach({ answer: answering("Yes, for this stop", asked) });
    const { index } = await server.frame("(FRAGILE ", { thread });
    await emacs.eval(
      `(with-current-buffer (car (sldb-buffers)) (setq swank-test-value nil) (slime-eval-async '(cl:loop :until (cl:find-package "ENOUGH") :do (cl:sleep 0.01) :finally (cl:return "done")) (lambda (value) (setq swank-test-value value))))`,
    );
    expect(await server.valuesInFrame(index, "(setf y 5)", { thread })).to.deep.equal(["5"]);
    expect(await server.valuesInFrame(index, "(list x y)", { thread })).to.deep.equal(["(21 5)"]);
    expect(asked).to.have.lengthOf(1);
    await server.evaluate('(make-package "ENOUGH")');
    await emacs.until('(equal swank-test-value "done")', "the value of its own evaluation");
    expect((await emacs.debuggerBuffers())[0]).to.include({ thread, level: 1 });
  });

  it("has no owner after its Emacs has ended, and can still be ended", async () => {
    const other = await Emacs.start();
    try {
      await other.connect(lisp.port);
      await other.eval(
        `(slime-eval-async '(cl:progn (sb-thread:make-thread (cl:lambda () (cl:error "left behind"))) nil))`,
      );
      const { thread } = await other.debuggerShowing("left behind");
      const server = await attach({ args: ["--approval", "off"] });
      const owner = async () => (await stoppedThreads(server))[0]?.owner;
      const before = (await owner()) ?? "";
      await other.kill();
      let after = await owner();
      while (after === before) after = await owner();
      expect(after).to.equal(before.replace("Emacs", "a disconnected client"));
      await server.resume("debugger_invoke_restart", { restart: "ABORT", thread });
      expect(await stoppedThreads(server)).to.deep.equal([]);
    } finally {
      await other.kill();
    }
  });

  it("needs no confirmation under --approval off, and its next stop is reported", async () => {
    const { thread } = await failInRepl();
    const server = await attach({ args: ["--approval", "off"] });
    const again = `; Thread ${thread}/1 stopped again in ${OWNER}: SIMPLE-ERROR: bad 42`;
    let report = "";
    // On a slow machine the thread runs for longer than the tool waits.
    while (report !== again) {
      [report = ""] = await server.resume("debugger_invoke_restart", { restart: "RETRY", thread });
      while ((await stoppedThreads(server)).length === 0) await emacs.debuggerShowing("bad 42");
    }
    await server.evaluate("(defun fragile (x) (list :mended x))");
    expect(await server.resume("debugger_invoke_restart", { restart: "RETRY", thread })).to.deep.equal([
      `; Thread ${thread}/1 resumed in ${OWNER}`,
    ]);
    await emacs.debuggerClosed(thread);
    expect(await emacs.evaluateInRepl("(list *)")).to.equal("((:MENDED 21))");
    await emacs.evaluateInRepl(FRAGILE);
  });
});
