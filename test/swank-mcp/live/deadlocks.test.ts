import { expect } from "chai";
import { listThreads } from "../../support/listed-threads.js";
import { liveDebugger, liveServer } from "../../support/live-server.js";

/** Code for `count` threads, each of which takes its own lock and then waits for that of the next. */
function circle(count: number): string {
  return `
(let ((locks (loop for i below ${count} collect (sb-thread:make-mutex :name (format nil "lock-~d" i))))
      (ready (sb-thread:make-semaphore)) (go (sb-thread:make-semaphore)))
  (dotimes (i ${count})
    (let ((own (nth i locks)) (next (nth (mod (1+ i) ${count}) locks)))
      (sb-thread:make-thread
       (lambda ()
         (sb-thread:with-mutex (own)
           (sb-thread:signal-semaphore ready)
           (sb-thread:wait-on-semaphore go)
           (sb-thread:with-mutex (next :timeout 3600) :taken)))
       :name (format nil "part-~d-of-${count}" i))))
  (sb-thread:wait-on-semaphore ready :n ${count})
  (sb-thread:signal-semaphore go ${count}))`;
}

describe("list-threads and deadlocks", function () {
  this.timeout(180_000);
  const server = liveServer({ each: true });

  for (const count of [2, 3])
    it(`names a deadlock of ${count} threads first`, async () => {
      await server.evaluate(circle(count));
      for (;;) {
        const listed = await listThreads(server);
        if (listed.deadlocks.length === 0) continue;
        expect(listed.deadlocks).to.have.lengthOf(1);
        const [line = ""] = listed.text.split("\n");
        const ids = listed.threads
          .filter(({ name }) => name.startsWith("part"))
          .sort((a, b) => (a.name < b.name ? -1 : 1));
        const links = ids.map(({ id }, index) => {
          const next = (index + 1) % count;
          return `${id} waits for MUTEX "lock-${next}" held by ${ids[next]?.id}`;
        });
        expect(line.startsWith("DEADLOCK: ")).to.equal(true);
        expect(line.slice(10).split(", ")).to.have.members(links);
        expect(line.slice(10).split(", ")[0]).to.match(new RegExp(`^${Math.min(...ids.map(({ id }) => id))} waits`));
        return;
      }
    });

  it("names first a deadlock in which SBCL has stopped a thread, with those that wait for its locks", async () => {
    await server.evaluate(circle(2).replace(" :timeout 3600", ""));
    for (;;) {
      const { text } = await listThreads(server);
      // The thread is stopped before its stop is known here.
      if (!text.startsWith("DEADLOCK, in which")) continue;
      expect(text).to.match(
        /^DEADLOCK, in which Lisp has stopped thread (\d+)\/1; it keeps its locks\. Still waiting: \d+ part-\d-of-2 for MUTEX "lock-\d"\. Deadlock cycle detected: .*\n\n\d+ part/,
      );
      return;
    }
  });

  it("names a deadlock of a thread that holds a lock and one that joins it", async () => {
    await server.evaluate(`
      (let* ((lock (sb-thread:make-mutex :name "a")) (ready (sb-thread:make-semaphore)) (other nil)
             (first (sb-thread:make-thread (lambda ()
                                             (sb-thread:with-mutex (lock)
                                               (sb-thread:signal-semaphore ready)
                                               (loop until other do (sleep 0.01))
                                               (sb-thread:join-thread other))))))
        (sb-thread:wait-on-semaphore ready)
        (setf other (sb-thread:make-thread (lambda () (sb-thread:with-mutex (lock) 1))))
        (list first))`);
    for (;;) {
      const [line] = (await listThreads(server)).deadlocks;
      if (line === undefined) continue;
      expect(line)
        .to.include("waits for the end of")
        .and.match(/waits for MUTEX "a" held by/);
      return;
    }
  });
});

describe("The report of a timeout", () => {
  const server = liveServer();

  it("names the deadlock that the code is in", async () => {
    await server.evaluate(`
      (defvar *a* (sb-thread:make-mutex :name "a"))
      (defvar *b* (sb-thread:make-mutex :name "b"))
      (defun take (lock) (sb-thread:with-mutex (lock :timeout 3600) 1))
      (defvar *ready* (sb-thread:make-semaphore))
      (defvar *go* (sb-thread:make-semaphore))
      (defvar *other* (sb-thread:make-thread
                        (lambda () (sb-thread:with-mutex (*b*)
                                     (sb-thread:signal-semaphore *ready*) (sb-thread:wait-on-semaphore *go*) (take *a*)))))
      (sb-thread:wait-on-semaphore *ready*)`);
    const code = "(sb-thread:with-mutex (*a*) (sb-thread:signal-semaphore *go*) (list (take *b*)))";
    const [report = ""] = await server.evaluate(code, { timeout: 1 });
    // The thread with the smaller id comes first, which one that is depends on the version of Swank.
    const said = report
      .split("\n")
      .slice(0, 4)
      .join("\n")
      .replace(/^(DEADLOCK: )(.* "a" .*), (.* "b" .*)$/m, "$1$3, $2");
    expect(said.replace(/#<.*>/, "#<...>").replace(/\d+/g, "<n>")).to.equal(
      `[TIMEOUT] TIMEOUT
The thread was waiting for MUTEX "b", held by thread <n>, in frame <n>: (TAKE #<...>)
DEADLOCK: <n> waits for MUTEX "b" held by <n>, <n> waits for MUTEX "a" held by <n>
The evaluation gave no value within <n> s. It was interrupted and is paused in the debugger; it does not resume automatically.`,
    );
    const { deadlocks, text } = await listThreads(server);
    expect(deadlocks).to.have.lengthOf(1);
    expect(text).to.match(
      /^(\d+) worker, your evaluation(?:, begun \d+ s ago)?: stopped as \1\/1(?:, for \d+ s)?; it was waiting for MUTEX "b" held by \d+$/m,
    );
  });
});

const CODE = `
(defvar *lock* (sb-thread:make-mutex :name "monitor"))
(defvar *queue* (sb-thread:make-waitqueue :name "orders"))
(defvar *holder* (sb-thread:make-thread (lambda () (sb-thread:with-mutex (*lock*) (sleep 600))) :name "worker"))
(defun take-lock () (sb-thread:with-mutex (*lock*) 1))
(defun take-order (&aux (own (sb-thread:make-mutex)))
  (sb-thread:with-mutex (own) (sb-thread:condition-wait *queue* own)))
(defun pause () (list (sleep 600)))
(defun finish () (list (sb-thread:join-thread *holder*)))
(defun permit () (list (sb-thread:wait-on-semaphore (sb-thread:make-semaphore :name "permits"))))
(defun spin () (loop))`;

/** The first line of the message after code was interrupted, by the code. */
const WAITS: readonly (readonly [code: string, line: RegExp])[] = [
  [
    "(take-lock)",
    /^The thread was waiting for MUTEX "monitor", held by thread \d+ "worker", in frame \d+: \(TAKE-LOCK\)$/,
  ],
  ["(take-order)", /^The thread was in CONDITION-WAIT on WAITQUEUE "orders", in frame \d+: .*TAKE-ORDER.*$/],
  ["(pause)", /^The thread was sleeping, in frame \d+: \(PAUSE\)$/],
  ["(finish)", /^The thread was waiting for the end of thread \d+ "worker", in frame \d+: \(FINISH\)$/],
  ["(permit)", /^The thread was waiting for SEMAPHORE "permits", in frame \d+: \(PERMIT\)$/],
  ["(spin)", /^The evaluation gave no value within 0\.3 s\. /],
];

describe("A report of an interrupted wait", () => {
  const lisp = liveDebugger({ code: [CODE, "(loop until (sb-thread:mutex-owner *lock*) do (sleep 0.01))"] });

  for (const [code, line] of WAITS)
    it(`says first what ${code} waits for`, async () => {
      const [report = ""] = await lisp.evaluate(code, { timeout: 0.3 });
      expect(report.split("\n")[0]).to.equal("[TIMEOUT] TIMEOUT");
      expect(report.split("\n")[1]).to.match(line);
    });
});
