import { expect } from "chai";
import { decode, launch, lispFunction, type Stop, type types } from "swank-client";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { isBeyondSlynk } from "../../support/usual-server.js";
import { liveClient, liveImage } from "./live-image.js";
import { returned, stopped, values } from "./outcomes.js";

describe("SwankClient", () => {
  const image = liveClient();

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
    const evaluation = image.client.evaluate('(list (restart-case (error "x") (go-on () 1)))');
    {
      await using stop = stopped(await evaluation.next()).stop;
      expect(stop.isLive).to.equal(true);
    }
    expect((await evaluation.next()).status).to.equal("aborted");
    const other = image.client.evaluate('(list (restart-case (error "x") (go-on () 1)))');
    {
      await using stop = stopped(await other.next()).stop;
      await stop.invokeRestart(0);
    }
    expect(await other.next()).to.deep.include({ status: "returned", values: ["(1)"] });
  });

  /** The id of the thread with a name. With newer Swanks, a thread has none when it begins. */
  async function idOf(thread: string): Promise<number> {
    for (;;) {
      const id = (await image.client.run(calls.image.threads)).find(({ name }) => name === thread)?.id;
      if (id !== undefined) return id;
    }
  }

  it("says that a thread of the program runs its code while it is stopped in the debugger of this client, and ends it", async () => {
    const listener = await image.connect({ foreignErrors: "mine" });
    const stops = new Promise<Stop>((resolve) => listener.once("stop", resolve));
    await image.ask('(cl:not (sb-thread:make-thread (cl:lambda () (cl:loop (cl:sleep 1/50))) :name "cc-program"))');
    const thread = await idOf("cc-program");
    await listener.program.stopThread(thread);
    const stop = await stops;
    const described = async () => (await listener.program.threads({ id: thread })).threads[0];
    expect(await described()).to.include({ whose: "program", level: 1 });
    const busy = stop.run(lispFunction({ name: "cl:sleep", encode: () => [1], decode: decode.any }));
    expect((await Promise.all([described(), busy]))[0]).to.include({ whose: "program", level: 1 });
    expect(await listener.program.endThread(thread, "kill")).to.equal("ended");
    await rejection(listener.program.endThread(999_999, "kill"), "NO_SUCH_THREAD");
  });

  it("interrupts a thread that holds the lock of its messages once it has released the lock", async () => {
    await image.values(`(defvar *cc-locked* nil)
       (sb-thread:make-thread
         (lambda ()
           (sb-thread:with-mutex ((swank/sbcl::mailbox.mutex (swank/sbcl::mailbox sb-thread:*current-thread*)))
             (setf *cc-locked* t)
             (loop until (eq *cc-locked* :interrupted))
             (sleep 1/20))
           (loop (sleep 1/50)))
         :name "cc-locker")`);
    const locker = await idOf("cc-locker");
    const stops = new Promise<Stop>((resolve) => image.client.once("stop", resolve));
    image.client.connection.send({ type: "emacs-interrupt", thread: locker });
    await image.values("(setf *cc-locked* :interrupted)");
    await (await stops).abort();
  });

  if (!isBeyondSlynk("Its REPLs are channels."))
    it("interrupts the code in another client's REPL, which stops in the debugger of that client", async () => {
      const emacs = await image.connect();
      await values(emacs, "(defvar *cc-runs* nil)");
      await emacs.run(calls.repl.createRepl);
      const running = emacs.run(calls.repl.listenerEval, "(progn (setf cl-user::*cc-runs* t) (loop (sleep 1/50)))");
      while ((await image.ask("cl-user::*cc-runs*")) !== "T");
      const stops: Stop[] = [];
      image.client.on("stop", (stop) => stops.push(stop));
      const repl = (await image.client.run(calls.image.threads)).find(({ name }) => name === "repl-thread");
      await image.client.program.stopThread(repl?.id ?? -1);
      // its owner, which does not expect it to stop, unwinds it
      expect((await rejection(running, "REQUEST_FAILED")).message).to.include("listener-eval: The thread ");
      expect(await image.client.eval("1")).to.deep.equal(["1"]);
      expect(stops).to.deep.equal([]);
    });

  it("lists threads without changing the list of Emacs's thread browser", async () => {
    await image.client.run(calls.image.listThreads);
    const before = await image.ask("(cl:length swank::*thread-list*)");
    await image.values('(sb-thread:make-thread (lambda () (sleep 100)) :name "cc-sleeper")');
    expect((await image.client.run(calls.image.threads)).some(({ name }) => name === "cc-sleeper")).to.equal(true);
    expect(await image.ask("(cl:length swank::*thread-list*)")).to.equal(before);
  });

  it("onStop calls its listener with current stops, oldest first, then with new ones", async () => {
    const first = image.client.evaluate('(error "first")');
    await first.next();
    const second = image.client.evaluate('(error "second")');
    await second.next();
    const messages: string[] = [];
    const unsubscribe = image.client.onStop((stop) => messages.push(stop.condition.message));
    expect(messages).to.deep.equal(["first", "second"]);
    const third = image.client.evaluate('(error "third")');
    await third.next();
    expect(messages).to.deep.equal(["first", "second", "third"]);
    unsubscribe();
    const fourth = image.client.evaluate('(error "fourth")');
    await fourth.next();
    expect(messages).to.have.length(3);
    for (const evaluation of [first, second, third, fourth]) await evaluation.abort();
  });
});

describe("The events of an evaluation", () => {
  const image = liveClient();

  /** The output among events. */
  async function readAll(events: AsyncIterable<types.TaskEvent>): Promise<string[]> {
    const read: string[] = [];
    for await (const event of events) if (event.type === "output") read.push(`${event.stream}: ${event.text}`);
    return read;
  }

  it("ends at a stop, and begins again where the thread resumes", async () => {
    const evaluation = image.client.evaluate(
      '(princ "one") (restart-case (error "x") (go-on ())) (princ "two" *error-output*) (break) (princ "three")',
    );
    expect(await readAll(evaluation)).to.deep.equal(["stdout: one"]);
    expect(await readAll(evaluation)).to.deep.equal(["stdout: one"]);
    const { stop } = stopped(await evaluation.next());
    expect(await readAll(evaluation), "while it is stopped").to.deep.equal([]);
    await stop.invokeRestart(0);
    expect(await readAll(evaluation)).to.deep.equal(["stderr: two"]);
    // The outcome was not taken.
    await evaluation.stop?.continue();
    expect(await readAll(evaluation)).to.deep.equal(["stdout: three"]);
    expect(returned(await evaluation.next()).output).to.deep.equal([
      { stream: "stderr", text: "two" },
      { stream: "stdout", text: "three" },
    ]);
    expect(await readAll(evaluation)).to.deep.equal([]);
  });

  it("ends whatever ends the evaluation: a timeout, an abort, code that cannot be read, a lost connection", async () => {
    const loop = '(princ "a") (finish-output) (loop (sleep 1/100))';
    const timed = image.client.evaluate(loop, { timeout: 300 });
    expect(await readAll(timed)).to.deep.equal(["stdout: a"]);
    await timed.abort();
    const aborted = image.client.evaluate(loop);
    const events = aborted[Symbol.asyncIterator]();
    await events.next();
    await Promise.all([aborted.abort(), readAll(events)]);
    expect(await readAll(image.client.evaluate("(princ 1"))).to.deep.equal([]);
    expect(await readAll(image.client.evaluate('(princ "x") (car 1)', { onError: "unwind" }))).to.deep.equal([
      "stdout: x",
    ]);
    expect(await readAll(image.client.evaluate("1", { package: "NO-SUCH-PACKAGE" }))).to.deep.equal([]);
    const lost = image.client.evaluate(loop);
    const rest = lost[Symbol.asyncIterator]();
    await rest.next();
    await Promise.all([image.client.close(), readAll(rest)]);
  });

  it("keeps the order in which the code finished the text of both streams", async () => {
    const code = `(defun say (text stream) (write-string text stream) (finish-output stream))
      (write-string "late " *error-output*)
      (dotimes (i 3) (say (format nil "out~d " i) *standard-output*) (say (format nil "err~d " i) *error-output*))
      (write-char #\\x *error-output*) (force-output *error-output*) (write-char #\\y)`;
    const evaluation = image.client.evaluate(code);
    const read = (await readAll(evaluation)).join("").replaceAll(/std(out|err): /g, "");
    expect(read).to.equal("out0 late err0 out1 err1 out2 err2 xy");
    const { output, stdout, stderr } = returned(await evaluation.next());
    expect(output.map(({ text }) => text)).to.deep.equal([
      "out0 ",
      "late err0 ",
      "out1 ",
      "err1 ",
      "out2 ",
      "err2 x",
      "y",
    ]);
    expect([stdout, stderr]).to.deep.equal(["out0 out1 out2 y", "late err0 err1 err2 x"]);
  });

  it("gives every waiting reader an answer", async () => {
    const events = image.client.evaluate('(princ "x")')[Symbol.asyncIterator]();
    const both = await Promise.all([events.next(), events.next()]);
    expect(both).to.deep.equal([
      { done: false, value: { type: "output", stream: "stdout", text: "x" } },
      { done: true, value: undefined },
    ]);
  });
});

describe("Program.state", function () {
  this.timeout(60_000);
  const image = liveImage();

  it("counts memory, threads and other clients", async () => {
    const client = await image.connect();
    const state = await client.program.state();
    expect(state.used).to.be.greaterThan(1_000_000).and.to.be.lessThan(state.size);
    expect(state.size).to.equal(Number(await image.ask("(sb-ext:dynamic-space-size)")));
    expect(state.threads).to.be.greaterThan(2);
    const other = await image.connect();
    const after = await client.program.state();
    expect(after.clients).to.be.greaterThan(state.clients);
    await other.close();
  });
});

describe("AgentActivity.recordedName", function () {
  this.timeout(60_000);
  const image = liveImage();

  it("gives the name of each of two clients with one name, once the image has been told it", async () => {
    const clients = [await image.connect({ agentName: "twin" }), await image.connect({ agentName: "twin" })];
    for (const client of clients) {
      expect(await client.activity.recordedName()).to.equal(undefined);
      await values(client, "1");
    }
    const names = await Promise.all(clients.map((client) => client.activity.recordedName()));
    expect(names).to.deep.equal(["twin", "twin 2"]);
  });

  it("gives none for a client without one", async () => {
    const client = await image.connect();
    await values(client, "1");
    expect(await client.activity.recordedName()).to.equal(undefined);
  });
});
