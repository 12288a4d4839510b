import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { killedClient } from "./killed-client.js";
import { liveClient } from "./live-image.js";

/**
 * Objects that stay, and threads that allocate all kinds of objects, 16 together some 300,000 a second. Each counts its turns. Without their
 * pauses, a full collection waits up to half a minute for its turn.
 */
const PROGRAM = `
(defstruct item number next)
(defclass thing () ((content :initarg :content)))
(defvar *items* (loop for n below 1000000 collect (make-item :number n)))
(defvar *stop* nil)
(defvar *turns* (make-array 16 :initial-element 0))
(defun work (index)
  (let ((kept '()))
    (loop until *stop*
          do (dotimes (n 50)
               (push (ecase (mod index 4)
                       (0 (make-item :number n))
                       (1 (make-instance 'thing :content (list n)))
                       (2 (make-array (random 2000) :initial-element n))
                       (3 (let ((table (make-hash-table :test 'equal))) (setf (gethash (format nil "~d" n) table) table) (lambda () table))))
                     kept))
             (when (zerop (mod (incf (aref *turns* index)) 4)) (setf kept '()))
             (sleep 0.002))))
(defvar *workers* (loop for n below 16 collect (let ((n n)) (sb-thread:make-thread (lambda () (work n)) :name "heap worker"))))
nil`;

/** True if the image collects garbage, no thread keeps it from that, and all workers go on. */
const SOUND = `
(cl:let ((before (cl:copy-seq cl-user::*turns*)))
  (sb-ext:gc)
  (cl:loop :until (cl:every (cl:quote cl:/=) before cl-user::*turns*) :do (cl:sleep 0.05))
  (cl:and (cl:notany (cl:lambda (thread) (sb-thread:symbol-value-in-thread 'sb-kernel:*gc-inhibit* thread cl:nil))
                     (cl:remove sb-thread:*current-thread* (sb-thread:list-all-threads)))
          (cl:every (cl:quote sb-thread:thread-alive-p) cl-user::*workers*)))`;

async function untilSound(ask: (form: string) => Promise<string>): Promise<void> {
  while ((await ask(SOUND)) !== "T") await pause(50);
}

describe("client.program.heap with 1,000,000 objects and 16 threads that allocate", function () {
  this.timeout(600_000);
  const image = liveClient();

  before(async () => {
    const first = await image.connect();
    await first.eval(PROGRAM);
    await first.close();
  });

  it("counts, compares, and finds instances, while all threads go on", async () => {
    const { heap } = image.client.program;
    for (const collect of [true, false, false, false]) {
      const summary = await heap.summary({ collect, limit: 1000 });
      expect(summary).to.include({ complete: true, collected: collect ? "yes" : "no" });
      expect(summary.types.find(({ name }) => name === "ITEM")?.count).to.be.at.least(1_000_000);
      expect((await heap.growth({ collect, since: summary.id })).complete).to.equal(true);
      const found = await heap.instances("item", { collect, limit: 50 });
      expect(found.count).to.be.at.least(1_000_000);
      expect(found.instances).to.have.length.within(25, 50);
      await untilSound((form) => image.ask(form));
    }
  });

  it("finds the path to one of the objects, without pausing the threads", async () => {
    const [id] = await image.values("(nth 777777 *items*)", { valuesAs: "ids" });
    const path = await image.client.program.heap.path(Number(id));
    if (path.end === "time") return; // on a machine that is too slow
    expect(path).to.include({ end: "found", own: false });
    expect(path.steps.map(({ name }) => name)).to.deep.equal(["variable *ITEMS*", "element 777777"]);
    await untilSound((form) => image.ask(form));
  });

  it("leaves nothing on when a call is cancelled or the client's process is killed", async () => {
    const aborter = new AbortController();
    const [id] = await image.values("(list 1)", { valuesAs: "ids" });
    const search = image.client.program.heap
      .path(Number(id), { signal: aborter.signal })
      .catch((error: unknown) => error);
    await pause(100);
    aborter.abort();
    await search;
    await untilSound((form) => image.ask(form));
    const asks = ["summary()", "summary({ collect: false })", 'instances("item", { limit: 1000 })', "path(id)"];
    for (const [index, ask] of asks.entries()) {
      await killedClient(
        `const evaluation = client.evaluate("(list 1)", { valuesAs: "ids" });
         const id = Number((await evaluation.next()).values[0]);
         await client.program.heap.summary({ type: "fixnum", collect: false });
         client.program.heap.${ask}.catch(() => undefined);
         await new Promise((resume) => setTimeout(resume, ${50 + 60 * index}));
         tell("asked");`,
        { port: image.swank.port },
      );
      await untilSound((form) => image.ask(form));
      await image.untilTidy();
    }
  });

  it("refuses the full collection when more than half of the heap is in use", async () => {
    await image.client.eval(`
      (defvar *ballast* (loop repeat (ceiling (sb-ext:dynamic-space-size) 8000000)
                              collect (make-array 4000000 :element-type '(unsigned-byte 8))))
      nil`);
    expect(await image.client.program.heap.summary()).to.include({ collected: "unsafe", gc: 0, complete: true });
    await image.client.eval("(setf *ballast* nil) (sb-ext:gc :full t) nil");
  });
});
