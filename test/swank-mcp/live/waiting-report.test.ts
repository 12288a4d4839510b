import { expect } from "chai";
import { liveDebugger } from "../../support/live-server.js";

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
