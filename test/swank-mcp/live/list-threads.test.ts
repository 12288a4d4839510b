import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import {
  ALL_GO_ON,
  BUSY_THREADS,
  type ListedThreads,
  listStacks,
  listThreads,
  listThreadsWhen,
} from "../../support/listed-threads.js";
import { liveServer } from "../../support/live-server.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { startRealSwank } from "../../support/real-swank.js";

/** The text with threads' names for their ids, without times, notices and the number of Swank's threads. */
function named({ text, threads }: ListedThreads): string {
  const names = new Map(threads.map(({ id, name }) => [String(id), name]));
  return text
    .replace(/\n--\n[\s\S]*/, "")
    .replace(
      /^Not listed: \d+ threads of Swank and Lisp \(.*\)\.$/m,
      "Not listed: <n> threads of Swank and Lisp (...).",
    )
    .replace(/, for \d+ s/g, "")
    .replace(/(?<![\w/-])\d+(?![\w-])/g, (number) => (names.has(number) ? `<${names.get(number)}>` : number));
}

const WAITING = `
(defvar *lock* (sb-thread:make-mutex :name "monitor"))
(defvar *orders* (sb-thread:make-waitqueue :name "orders"))
;; newer versions of SBCL list a thread only when it runs
(defun start (name function &aux (begun (sb-thread:make-semaphore)))
  (prog1 (sb-thread:make-thread (lambda () (sb-thread:signal-semaphore begun) (funcall function)) :name name)
    (sb-thread:wait-on-semaphore begun)))
(defvar *taken* (sb-thread:make-semaphore))
(defvar *holder* (start "holder" (lambda () (sb-thread:with-mutex (*lock*) (sb-thread:signal-semaphore *taken*) (sleep 3600)))))
(sb-thread:wait-on-semaphore *taken*)
(start "taker" (lambda () (sb-thread:with-mutex (*lock*) 1)))
(start "waiter" (lambda (&aux (own (sb-thread:make-mutex))) (sb-thread:with-mutex (own) (loop (sb-thread:condition-wait *orders* own)))))
(start "timed" (lambda (&aux (own (sb-thread:make-mutex)))
                 (sb-thread:with-mutex (own) (loop (sb-thread:condition-wait *orders* own :timeout 3600)))))
(start "counter" (lambda () (sb-thread:wait-on-semaphore (sb-thread:make-semaphore :name "permits"))))
(start "joiner" (lambda () (sb-thread:join-thread *holder*)))
(start "reader" (lambda () (read-line (sb-sys:make-fd-stream (sb-posix:pipe) :input t :buffering :full))))
(start "busy" (lambda () (loop)))
(start "closed" (lambda () (sb-sys:without-interrupts (loop))))
(start "failed" (lambda () (error "It failed.")))
(start nil (lambda () (sleep 3600)))
nil`;

const STATES = {
  holder: "sleep",
  taker: "mutex",
  waiter: "queue",
  timed: "queue",
  counter: "queue",
  joiner: "join",
  reader: "input",
  busy: "running",
  failed: "stopped",
};

describe("list-threads", function () {
  this.timeout(180_000);
  const server = liveServer({ each: true });

  it("says what each thread waits for, and leaves the threads of Swank and Lisp out", async () => {
    await server.evaluate(WAITING);
    expectFacts(
      named(await listThreadsWhen(server, STATES)),
      '<>, your code: sleeping\n<busy> busy, your code: running\n<closed> closed, your code: running\n<counter> counter, your code: waiting on a condition variable or semaphore "permits"; who would wake it is not known\n<failed> failed, your code: stopped as <failed>/1\n<holder> holder, your code: sleeping\n<joiner> joiner, your code: waiting for the end of <holder>\n<reader> reader, your code: waiting for input\n<taker> taker, your code: waiting for MUTEX "monitor" held by <holder>\n<timed> timed, ',
      "No deadlock among mutexes and ends of threads.…Not listed: <n> threads of Swank and Lisp (...).",
    );
  });

  it("shows the innermost frames of threads that can be interrupted, and says of others why not", async () => {
    await server.evaluate(WAITING);
    await listThreadsWhen(server, STATES);
    const { threads, text } = await listStacks(server, 30);
    const framesOf = (name: string) => threads.find((thread) => thread.name === name)?.frames?.join(" ");
    expect(framesOf("taker")).to.include("MUTEX");
    expect(framesOf("waiter")).to.include("CONDITION-WAIT");
    expect(framesOf("counter")).to.include("WAIT-ON-SEMAPHORE");
    expect(framesOf("holder")).to.include("SLEEP");
    expect(framesOf("busy")).to.include("LAMBDA");
    const reasons = threads.flatMap(({ name, unread, whose }) =>
      unread && whose !== "service" ? [[name, unread]] : [],
    );
    expect(Object.fromEntries(reasons)).to.deep.equal({
      timed: "timed-wait",
      closed: "without-interrupts",
      failed: "stopped",
    });
    expect(text).to.match(/^ {2}No frames: it is stopped; debugger_frames shows them$/m);
  });

  it("gives only threads with a name, of any case, and those of Swank if they are asked for", async () => {
    await server.evaluate('(sb-thread:make-thread (lambda () (sleep 3600)) :name "Other") nil');
    expect(named(await listThreadsWhen(server, { Other: "sleep" }, { name: "OTHER" }))).to.equal(
      "<Other> Other, your code: sleeping",
    );
    expect((await listThreads(server, { name: "nobody" })).text).to.equal('No thread has "nobody" in its name.');
    expect((await listThreads(server, { name: "control-" })).text).to.match(/^\d+ control-thread, Swank or Lisp: /);
  });

  it("says that it is not known who ends a deadlock of hand-made locks", async () => {
    await server.evaluate(`
(defvar *a* (sb-thread:make-semaphore :name "a"))
(defvar *b* (sb-thread:make-semaphore :name "b"))
(defvar *spin* (list 1))
(sb-thread:make-thread (lambda () (sb-thread:wait-on-semaphore *b*) (sb-thread:signal-semaphore *a*)) :name "first")
(sb-thread:make-thread (lambda () (sb-thread:wait-on-semaphore *a*) (sb-thread:signal-semaphore *b*)) :name "second")
(sb-thread:make-thread (lambda () (loop while (sb-ext:compare-and-swap (car *spin*) 0 1) do (sb-thread:thread-yield))) :name "spin")
(sb-thread:make-thread (lambda () (loop while (car *spin*) do (sleep 3600))) :name "poll")
nil`);
    const { text } = await listThreadsWhen(server, { first: "queue", second: "queue", poll: "sleep" });
    expect(text).to.match(/ first, your code: .* semaphore "b"; who would wake it is not known$/m);
    expect(text).to.match(/ second, your code: .* semaphore "a"; who would wake it is not known$/m);
    expect(text).to.match(/^No deadlock among mutexes and ends of threads\. Who waits for whom is not known for /m);
  });

  it("gives no time for a wait, also after its stack was read, and the true time of an evaluation", async () => {
    await server.evaluate('(sb-thread:make-thread (lambda () (sleep 3600)) :name "Other") nil');
    const running = server.startCall("evaluate-lisp", { code: "(list (sleep 3600))", timeout: 3600 });
    await listThreadsWhen(server, { Other: "sleep", worker: "sleep" });
    await delay(2100);
    await listStacks(server, 3);
    const { text } = await listThreads(server, {});
    expect(text).to.match(/^\d+ Other, your code: sleeping$/m);
    expect(text).to.match(/^\d+ worker, your evaluation, begun (?:[2-9]|\d\d) s ago: sleeping$/m);
    running.result.catch(() => undefined);
    server.cancel(running.id);
  });

  it("reads the stacks of sixteen busy threads again and again, and all of them go on", async () => {
    await server.evaluate(BUSY_THREADS);
    for (let round = 0; round < 8; round += 1) {
      const { threads } = await listThreads(server, { stacks: 5, name: "busy-" });
      expect(threads).to.have.lengthOf(16);
      expect(threads.filter(({ frames, unread }) => (frames === undefined) === (unread === undefined))).to.deep.equal(
        [],
      );
    }
    expect(await server.evaluate(ALL_GO_ON)).to.deep.equal(["=> 16"]);
  });

  it("answers while other threads collect garbage all the time", async () => {
    await server.evaluate(WAITING);
    await server.evaluate('(dotimes (i 2) (sb-thread:make-thread (lambda () (loop (gc))) :name "collector")) nil');
    await listThreadsWhen(server, STATES);
    for (let round = 0; round < 20; round += 1) await listThreads(server, { stacks: 3 });
    expect((await listThreads(server)).threads.map(({ name }) => name)).to.include.members(Object.keys(STATES));
    expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
  });

  it("says whose code runs, beside another client, and leaves its threads alone when the server is killed", async () => {
    const lisp = await startRealSwank();
    const start = (...args: string[]) => McpStdio.start(["--attach", String(lisp.port), ...args]);
    const [other, watcher, victim] = await Promise.all([start(), start(), start()]);
    lisp.type('(sb-thread:make-thread (lambda () (sleep 3600)) :name "of-program")');
    await other.evaluate('(sb-thread:make-thread (lambda () (sleep 3600)) :name "of-other") nil');
    const running = other.startCall("evaluate-lisp", { code: "(sleep 3600)", timeout: 4000 });
    const own = watcher.startCall("evaluate-lisp", {
      code: '(sb-impl::unix-namestring "/") (sleep 3600)',
      timeout: 4000,
    });
    const { threads } = await listThreadsWhen(watcher, { "of-program": "sleep", "of-other": "sleep" });
    const whose = (wanted: string) => threads.find(({ name }) => name === wanted);
    expect(whose("of-program")).to.include({ whose: "program" });
    expect(whose("of-other")).to.include({ whose: "client" });
    expect(whose("of-other")?.owner).to.match(/^another swank-mcp or swank-client \(Swank connection \d+\)$/);
    await victim.evaluate(BUSY_THREADS);
    const looking = victim.startCall("list-threads", { stacks: 30 });
    looking.result.catch(() => undefined);
    victim.process.kill("SIGKILL");
    await victim.exited;
    expect(await watcher.evaluate(ALL_GO_ON.replaceAll("*rounds*", "cl-user::*rounds*"))).to.deep.equal(["=> 16"]);
    const left = await listThreadsWhen(watcher, { "of-program": "sleep" }, { stacks: 2, name: "of-program" });
    expect(left.text).to.match(/^\d+ of-program, the program: sleeping/);
    for (const call of [running, own]) call.result.catch(() => undefined);
    await Promise.all([other.close(), watcher.close()]);
    await lisp.stop();
  });
});
