import { expect } from "chai";
import { calls, launch, type Stop, type SwankClient } from "swank-client";
import { rejection } from "../../support/caught.js";
import { liveImage } from "./live-image.js";
import { stopped, values } from "./outcomes.js";

describe("SwankClient", function () {
  this.timeout(60_000);
  const image = liveImage();
  let lisp: SwankClient;
  beforeEach(async () => {
    lisp = await image.connect();
  });

  it("is closed at the end of an await using block, with its image if it launched one", async () => {
    let exited: Promise<unknown> | undefined;
    let closed: Promise<unknown> | undefined;
    {
      await using client = await launch();
      exited = client.image.exited;
      closed = client.closed;
      await client.eval("1");
    }
    expect(await closed).to.have.property("code", "CONNECTION_CLOSED");
    expect(await exited).to.have.property("code", 0);
  });

  it("has stops that are aborted at the end of an await using block, unless they were resumed", async () => {
    const evaluation = lisp.evaluate('(list (restart-case (error "x") (go-on () 1)))');
    {
      await using stop = stopped(await evaluation.next()).stop;
      expect(stop.isLive).to.equal(true);
    }
    expect((await evaluation.next()).status).to.equal("aborted");
    const other = lisp.evaluate('(list (restart-case (error "x") (go-on () 1)))');
    {
      await using stop = stopped(await other.next()).stop;
      await stop.invokeRestart(0);
    }
    expect(await other.next()).to.deep.include({ status: "returned", values: ["(1)"] });
  });

  /** The id of the thread with a name. With newer Swanks, a thread has none when it begins. */
  async function idOf(thread: string): Promise<number> {
    for (;;) {
      const id = (await lisp.threads()).find(({ name }) => name === thread)?.id;
      if (id !== undefined) return id;
    }
  }

  it("lists the image's threads, and interrupts one by its id", async () => {
    await values(lisp, '(sb-thread:make-thread (lambda () (loop (sleep 1/50))) :name "cc-worker")');
    const worker = await idOf("cc-worker");
    const stops = new Promise<Stop>((resolve) => lisp.once("stop", resolve));
    await lisp.interruptThread(worker);
    const stop = await stops;
    expect(stop.thread).to.equal(worker);
    await stop.abort();
    while ((await lisp.threads()).some(({ name }) => name === "cc-worker"));
  });

  it("ends a thread by its id, running or stopped, and unwinds it", async () => {
    for (const body of ["(loop)", '(error "stopped")', "(sleep 1000)"]) {
      const ended = `(defvar *cc-ended* nil) (setf *cc-ended* nil)
        (sb-thread:make-thread (lambda () (unwind-protect ${body} (setf *cc-ended* t))) :name "cc-doomed") (values)`;
      await values(lisp, ended);
      const isThere = async () => (await lisp.threads()).find(({ name }) => name === "cc-doomed");
      await lisp.killThread(await idOf("cc-doomed"));
      while ((await isThere()) !== undefined);
      expect(await values(lisp, "*cc-ended*")).to.deep.equal(["T"]);
    }
  });

  it("refuses to interrupt or end threads that serve clients, and threads that do not exist", async () => {
    const threads = await lisp.threads();
    const serving = threads.filter(({ name }) => /control-thread|reader-thread|Sentinel/.test(name));
    expect(serving).to.have.length.of.at.least(2);
    for (const { id } of serving)
      expect(await lisp.interruptThread(id ?? -1).catch((error) => error.code)).to.equal("INVALID_ARGUMENT");
    await rejection(lisp.killThread(serving[0]?.id ?? -1), "INVALID_ARGUMENT");
    expect(await lisp.interruptThread(999_999).catch((error) => error.code)).to.equal("NO_SUCH_THREAD");
    await rejection(lisp.killThread(999_999), "NO_SUCH_THREAD");
    expect(await lisp.eval("1")).to.deep.equal(["1"]);
  });

  it("interrupts the code in another client's REPL, which stops in the debugger of that client", async () => {
    const emacs = await image.connect();
    await values(emacs, "(defvar *cc-runs* nil)");
    await emacs.run(calls.createRepl);
    const running = emacs.run(calls.listenerEval, "(progn (setf cl-user::*cc-runs* t) (loop (sleep 1/50)))");
    while ((await image.ask("cl-user::*cc-runs*")) !== "T");
    const stops: Stop[] = [];
    lisp.on("stop", (stop) => stops.push(stop));
    const repl = (await lisp.threads()).find(({ name }) => name === "repl-thread");
    await lisp.interruptThread(repl?.id ?? -1);
    // its owner, which does not expect it to stop, unwinds it
    expect((await rejection(running, "REQUEST_FAILED")).message).to.include("Interrupt from Emacs");
    expect(await lisp.eval("1")).to.deep.equal(["1"]);
    expect(stops).to.deep.equal([]);
  });

  it("lists threads without changing the list of Emacs's thread browser", async () => {
    await lisp.run(calls.listThreads);
    const before = await image.ask("(cl:length swank::*thread-list*)");
    await values(lisp, '(sb-thread:make-thread (lambda () (sleep 100)) :name "cc-sleeper")');
    expect((await lisp.threads()).some(({ name }) => name === "cc-sleeper")).to.equal(true);
    expect(await image.ask("(cl:length swank::*thread-list*)")).to.equal(before);
  });

  it("onStop calls its listener with current stops, oldest first, then with new ones", async () => {
    const first = lisp.evaluate('(error "first")');
    await first.next();
    const second = lisp.evaluate('(error "second")');
    await second.next();
    const messages: string[] = [];
    const unsubscribe = lisp.onStop((stop) => messages.push(stop.condition.message));
    expect(messages).to.deep.equal(["first", "second"]);
    const third = lisp.evaluate('(error "third")');
    await third.next();
    expect(messages).to.deep.equal(["first", "second", "third"]);
    unsubscribe();
    const fourth = lisp.evaluate('(error "fourth")');
    await fourth.next();
    expect(messages).to.have.length(3);
    for (const evaluation of [first, second, third, fourth]) await evaluation.abort();
  });
});

describe("Evaluation.chunks", () => {
  const image = liveImage();

  it("has all output as it arrives, through stops, to the evaluation's end", async () => {
    const lisp = await image.connect();
    const evaluation = lisp.evaluate(
      '(princ "one") (restart-case (error "x") (go-on ())) (princ "two" *error-output*)',
    );
    const reading = (async () => {
      const read: string[] = [];
      for await (const { stream, text } of evaluation.chunks()) read.push(`${stream}: ${text}`);
      return read;
    })();
    await stopped(await evaluation.next()).stop.invokeRestart(0);
    expect(await reading).to.deep.equal(["stdout: one", "stderr: two"]);
  });

  it("ends at once for an evaluation that has ended, and when the reader leaves the loop", async () => {
    const lisp = await image.connect();
    const evaluation = lisp.evaluate("(loop repeat 3 do (princ 1) (finish-output) (sleep 1/10))");
    for await (const { text } of evaluation.chunks()) {
      expect(text).to.match(/^1/);
      break;
    }
    await evaluation.next();
    for await (const chunk of evaluation.chunks()) throw new Error(`There is ${chunk.text}.`);
  });

  it("gives every waiting reader an answer", async () => {
    const lisp = await image.connect();
    const chunks = lisp.evaluate('(princ "x")').chunks();
    const both = await Promise.all([chunks.next(), chunks.next()]);
    expect(both.map(({ done, value }) => [done, value?.text])).to.deep.equal([
      [false, "x"],
      [true, undefined],
    ]);
  });
});
