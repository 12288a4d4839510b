import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { EvaluationError, LispError, type types } from "swank-client";
import { rejection } from "../../support/caught.js";
import { liveClient } from "./live-image.js";
import { aborted, returned, stopped } from "./outcomes.js";
import { testFolder } from "./test-folder.js";

describe("Task", () => {
  const image = liveClient();
  const folder = testFolder();

  async function fileWith(text: string): Promise<string> {
    const file = await folder.write("loaded.lisp", text);
    return file;
  }

  /** The events of a task, as short texts. */
  async function told(task: types.Task): Promise<string[]> {
    const events: string[] = [];
    for await (const event of task) events.push(textOf(event));
    return events;
  }

  function textOf(event: types.TaskEvent): string {
    if (event.type === "output") return `${event.stream}: ${event.text}`;
    return event.type === "progress" ? event.text.replace(/\/.*\//, "") : `stopped: ${event.stop.condition.message}`;
  }

  it("tells its output and progress as they come, and has a typed result", async () => {
    const file = await fileWith('(defun tasks-loaded () 1) (princ "loading") (finish-output)');
    const task = image.client.code.loadSystem({ file });
    const events = await told(task);
    expect(events).to.include("stdout: loading");
    expect(events.filter((event) => /loaded\.lisp/.test(event))).to.have.length.of.at.least(1);
    expect(await task.result()).to.include({ status: "loading", compiled: 1 });
    expect(task).to.include({ isSettled: true, stop: undefined });
    expect(await told(task), "after the end, what no outcome has taken").to.deep.equal([]);
  });

  it("goes on when its stop is resumed in the body of a loop", async () => {
    const file = await fileWith('(restart-case (error "not yet") (go-on () (princ "on"))) (finish-output)');
    const task = image.client.code.loadSystem({ file });
    const events: string[] = [];
    for await (const event of task) {
      if (event.type !== "progress") events.push(textOf(event));
      if (event.type === "stopped") {
        expect(task.stop).to.equal(event.stop);
        await event.stop.frames(0, 1);
        const goOn = event.stop.restarts.find(({ name }) => name === "GO-ON");
        await event.stop.invokeRestart(goOn?.index ?? -1);
      }
    }
    expect(events).to.deep.equal(["stopped: not yet", "stdout: on"]);
    expect(await task.result()).to.include({ status: "loading" });
  });

  it("goes on while a request to resume it is under way, and ends its loops if that fails", async () => {
    const task = image.client.evaluate('(restart-case (error "x") (use (a) a))');
    const failures: unknown[] = [];
    const events: string[] = [];
    for await (const event of task) {
      events.push(textOf(event));
      if (event.type === "stopped")
        event.stop.invokeRestart(0, ["(car 1)"]).catch((error: unknown) => failures.push(error));
    }
    expect(events).to.deep.equal(["stopped: x"]);
    await rejection(task.result(), "EVALUATION_STOPPED");
    expect(failures).to.have.length(1);
    await task.stop?.invokeRestart(0, ["7"]);
    expect((await task.result()).values).to.deep.equal(["7"]);
  });

  it("rejects its result when it stops and nothing resumes it, and has it after it was resumed", async () => {
    const task = image.client.evaluate('(princ "before") (restart-case (error "x") (go-on () 5))');
    const error = await rejection(task.result(), "EVALUATION_STOPPED");
    if (!(error instanceof EvaluationError && error.cause instanceof LispError)) throw error;
    expect(error.message).to.match(/^The code is stopped in thread \d+: SIMPLE-ERROR: x$/);
    expect(error.transcript.stdout).to.equal("before");
    expect(error.cause.report.restarts[0]?.name).to.equal("GO-ON");
    await rejection(task.result(), "EVALUATION_STOPPED");
    expect(await told(task), "while it is stopped").to.deep.equal(["stdout: before", "stopped: x"]);
    await task.stop?.invokeRestart(0);
    expect(await task.result()).to.deep.include({ status: "returned", values: ["5"] });
    expect((await task.result()).values).to.deep.equal(["5"]);
  });

  it("has its outer stop again when an inner one has resumed", async () => {
    const task = image.client.evaluate('(restart-case (error "outer") (go-on () 1))');
    await rejection(task.result(), "EVALUATION_STOPPED");
    const outer = task.stop;
    image.client.connection.send({ type: "emacs-interrupt", thread: outer?.thread ?? -1 });
    while (task.stop === outer) await pause(10);
    await task.stop?.continue();
    await rejection(task.result(), "EVALUATION_STOPPED");
    expect(task.stop).to.equal(outer);
    await outer?.invokeRestart(0);
    expect((await task.result()).values).to.deep.equal(["1"]);
  });

  it("keeps its result pending if a listener of `stop` resumes it at once", async () => {
    image.client.on("stop", (stop) => void stop.invokeRestart(0));
    const task = image.client.evaluate('(list (restart-case (error "x") (go-on () 5)))');
    expect((await task.result()).values).to.deep.equal(["(5)"]);
  });

  it("is ended by its signal, while it prepares, runs or is stopped", async () => {
    const early = image.client.code.runTests("none", { signal: AbortSignal.abort() });
    await rejection(early.result(), "CANCELLED");
    expect(await told(early)).to.deep.equal([]);
    for (const code of ["(loop (sleep 1/100))", '(error "x")']) {
      const cancelling = new AbortController();
      const file = await fileWith(`(princ "in") (finish-output) ${code}`);
      const task = image.client.code.loadSystem({ file }, { signal: cancelling.signal });
      for await (const event of task) if (event.type === "output") break;
      while (code.includes("error") && task.stop === undefined) await pause(10);
      cancelling.abort(new Error("enough"));
      const outcome = await task.next().then((first) => (first.status === "stopped" ? task.next() : first));
      expect(outcome.status).to.equal("aborted");
      expect(await rejection(task.result(), "CANCELLED")).to.have.nested.property("cause.message", "enough");
      expect((await task.soFar())?.status).to.equal("loading");
    }
    const withdrawn = image.client.code.runTests("none");
    await withdrawn.abort();
    await rejection(withdrawn.result(), "REQUEST_ABORTED");
  });

  it("rejects with a LispError, a timeout or the loss of the image", async () => {
    const file = await fileWith('(princ "x") (error "bad ~a" 1)');
    const failing = image.client.code.loadSystem({ file }, { onError: "unwind" });
    expect((await rejection(failing.result(), "LISP_ERROR")).message).to.include("bad 1");
    const slow = image.client.program.profile({ code: "(loop)" }, { timeout: 300, onError: "unwind" });
    await rejection(slow.result(), "EVALUATION_TIMEOUT");
    const stopping = image.client.program.heap.growthOf("(loop)", { timeout: 300 });
    expect((await rejection(stopping.result(), "EVALUATION_STOPPED")).message).to.include("in thread");
    await stopping.abort();
    const lost = image.client.evaluate("(loop (sleep 1/100))");
    const waiting = rejection(lost.result(), "CONNECTION_CLOSED");
    while (!lost.isSent) await pause(10);
    await image.client.connection.close();
    await waiting;
    expect(await told(lost)).to.deep.equal([]);
    await rejection(image.client.code.loadChanges().result(), "CONNECTION_CLOSED");
  });

  it("is listed among the client's evaluations, and runs beside others", async () => {
    await image.client.eval("(defun traced () 1)");
    const task = image.client.program.traceCalls({ seconds: 0.5 }, { functions: ["traced"] });
    expect(image.client.evaluations).to.deep.equal([task]);
    expect(await image.client.eval("(traced)")).to.deep.equal(["1"]);
    expect(await task.result()).to.include({ count: 1, end: "returned" });
    expect(image.client.evaluations).to.deep.equal([]);
  });

  it("passes standard input and output", async () => {
    const output: string[] = [];
    const file = await fileWith("(princ (read-line)) (princ (read-line))");
    const task = image.client.code.loadSystem(
      { file },
      { stdin: "given\n", onRead: () => "asked\n", onOutput: ({ text }) => output.push(text) },
    );
    await task.result();
    expect(output.join("")).to.equal("givenasked");
  });

  it("ends its loops when its signal cannot end the code", async () => {
    await image.client.eval("(defvar cl-user::*tasks-enough* nil)");
    const cancelling = new AbortController();
    const code = "(sb-sys:without-interrupts (loop until (symbol-value 'cl-user::*tasks-enough*)))";
    const task = image.client.evaluate(`(princ "in") (finish-output) ${code}`, { signal: cancelling.signal });
    const events: string[] = [];
    for await (const event of task) {
      events.push(textOf(event));
      setTimeout(() => cancelling.abort(), 200);
    }
    expect(events).to.deep.equal(["stdout: in"]);
    expect((await rejection(task.result(), "CANCELLED")).message).to.include("It could not be ended");
    expect(task.isSettled).to.equal(false);
    expect(await told(task), "a later loop").to.deep.equal(["stdout: in"]);
    await image.client.eval("(setf cl-user::*tasks-enough* t)");
    while (!task.isSettled) await pause(10);
  });

  it("gives each of several loops all output, and a stop to those that see it before it is resumed", async () => {
    const task = image.client.evaluate(`
      (princ "a") (finish-output) (cerror "go on" "x")
      (princ "b") (finish-output) (sleep 1/2) (princ "c")`);
    const late = task[Symbol.asyncIterator]();
    const events: string[] = [];
    for await (const event of task) {
      events.push(textOf(event));
      if (event.type === "stopped") await event.stop.continue();
    }
    expect(events).to.deep.equal(["stdout: a", "stopped: x", "stdout: b", "stdout: c"]);
    const others: string[] = [];
    for await (const event of late) others.push(textOf(event));
    expect(others).to.deep.equal(["stdout: a", "stdout: b", "stdout: c"]);
  });

  it("gives a loop no stop that is being resumed, unless that fails", async () => {
    const task = image.client.evaluate('(restart-case (error "x") (use (a) a))');
    while (task.stop === undefined) await pause(10);
    const { stop } = task;
    const failing = rejection(stop.invokeRestart(0, ["(progn (sleep 1/2) (car 1))"]), "INVALID_ARGUMENT");
    const seen: boolean[] = [];
    for await (const event of task) {
      if (event.type !== "stopped") continue;
      expect(event.stop).to.equal(stop);
      seen.push(event.stop.isLeaving);
      if (seen.length === 1) await event.stop.invokeRestart(0, ["7"]);
    }
    await failing;
    expect(seen).to.deep.equal([false]);
    expect((await task.result()).values).to.deep.equal(["7"]);
    const resumed = image.client.evaluate('(restart-case (error "x") (use (a) a))');
    while (resumed.stop === undefined) await pause(10);
    void resumed.stop.invokeRestart(0, ["(progn (sleep 1/2) 8)"]);
    expect(await told(resumed)).to.deep.equal([]);
    expect((await resumed.result()).values).to.deep.equal(["8"]);
  });

  it("ends a pending `next` of a loop that has been left", async () => {
    const task = image.client.evaluate("(loop (sleep 1/100))");
    const events = task[Symbol.asyncIterator]();
    const others = task[Symbol.asyncIterator]();
    const pending = events.next();
    const other = others.next();
    await events.return?.();
    expect(await pending).to.deep.equal({ done: true, value: undefined });
    expect(await Promise.race([other, pause(100, "pending")])).to.equal("pending");
    await task.abort();
    expect(await other).to.deep.equal({ done: true, value: undefined });
  });

  it("gives 100,000 events that wait to be read, in their order", async () => {
    const task = image.client.evaluate(
      `(dotimes (i 50000)
         (format t "~d " i) (finish-output)
         (format *error-output* "~d " i) (finish-output *error-output*))`,
      { outputLimit: Number.POSITIVE_INFINITY },
    );
    const events = task[Symbol.asyncIterator]();
    while (!task.isSettled) await pause(10);
    const texts = { stdout: "", stderr: "" };
    let count = 0;
    for await (const event of events) {
      count += 1;
      if (event.type === "output") texts[event.stream] += event.text;
    }
    const numbers = [...Array(50_000).keys()].map((number) => `${number} `).join("");
    expect(texts.stdout === numbers && texts.stderr === numbers).to.equal(true);
    expect(count).to.be.above(90_000);
  });

  it("leaves the output to the next outcome when its result rejects", async () => {
    const stopped = image.client.evaluate('(princ "before") (restart-case (error "x") (go-on () 5))');
    for (let time = 0; time < 2; time += 1) {
      const error = await rejection(stopped.result(), "EVALUATION_STOPPED");
      expect(error).to.have.nested.property("transcript.stdout", "before");
    }
    expect(await told(stopped)).to.deep.equal(["stdout: before", "stopped: x"]);
    expect(await stopped.next()).to.include({ status: "stopped", stdout: "before" });
    await stopped.abort();
    const failed = image.client.evaluate('(princ "before") (error "x")', { onError: "unwind" });
    for (let time = 0; time < 2; time += 1) {
      expect(await rejection(failed.result(), "LISP_ERROR")).to.have.nested.property("transcript.stdout", "before");
    }
    expect(await told(failed)).to.deep.equal(["stdout: before"]);
    expect(await failed.next()).to.include({ status: "aborted", stdout: "before" });
  });

  it("rejects `next` if its signal is aborted while it prepares, because its code never ran", async () => {
    const cancelling = new AbortController();
    const task = image.client.program.heap.growthOf("(princ 1)", { signal: cancelling.signal });
    const outcome = rejection(task.next(), "CANCELLED");
    cancelling.abort(new Error("enough"));
    expect(await outcome).to.have.nested.property("cause.message", "enough");
    await rejection(task.result(), "CANCELLED");
    expect(task.isSent).to.equal(false);
  });

  it("measures the growth of the heap once, when its code has returned", async () => {
    await image.client.eval("(progn (defstruct tasks-kept slot) (defvar *tasks-kept* nil))");
    const more = "(dotimes (i 1000) (push (make-tasks-kept) *tasks-kept*))";
    const cancelling = new AbortController();
    const task = image.client.program.heap.growthOf(more, { type: "tasks-kept", signal: cancelling.signal });
    while (!task.isSettled) await pause(10);
    await image.client.eval("(sleep 1)");
    await image.client.eval(more);
    const { growth } = await task.result();
    expect(growth.objects).to.equal(1000);
    cancelling.abort();
    expect((await task.result()).growth).to.equal(growth);
  });

  it("rejects with the output if the growth of the heap cannot be measured", async () => {
    const cancelling = new AbortController();
    const task = image.client.program.heap.growthOf('(princ "done")', { signal: cancelling.signal });
    while (!task.isSettled) await pause(0);
    cancelling.abort();
    const error = await rejection(task.result(), "CANCELLED");
    expect(error).to.be.instanceOf(EvaluationError).with.nested.property("transcript.stdout", "done");
  });
});

const reason = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no rejection",
    (error: unknown) => error,
  );

describe("Evaluation.next", () => {
  const image = liveClient();

  it("times out, and can be called again", async () => {
    const evaluation = image.client.evaluate("(read-line *standard-input* nil) (sleep 0.2) :slept");
    expect(await reason(evaluation.next({ timeout: 1 }))).to.include({ code: "WAIT_TIMEOUT" });
    expect(await reason(evaluation.next({ timeout: 0 }))).to.include({ code: "WAIT_TIMEOUT" });
    expect(evaluation.isSettled).to.equal(false);
    expect(returned(await evaluation.next()).values).to.deep.equal([":SLEPT"]);
  });

  it("accepts any number as timeout", async () => {
    for (const timeout of [Number.POSITIVE_INFINITY, 2 ** 31, 1e12])
      expect(returned(await image.client.evaluate("(sleep 0.05) 1").next({ timeout })).values).to.deep.equal(["1"]);
  });

  it("ends with the signal's reason when its signal is aborted, before or during the wait", async () => {
    const evaluation = image.client.evaluate("(sleep 0.2) :slept");
    const controller = new AbortController();
    const waiting = reason(evaluation.next({ signal: controller.signal }));
    const why = new Error("enough");
    controller.abort(why);
    expect(await waiting).to.include({ code: "CANCELLED", cause: why });
    expect(await reason(evaluation.next({ signal: controller.signal }))).to.include({ code: "CANCELLED" });
    expect(returned(await evaluation.next({ signal: new AbortController().signal })).values).to.deep.equal([":SLEPT"]);
  });

  it("returns an available outcome, whatever the timeout and the signal", async () => {
    const evaluation = image.client.evaluate("1");
    while (!evaluation.isSettled) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(returned(await evaluation.next({ timeout: 0, signal: AbortSignal.abort() })).values).to.deep.equal(["1"]);
  });

  it("returns the same outcome and output to all callers", async () => {
    const evaluation = image.client.evaluate('(princ "out") (cerror "go on" "stop") (princ "more") 1');
    const stops = (await Promise.all([evaluation.next(), evaluation.next(), evaluation.next()])).map(stopped);
    for (const stop of stops) expect(stop).to.include({ stdout: "out", stop: stops[0]?.stop });
    const ends = Promise.all([evaluation.next(), evaluation.next()]);
    await stops[0]?.stop.invokeRestart(0);
    for (const end of await ends) expect(returned(end)).to.include({ stdout: "more" });
    expect(await evaluation.next()).to.include({ stdout: "" });
  });

  it("leaves no timers or listeners behind", async () => {
    const evaluation = image.client.evaluate("(loop)");
    const { signal } = new AbortController();
    for (let round = 0; round < 50; round += 1) await reason(evaluation.next({ timeout: 0, signal }));
    aborted(await evaluation.abort());
  });

  it("gives the reason for code that was never run", async () => {
    const bad: unknown = 5;
    const codes = [
      { code: "1", options: { outputLimit: -1 } },
      { code: "1", options: { valueLimit: -1 } },
      { code: "1", options: { outputLimit: Number.NaN } },
    ];
    for (const { code, options } of codes) {
      const evaluation = image.client.evaluate(code, options);
      expect(await reason(evaluation.next())).to.include({ code: "INVALID_ARGUMENT" });
      expect(await reason(evaluation.abort())).to.include({ code: "INVALID_ARGUMENT" });
      expect(await evaluation.interrupt()).to.equal(false);
    }
    expect(await reason(Reflect.apply(image.client.evaluate, image.client, [bad]).next())).to.include({
      code: "INVALID_ARGUMENT",
    });
  });
});
