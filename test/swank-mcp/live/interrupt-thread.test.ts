import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import { listThreads, type ToolCaller } from "../../support/listed-threads.js";
import { attachedTo, liveServer, liveSwank } from "../../support/live-server.js";
import { McpDebugger, stopName } from "../../support/mcp-debugger.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

/** The named thread, once there is only one that runs: a worker of the call before may be about to end. */
async function running(server: ToolCaller, name: string): Promise<number> {
  for (;;) {
    const { threads } = await listThreads(server, { name });
    const [found, ...others] = threads.filter((thread) => thread.name === name && thread.level === 0);
    if (found !== undefined && others.length === 0) return found.id;
  }
}

async function act(server: ToolCaller, thread: number, mode: string): Promise<string[]> {
  return blocks(await server.call("interrupt-thread", { thread, mode }));
}

/** A thread that counts its rounds. */
const COUNTING = `
(defparameter *rounds* 0)
(defun count-on () (loop (incf *rounds*) (sleep 0.001)))
(sb-thread:make-thread (lambda () (unwind-protect (count-on) (setf *rounds* :ended))) :name "counting")
nil`;

/** Waits until the counting thread goes on. */
const GOES_ON = "(let ((before cl-user::*rounds*)) (loop until (> cl-user::*rounds* before) do (sleep 0.01)) :on)";

describe("interrupt-thread", function () {
  this.timeout(180_000);
  const server = liveServer();

  it("stops a thread of the agent's code, which can be inspected and continued", async () => {
    await server.evaluate(COUNTING);
    const id = await running(server, "counting");
    const [report = "", stop = ""] = await act(server, id, "stop");
    expect(report).to.match(/^\[INTERRUPT\] INTERRUPTED\n(?:The thread was .*\n)?The thread was interrupted\.\n/);
    expect(report).to.match(/^\d+: \(COUNT-ON\)$/m);
    expect(stopName([stop])).to.equal(`${id}/1`);
    expect(stop).to.include("CONTINUE - Continue the thread").and.include("ABORT - End this thread");
    expect(await act(server, id, "stop")).to.deep.equal([
      `Thread ${id} is stopped in a debugger already.\nCorrect the argument that the message names.`,
    ]);
    expect(blocks(await server.call("debugger_continue", { thread: String(id) }))[0]).to.equal(
      `; Thread ${id}/1 resumed`,
    );
    expect(await server.evaluate(GOES_ON)).to.deep.equal(["=> :ON"]);
    await act(server, id, "kill");
  });

  it("stops a running evaluation of the agent, whose call reports the stop, too", async () => {
    await server.evaluate('(defvar *mine* (sb-thread:make-mutex :name "mine"))');
    const evaluation = server.startCall("evaluate-lisp", { code: "(list (sleep 3600))", timeout: 3600 });
    const id = await running(server, "worker");
    const [report = ""] = await act(server, id, "stop");
    expect(report).to.match(
      /^\[INTERRUPT\] INTERRUPTED\nThe thread was sleeping.*\nThe evaluation was interrupted\.\n/,
    );
    const [own = "", place] = blocks(await evaluation.result);
    expect(own).to.match(/^\[INTERRUPT\] INTERRUPTED\n/);
    expect(place).to.include(`thread ${id}/1`);
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
  });

  for (const action of ["abort", "kill"]) {
    it(`ends a thread of the agent's code by ${action}, with its cleanup forms`, async () => {
      await server.evaluate(COUNTING);
      const id = await running(server, "counting");
      expect(await act(server, id, action)).to.deep.equal([`; Thread ${id} (counting) ended`]);
      expect(await server.evaluate("*rounds*")).to.deep.equal(["=> :ENDED"]);
      expect((await act(server, id, action))[0]).to.match(/^There is no thread \d+\./);
    });

    it(`ends a running evaluation by ${action}, and says that one without interrupts has not ended, until it has`, async () => {
      const sleeping = server.startCall("evaluate-lisp", { code: "(list (sleep 3600))", timeout: 3600 });
      const sleeper = await running(server, "worker");
      expect(await act(server, sleeper, action)).to.deep.equal([`; Thread ${sleeper} (worker) ended`]);
      expect(blocks(await sleeping.result)[0]).to.equal("; Evaluation aborted");
      await server.evaluate("(defparameter *open* nil) (defparameter *inside* nil)");
      const code = "(sb-sys:without-interrupts (setf *inside* t) (loop until *open* do (sleep 0.01))) (sleep 3600)";
      const evaluation = server.startCall("evaluate-lisp", { code, timeout: 3600 });
      await server.evaluate("(loop until *inside* do (sleep 0.01))");
      const id = await running(server, "worker");
      const [answer] = await act(server, id, action);
      expect(answer).to.match(/^; Thread \d+ has not ended yet: it allows no interrupts/);
      await server.evaluate("(setf *open* t)");
      expect(blocks(await evaluation.result)[0]).to.equal("; Evaluation aborted");
    });
  }

  it("says that a thread without interrupts has not stopped", async () => {
    await server.evaluate(`(defparameter *open* nil)
      (sb-thread:make-thread (lambda () (sb-sys:without-interrupts (loop until *open* do (sleep 0.01))) (sleep 3600)) :name "closed") nil`);
    const id = await running(server, "closed");
    expect((await act(server, id, "stop"))[0]).to.match(/^; Thread \d+ has not stopped yet: it allows no interrupts/);
    // The interrupt waits for the thread.
    await server.evaluate("(setf *open* t)");
    for (;;) {
      const { structuredContent } = await server.call("lisp-status");
      if (JSON.stringify(structuredContent).includes(`"${id}/1"`)) return;
    }
  });

  it("refuses threads that serve clients, and those that do not exist", async () => {
    const { threads } = await listThreads(server, { name: "control-thread" });
    const id = threads[0]?.id ?? 0;
    for (const action of ["stop", "abort", "kill"])
      expect((await act(server, id, action))[0]).to.match(/^Thread \d+ serves clients or belongs to Lisp\./);
    expect((await act(server, 999_999_999, "stop"))[0]).to.match(/^There is no thread 999999999\./);
    const auto = await server.call("interrupt-thread", { thread: "auto", mode: "stop" });
    expect(blocks(auto)[0]).to.match(/^"thread" must be a thread id\./);
  });

  it("finds a thread that list-threads leaves out because there are more than 500", async () => {
    await server.evaluate(`(loop for number below 520 do
      (sb-thread:make-thread (lambda () (sleep 3600)) :name (format nil "many~d" number))) nil`);
    for (const name of ["many0", "many519"]) {
      const { threads } = await listThreads(server, { name });
      const id = threads.find((thread) => thread.name === name)?.id ?? 0;
      expect(await act(server, id, "kill")).to.deep.equal([`; Thread ${id} (${name}) ended`]);
    }
  });
});

describe("interrupt-thread in an attached image", function () {
  this.timeout(180_000);
  const image = liveSwank();
  const watcher = liveServer({ args: attachedTo(image) });
  before(() => image.type(COUNTING));

  it("asks the user before it stops a thread of the program, and continues it when the server is killed", async () => {
    let answer = "No";
    const asked: string[] = [];
    const agent = await McpDebugger.start({
      args: ["--attach", String(image.port)],
      answer: async (message): Promise<ElicitResult> => {
        asked.push(message);
        return { action: "accept", content: { answer } };
      },
    });
    const id = await running(agent, "counting");
    expect(await agent.refusal("interrupt-thread", { thread: id, mode: "stop" })).to.include({
      type: "APPROVAL_DENIED",
    });
    expect(asked[0]?.replace(/\d+/g, "<n>").replace(/State: .*/, "State: <state>")).to.equal(
      "AI agent wants to stop thread <n>:\nThread: counting\nRuns code of: the program\nState: <state>\n\nAllow? [Yes/No/Show Code] Timeout: <n>s",
    );
    answer = "Yes";
    const stopped = blocks(await agent.call("interrupt-thread", { thread: id, mode: "stop" }));
    expect(stopName(stopped)).to.equal(`${id}/1`);
    process.kill(agent.pid ?? 0, "SIGKILL");
    expect(await watcher.evaluate(GOES_ON)).to.deep.equal(["=> :ON"]);
    await agent.close();
  });

  it("refuses what the user cannot be asked about, for each action", async () => {
    const id = await running(watcher, "counting");
    for (const action of ["stop", "abort", "kill"])
      expect((await act(watcher, id, action))[0]).to.match(
        /^Not allowed: (?:stop|abort|kill) thread \d+; the thread belongs to another client or to the program/,
      );
    expect(await watcher.evaluate(GOES_ON)).to.deep.equal(["=> :ON"]);
  });

  it("stops another client's evaluation in the debugger of that client", async () => {
    const agent = await McpStdio.start(attachedTo(image, "--approval", "off")());
    // Each request has a thread named "worker" for a moment.
    const code = '(setf (sb-thread:thread-name sb-thread:*current-thread*) "sleeper") (list (sleep 3600))';
    const evaluation = watcher.startCall("evaluate-lisp", { code, timeout: 3600 });
    const id = await running(agent, "sleeper");
    const [text, advice] = await act(agent, id, "stop");
    expect(text).to.match(/^; Thread \d+\/1 stopped in agent "test" \(Swank connection \d+\)$/);
    expect(advice).to.equal(`To look at it, call debugger_frames with thread "${id}/1".`);
    expect(JSON.stringify((await agent.call("debugger_frames", { thread: `${id}/1` })).structuredContent)).to.include(
      "frames",
    );
    watcher.cancel(evaluation.id);
    evaluation.result.catch(() => undefined);
    await agent.close();
  });
});
