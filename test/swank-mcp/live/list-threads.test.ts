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

/** Locks made by hand: of structures and instances, with slots that hold threads, a list of them, or none. */
const CIRCLE = `
(defstruct shared (guard (sb-thread:make-mutex)) (changed (sb-thread:make-waitqueue)) (owner nil))
(defvar *shared* (make-shared))
(defvar *journal* (sb-thread:make-mutex :name "journal"))
(defun await (shared)
  (sb-thread:with-mutex ((shared-guard shared))
    (loop while (shared-owner shared) do (sb-thread:condition-wait (shared-changed shared) (shared-guard shared)))))
(let ((owned (sb-thread:make-semaphore)) (noting (sb-thread:make-semaphore)))
  (sb-thread:make-thread
   (lambda ()
     (setf (shared-owner *shared*) sb-thread:*current-thread*)
     (sb-thread:signal-semaphore owned)
     (sb-thread:wait-on-semaphore noting)
     (sb-thread:with-mutex (*journal*)))
   :name "changer")
  (sb-thread:wait-on-semaphore owned)
  (sb-thread:make-thread
   (lambda () (sb-thread:with-mutex (*journal*) (sb-thread:signal-semaphore noting) (await *shared*))) :name "reporter")
  (sb-thread:make-thread (lambda () (await *shared*)) :name "later")
  nil)`;

const HAND_MADE = `
(defvar *reads* 0)
(defstruct guard (mutex (sb-thread:make-mutex)) (changed (sb-thread:make-waitqueue)) writer)
(defclass counting (standard-class) ())
(defmethod sb-mop:validate-superclass ((a counting) (b standard-class)) t)
(defmethod sb-mop:slot-value-using-class :before ((class counting) object slot) (incf *reads*))
(defclass gate () ((readers :initform '()) (mutex :initform (sb-thread:make-mutex)) (changed :initform (sb-thread:make-waitqueue)))
  (:metaclass counting))
(defmethod print-object ((gate gate) stream) (incf *reads*) (sleep 3600))
(defclass pool () ((permits :initform (sb-thread:make-semaphore))))
(defvar *guard* (make-guard))
(defvar *gates* (list (vector (make-instance 'gate))))
(defvar *pool* (make-instance 'pool))
(defvar *lock* (sb-thread:make-mutex))
(defun await-change (queue mutex) (sb-thread:with-mutex (mutex) (loop (sb-thread:condition-wait queue mutex))))
(defun start-reading (guard)
  (sb-thread:with-mutex ((guard-mutex guard)) (loop (sb-thread:condition-wait (guard-changed guard) (guard-mutex guard)))))
(defvar *taken* (sb-thread:make-semaphore))
(defvar *writer*
  (sb-thread:make-thread (lambda () (sb-thread:with-mutex (*lock*) (sb-thread:signal-semaphore *taken*) (sleep 3600))) :name "writer"))
(sb-thread:wait-on-semaphore *taken*)
(setf (guard-writer *guard*) *writer*)
(sb-thread:make-thread (lambda () (start-reading *guard*)) :name "reader")
(let ((own (make-guard)))
  (setf (guard-writer own) (sb-thread:make-thread (lambda () (start-reading own)) :name "again")))
(let* ((gate (aref (first *gates*) 0)) (ended (sb-thread:make-thread (lambda () 1))))
  (sb-thread:join-thread ended)
  (setf (slot-value gate 'readers) (list *writer* ended))
  (sb-thread:make-thread #'await-change :name "listed" :arguments (list (slot-value gate 'changed) (slot-value gate 'mutex))))
(sb-thread:make-thread (lambda () (sb-thread:wait-on-semaphore (slot-value *pool* 'permits))) :name "worker")
(sb-thread:make-thread (lambda () (sb-thread:with-mutex (*lock*) 1)) :name "direct")
(sb-thread:make-thread #'await-change :name "plain" :arguments (list (sb-thread:make-waitqueue) (sb-thread:make-mutex)))
(setf *reads* 0)
nil`;

const STATES = {
  holder: "sleep",
  taker: "mutex",
  waiter: "queue",
  timed: "queue",
  counter: "semaphore",
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
      '<>, your code: sleeping\n<busy> busy, your code: running\n<closed> closed, your code: running\n<counter> counter, your code: waiting for SEMAPHORE "permits"; who would wake it is not known\n<failed> failed, your code: stopped as <failed>/1\n<holder> holder, your code: sleeping\n<joiner> joiner, your code: waiting for the end of <holder>\n<reader> reader, your code: waiting for input\n<taker> taker, your code: waiting for MUTEX "monitor" held by <holder>\n<timed> timed, ',
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

  it("begins with a circle through a lock that the program made by hand", async () => {
    await server.evaluate(CIRCLE);
    const { text, threads } = await listThreadsWhen(server, { changer: "mutex", reporter: "queue", later: "queue" });
    const idOf = (name: string) => threads.find((thread) => thread.name === name)?.id;
    const [first, second, ...others] = text.split("\n");
    const links = [
      `thread ${idOf("changer")} is waiting for MUTEX "journal" held by ${idOf("reporter")}`,
      `thread ${idOf("reporter")} is waiting on a condition variable (slot CHANGED of SHARED (id N), the value of *SHARED*), where thread ${idOf("changer")} is recorded as OWNER`,
    ];
    expect([first?.replace(/id \d+/, "id N"), second]).to.deep.equal([
      `Possible deadlock: ${Number(idOf("changer")) < Number(idOf("reporter")) ? links.join("; ") : links.reverse().join("; ")}.`,
      "",
    ]);
    expect(others.join("\n")).to.not.match(/deadlock/i);
  });

  it("names the objects that hold locks without names, and the threads that they record", async () => {
    await server.evaluate(HAND_MADE);
    const { text, threads } = await listThreadsWhen(server, {
      reader: "queue",
      again: "queue",
      listed: "queue",
      worker: "semaphore",
      direct: "mutex",
      plain: "queue",
    });
    const idOf = (name: string) => threads.find((thread) => thread.name === name)?.id;
    const line = (name: string) => text.split("\n").find((each) => each.startsWith(`${idOf(name)} ${name}, `));
    const place = (slot: string, object: string) => `\\(slot ${slot} of ${object} \\(id \\d+\\)`;
    expect(line("reader")).to.match(
      new RegExp(
        `: waiting on a condition variable ${place("CHANGED", "GUARD")}, the value of \\*GUARD\\*\\); thread ${idOf("writer")} is recorded as WRITER there$`,
      ),
    );
    expect(line("again")).to.match(/; this thread itself is recorded as WRITER there$/);
    expect(line("listed")).to.match(
      new RegExp(
        `${place("CHANGED", "GATE")}, found from \\*GATES\\*\\); thread ${idOf("writer")} is recorded as READERS there, a thread that has ended is recorded as READERS there$`,
      ),
    );
    expect(line("worker")).to.match(
      new RegExp(
        `: waiting for SEMAPHORE ${place("PERMITS", "POOL")}, the value of \\*POOL\\*\\); who would wake it is not known$`,
      ),
    );
    expect(line("direct")).to.match(
      new RegExp(`: waiting for MUTEX \\(the value of \\*LOCK\\*\\) held by ${idOf("writer")}$`),
    );
    expect(line("plain")).to.match(/: waiting on a condition variable or semaphore; who would wake it is not known$/);
    expect(threads.find(({ name }) => name === "reader")?.["recorded"]).to.deep.equal([
      { slot: "WRITER", thread: idOf("writer") },
    ]);
    const stacks = await listStacks(server, 30);
    expect(stacks.text).to.match(
      /^\d+ reader, your code: waiting on a condition variable in START-READING \(slot CHANGED /m,
    );
    expect(await server.evaluate("*reads*")).to.deep.equal(["=> 0"]);
  });

  it("shows equal stacks once, with the state and the time of each thread", async () => {
    await server.evaluate(`
      (defvar *lock* (sb-thread:make-mutex :name "one"))
      (defun take () (sb-thread:with-mutex (*lock*) 1))
      (defvar *taken* (sb-thread:make-semaphore))
      (sb-thread:make-thread (lambda () (sb-thread:with-mutex (*lock*) (sb-thread:signal-semaphore *taken*) (sleep 3600))))
      (sb-thread:wait-on-semaphore *taken*)
      (dotimes (i 8) (sb-thread:make-thread #'take :name (format nil "taker-~d" i)))
      (sb-thread:make-thread (lambda () (sleep 3600)) :name "sleeper") nil`);
    const states = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`taker-${i}`, "mutex"]));
    const running = server.startCall("evaluate-lisp", { code: "(list (take))", timeout: 3600 });
    await listThreadsWhen(server, { ...states, sleeper: "sleep", worker: "mutex" });
    const { text, threads } = await listStacks(server, 5);
    const ids = threads.filter(({ name }) => name.startsWith("taker")).map(({ id }) => id);
    const frames = text.split("\n").filter((each) => /^ {2}.*< TAKE$/.test(each));
    expect(frames).to.have.lengthOf(1);
    const alike = /^8 threads \((?:\d+ taker-\d, ){5}ids \d+ \d+ \d+\), your code: waiting for MUTEX "one" in TAKE/m;
    expect(text).to.match(alike);
    const [line = ""] = alike.exec(text) ?? [];
    expect(line.match(/\d+(?= taker)|(?<=ids .*)\d+/g)?.map(Number)).to.have.members(ids);
    expect(text).to.match(/^\d+ worker, your evaluation(?:, begun \d+ s ago)?: waiting for MUTEX "one" in TAKE/m);
    running.result.catch(() => undefined);
    server.cancel(running.id);
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
    const { text } = await listThreadsWhen(server, { first: "semaphore", second: "semaphore", poll: "sleep" });
    expect(text).to.match(/ first, your code: waiting for SEMAPHORE "b"; who would wake it is not known$/m);
    expect(text).to.match(/ second, your code: waiting for SEMAPHORE "a"; who would wake it is not known$/m);
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
    for (let round = 0; round < 3; round += 1) {
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
    for (let round = 0; round < 8; round += 1) await listThreads(server, { stacks: 3 });
    expect((await listThreads(server)).threads.map(({ name }) => name)).to.include.members(Object.keys(STATES));
    expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
  });

  it("names nothing wrong while threads come, wait for a lock made by hand, and end", async () => {
    await server.evaluate(`
      (defstruct turn (mutex (sb-thread:make-mutex)) (changed (sb-thread:make-waitqueue)) owner (left 0))
      (defvar *turn* (make-turn))
      (defvar *ended* 0)
      (defun take-turn (turn)
        (sb-thread:with-mutex ((turn-mutex turn))
          (loop while (turn-owner turn) do (sb-thread:condition-wait (turn-changed turn) (turn-mutex turn)))
          (setf (turn-owner turn) sb-thread:*current-thread*))
        (make-list 1000)
        (sb-thread:with-mutex ((turn-mutex turn))
          (setf (turn-owner turn) nil)
          (incf *ended*)
          (sb-thread:condition-broadcast (turn-changed turn))))
      (dotimes (i 2)
        (sb-thread:make-thread (lambda () (loop (mapc #'sb-thread:join-thread
          (loop repeat 6 collect (sb-thread:make-thread #'take-turn :name "taker" :arguments (list *turn*))))))
          :name "maker")) nil`);
    for (let round = 0; round < 25; round += 1) {
      const { text } = await listThreads(server, { name: "taker" });
      for (const [, place] of text.matchAll(/ \((slot .*?)\)(?:;| held|$)/gm))
        expect(place).to.match(/^slot (?:MUTEX|CHANGED) of TURN \(id \d+\)(?:, the value of \*TURN\*)?$/);
      for (const [, slot] of text.matchAll(/ is recorded as (\S+) there/g)) expect(slot).to.equal("OWNER");
    }
    await server.evaluate("(let ((before *ended*)) (loop until (> *ended* (+ before 20)) do (sleep 0.01)))");
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
    expect(whose("of-other")?.owner).to.match(/^agent "test(?: \d)?" \(Swank connection \d+\)$/);
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
