import { expect } from "chai";
import { liveDebugger } from "../../support/live-server.js";
import { stopName } from "../../support/mcp-debugger.js";

const NEED_A_STOP: readonly [name: string, args: Record<string, unknown>][] = [
  ["debugger_frames", {}],
  ["debugger_frame_locals", { frame: 0 }],
  ["debugger_eval_in_frame", { frame: 0, code: "1" }],
  ["debugger_restarts", {}],
  ["debugger_invoke_restart", { restart: 1 }],
  ["debugger_step", { mode: "into" }],
  ["debugger_continue", {}],
];

describe("debugger tool refusals", () => {
  const lisp = liveDebugger();

  it("NOT_DEBUGGING when nothing is stopped, before and after the launch of an image", async () => {
    for (const when of ["before", "after"]) {
      for (const [name, args] of NEED_A_STOP) {
        const refused = await lisp.refusal(name, args);
        expect(refused, `${name} ${when}`).to.include({ type: "NOT_DEBUGGING", message: "Thread not in debugger" });
        expect(refused.next).to.include("breakpoint_set");
      }
      await lisp.evaluate("1");
    }
  });

  it("NOT_DEBUGGING for a running thread", async () => {
    await lisp.evaluate('(error "x")');
    await lisp.evaluate('(defvar *parked* (sb-thread:make-thread (lambda () (sleep 100)) :name "running"))');
    const [id] = await lisp.evaluate("(swank/backend:thread-id *parked*)");
    const thread = id?.replace("=> ", "") ?? "";
    for (const [name, args] of NEED_A_STOP) {
      const refused = await lisp.refusal(name, { ...args, thread });
      expect(refused, name).to.include({ type: "NOT_DEBUGGING", message: "Thread not in debugger" });
      expect(refused.next).to.match(/Stopped threads: \d+\/1/);
    }
    await lisp.evaluate("(sb-thread:terminate-thread *parked*)");
  });

  it("NO_SUCH_THREAD for a thread that never existed", async () => {
    const stop = stopName(await lisp.evaluate('(error "x")'));
    for (const [name, args] of NEED_A_STOP) {
      const refused = await lisp.refusal(name, { ...args, thread: "99999999" });
      expect(refused, name).to.include({ type: "NO_SUCH_THREAD" });
      expect(refused.next).to.include(stop);
    }
    const { type } = await lisp.refusal("breakpoint_set", { function: "print-object", thread: "99999999" });
    expect(type).to.equal("NO_SUCH_THREAD");
  });

  it("STALE_STOP for an ended stop, and for another level of a stopped thread", async () => {
    const ended = stopName(await lisp.evaluate('(error "x")'));
    await lisp.resume("debugger_invoke_restart", { restart: "ABORT" });
    const live = stopName(await lisp.evaluate('(error "y")'));
    const [thread = ""] = live.split("/");
    for (const [name, args] of NEED_A_STOP) {
      expect(await lisp.refusal(name, { ...args, thread: ended }), name).to.include({ type: "STALE_STOP" });
      const deeper = await lisp.refusal(name, { ...args, thread: `${thread}/2` });
      expect(deeper, name).to.include({ type: "STALE_STOP" });
      expect(deeper.next).to.include(live);
    }
    expect(await lisp.stops()).to.deep.equal([live]);
  });

  it("INVALID_FRAME for unknown frame indexes, without changing the stop", async () => {
    const stop = stopName(await lisp.evaluate('(error "x")'));
    const { total_frames: total } = await lisp.frames({ end: 1 });
    for (const frame of [-1, total, 99_999]) {
      for (const [name, args] of [
        ["debugger_frame_locals", { frame }],
        ["debugger_eval_in_frame", { frame, code: "1" }],
        ["debugger_frames", { start: frame }],
        ["debugger_invoke_restart", { restart: "RESTART-FRAME", values: [String(Math.max(frame, total))] }],
      ] as const) {
        const refused = await lisp.refusal(name, args);
        expect(refused, `${name} ${frame}`).to.include({ type: "INVALID_FRAME", message: "Frame index out of range" });
        expect(refused.next).to.include(`0 to ${total - 1}`);
      }
    }
    const reversed = await lisp.refusal("debugger_frames", { start: 2, end: 1 });
    expect(reversed).to.include({ type: "INVALID_FRAME", message: "Frame index out of range" });
    expect(reversed.next).to.match(/^start 2 is greater than end 1\. The stack has frames 0 to /);
    expect(await lisp.stops()).to.deep.equal([stop]);
  });

  it("NO_SUCH_RESTART for unknown numbers and names, without changing the stop", async () => {
    const stop = stopName(await lisp.evaluate('(error "x")'));
    for (const restart of [0, -1, 3, 99, "99", "NO-SUCH", ""]) {
      const refused = await lisp.refusal("debugger_invoke_restart", { restart });
      expect(refused, String(restart)).to.include({ type: "NO_SUCH_RESTART" });
      expect(refused.next).to.include("1 ABORT, 2 RETRY").and.to.include("debugger_restarts");
    }
    const refused = await lisp.refusal("debugger_continue");
    expect(refused).to.include({ type: "NO_SUCH_RESTART" });
    expect(refused.next).to.include("debugger_restarts");
    expect(await lisp.stops()).to.deep.equal([stop]);
  });

  it("INVALID_RESTART_VALUES for a frame that is not a number", async () => {
    await lisp.evaluate('(error "x")');
    for (const values of [[], ["(+ 1 1)"], ["1", "2"]]) {
      const refused = await lisp.refusal("debugger_invoke_restart", { restart: "RESTART-FRAME", values });
      expect(refused, String(values)).to.include({ type: "INVALID_RESTART_VALUES" });
    }
  });

  it("NO_SUCH_BREAKPOINT for an unknown id", async () => {
    const refused = await lisp.refusal("breakpoint_remove", { id: 4711 });
    expect(refused).to.include({ type: "NO_SUCH_BREAKPOINT" });
    expect(refused.next).to.include("breakpoint_list");
  });

  it("BREAKPOINT_REFUSED where no breakpoint can be set", async () => {
    await lisp.evaluate("(defmacro some-macro (x) x)");
    for (const name of [
      "car",
      "no-such-function",
      "some-macro",
      "if",
      "nosuch:x",
      "(method print-object (nosuch))",
      "5",
    ]) {
      expect(await lisp.refusal("breakpoint_set", { function: name }), name).to.include({ type: "BREAKPOINT_REFUSED" });
    }
    await lisp.evaluate("(defun ours (x) x)");
    expect(await lisp.refusal("breakpoint_set", { function: "ours", condition: "(car" })).to.include({
      type: "BREAKPOINT_REFUSED",
    });
  });

  it("EMPTY_CODE for code without a form", async () => {
    await lisp.evaluate('(error "x")');
    expect(await lisp.refusal("debugger_eval_in_frame", { frame: 0, code: "; nothing" })).to.include({
      type: "EMPTY_CODE",
    });
  });
});
