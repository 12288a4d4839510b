import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { SwankClient, types } from "swank-client";
import { rejection } from "../../support/caught.js";
import { killedClient } from "./killed-client.js";
import { liveClient, liveImage } from "./live-image.js";
import { values } from "./outcomes.js";

const PROGRAM = `
(defpackage :shop (:use :cl))
(in-package :shop)
(defstruct order number note next)
(defstruct (rush-order (:include order)))
(defclass basket () ((items :initarg :items) (owner :initform nil)))
(defvar *orders* (loop for n below 1000 collect (make-order :number n)))
(defvar *baskets* (loop repeat 100 collect (make-instance 'basket :items (make-rush-order :number 1))))
(defvar *log* '())
(defun leak (count) (loop repeat count do (push (make-order :note (make-array 10)) *log*)) count)
(in-package :cl-user)
nil`;

/** The id of the value of code, which the program itself does not keep. */
async function idOf(client: SwankClient, code: string): Promise<number> {
  const [id] = await values(client, code, { valuesAs: "ids" });
  return Number(id);
}

/** The names of the steps of a path. */
function names({ steps }: types.HeapPath): string[] {
  return steps.map(({ name }) => name);
}

/** Objects with one way to each, by how it is reached: code that makes it, code for it, and the names of the steps. */
const WAYS: Readonly<Record<string, readonly [setup: string, object: string, steps: readonly string[]]>> = {
  "a variable": ["(defvar *way-1* (list 1))", "*way-1*", ["variable *WAY-1*"]],
  "a list": ["(defvar *way-2* (list 1 2 (list 3)))", "(third *way-2*)", ["variable *WAY-2*", "element 2"]],
  "the tail of a list": ["(defvar *way-3* (list 1 2 3))", "(cddr *way-3*)", ["variable *WAY-3*", "tail 2"]],
  "a vector": ["(defvar *way-4* (vector 1 (list 2)))", "(aref *way-4* 1)", ["variable *WAY-4*", "element 1"]],
  "an array": [
    "(defvar *way-5* (make-array '(2 2) :initial-element nil)) (setf (aref *way-5* 1 0) (list 1))",
    "(aref *way-5* 1 0)",
    ["variable *WAY-5*", "element 2"],
  ],
  "a vector with a fill pointer": [
    "(defvar *way-6* (make-array 5 :fill-pointer 0)) (vector-push (list 1) *way-6*)",
    "(aref *way-6* 0)",
    ["variable *WAY-6*", "element 0"],
  ],
  "the value of a hash table": [
    '(defvar *way-7* (make-hash-table :test \'equal)) (setf (gethash "bob" *way-7*) (list 1))',
    '(gethash "bob" *way-7*)',
    ["variable *WAY-7*", 'value of "bob"'],
  ],
  "the key of a hash table": [
    "(defvar *way-8* (make-hash-table)) (setf (gethash (list 1) *way-8*) 2)",
    "(loop for key being the hash-keys of *way-8* return key)",
    ["variable *WAY-8*", "key"],
  ],
  "a structure": [
    "(defvar *way-9* (shop::make-rush-order :note (list 1)))",
    "(shop::order-note *way-9*)",
    ["variable *WAY-9*", "SHOP::NOTE"],
  ],
  "an instance": [
    "(defvar *way-10* (make-instance 'shop::basket :items (list 1)))",
    "(slot-value *way-10* 'shop::items)",
    ["variable *WAY-10*", "SHOP::ITEMS"],
  ],
  "a closed-over variable": [
    "(let ((kept (list 1))) (defun way-11 () (push 2 kept)))",
    "(way-11)",
    ["function WAY-11", "variable 0"],
  ],
  "a constant of a function": [
    "(defun way-12 () (load-time-value (list 1)))",
    "(way-12)",
    ["function WAY-12", "constant N of its code"],
  ],
  "a property list": [
    "(setf (get 'way-13 'prop) (list 1))",
    "(get 'way-13 'prop)",
    ["property list of WAY-13", "element 1"],
  ],
  "a class": [
    "(defclass way-14 () ((shared :allocation :class :initform (list 1)))) (sb-mop:finalize-inheritance (find-class 'way-14))",
    "(slot-value (make-instance 'way-14) 'shared)",
    [],
  ],
  "the value of a weak table whose key lives": [
    "(defvar *way-15* (make-hash-table :weakness :key)) (setf (gethash *way-10* *way-15*) (list 1))",
    "(gethash *way-10* *way-15*)",
    ["variable *WAY-15*", "value of #<SHOP::BASKET {N}>"],
  ],
};

describe("client.program.heap", function () {
  this.timeout(300_000);
  const image = liveImage();
  let client: SwankClient;

  before(async () => {
    const first = await image.connect();
    await first.eval(PROGRAM);
    for (const [setup] of Object.values(WAYS)) await first.eval(`${setup} nil`);
    await first.close();
  });
  beforeEach(async () => {
    client = await image.connect();
  });

  it("counts what lives by type, with the vectors of slots", async () => {
    const summary = await client.program.heap.summary({ limit: 1000 });
    expect(summary).to.include({ collected: "yes", complete: true });
    expect(summary.used).to.be.lessThan(summary.size);
    const counts = new Map(summary.types.map((type) => [type.name, type]));
    // with that of *way-10*
    expect(counts.get("SHOP::BASKET")).to.deep.equal({ name: "SHOP::BASKET", count: 101, bytes: 101 * 48 });
    expect(counts.get("CONS")?.count).to.be.greaterThan(1000);
    expect(counts.get("SIMPLE-VECTOR")?.count).to.be.greaterThan(1000);
    const sizes = summary.types.map(({ bytes }) => bytes);
    expect(sizes).to.deep.equal([...sizes].sort((one, other) => other - one));
  });

  it("counts only objects of a type, with its subtypes", async () => {
    const { types, objects } = await client.program.heap.summary({ type: "shop::order" });
    expect(types.map(({ name }) => name).sort()).to.deep.equal(["SHOP::ORDER", "SHOP::RUSH-ORDER"]);
    expect(objects).to.equal(types.reduce((sum, { count }) => sum + count, 0));
    const { types: vectors } = await client.program.heap.summary({ type: "(array double-float)", collect: false });
    for (const { name } of vectors) expect(name).to.include("DOUBLE-FLOAT");
  });

  it("leaves out the prototypes of classes", async () => {
    const setup = `(progn (defclass plain () (a)) (defstruct record a) (define-condition odd-one (error) ())
      (defclass callable (sb-mop:funcallable-standard-object) () (:metaclass sb-mop:funcallable-standard-class))
      (defvar *made* (list (make-instance 'plain) (make-record) (make-condition 'odd-one) (make-instance 'callable)))
      (dolist (name '(plain record odd-one callable) t)
        (let ((class (find-class name))) (sb-mop:class-prototype class))))`;
    await values(client, setup);
    for (const type of ["plain", "record", "odd-one", "callable"]) {
      const { count, instances } = await client.program.heap.instances(type, { limit: 10, collect: true });
      expect([count, instances.length], type).to.deep.equal([1, 1]);
    }
  });

  it("finds instances, with ids that inspectObject takes and that keep nothing alive", async () => {
    const found = await client.program.heap.instances("shop::basket", { limit: 10 });
    expect(found).to.include({ type: "SHOP::BASKET", count: 101, bytes: 101 * 48, every: 10 });
    expect(found.instances).to.have.length(10);
    const view = await client.program.inspectObject(found.instances[0]?.id ?? 0);
    expect(view.kind).to.equal("instance of class SHOP::BASKET");
    expect((await client.program.heap.path(found.instances[9]?.id ?? 0)).end).to.equal("found");
    const { count, instances } = await client.program.heap.instances("(and shop::order (not shop::rush-order))", {
      limit: 1,
    });
    expect(count).to.equal(1000);
    expect(instances).to.have.length(1);
  });

  for (const [way, [, object, steps]] of Object.entries(WAYS))
    it(`finds the path through ${way}, with expressions that return its objects`, async () => {
      const path = await client.program.heap.path(await idOf(client, object));
      expect(path).to.include({ end: "found", own: false, left: 0 });
      if (steps.length > 0) {
        const found = names(path).map((name) => name.replace(/\{\w+\}/, "{N}").replace(/constant \d+/, "constant N"));
        expect(found).to.deep.equal(steps);
      }
      for (const { id, expression } of path.steps)
        expect(await client.eval(`(eq ${expression} (swank-objects:ref ${id}))`), expression).to.deep.equal(["T"]);
    });

  it("finds the variable that a thread has bound", async () => {
    await client.eval(`
      (defvar *job* nil)
      (defvar *ready* (sb-thread:make-semaphore))
      (defvar *go-on* (sb-thread:make-semaphore))
      (defvar *pointer* nil)
      (sb-thread:make-thread (lambda ()
        (let ((*job* (vector (list :a) (list :b))))
          (setf *pointer* (sb-ext:make-weak-pointer (aref *job* 1)))
          (sb-thread:signal-semaphore *ready*)
          (sb-thread:wait-on-semaphore *go-on*)))
        :name "worker bee")
      (sb-thread:wait-on-semaphore *ready*)
      nil`);
    const path = await client.program.heap.path(await idOf(client, "(sb-ext:weak-pointer-value *pointer*)"));
    expect(path).to.include({ end: "found", own: false });
    expect(names(path)[0]).to.match(/^variable \*JOB\* in thread \d+ "worker bee"$/);
    expect(names(path)[1]).to.equal("element 1");
    const last = path.steps[1];
    expect(await client.eval(`(eq ${last?.expression} (swank-objects:ref ${last?.id}))`)).to.deep.equal(["T"]);
    await client.eval("(sb-thread:signal-semaphore *go-on*) nil");
  });

  it("shows the first and last steps of a long path", async () => {
    await client.eval(`
      (defvar *chain* nil)
      (dotimes (n 5000) (setf *chain* (shop::make-order :number n :next *chain*)))
      nil`);
    const path = await client.program.heap.path(
      await idOf(
        client,
        "(loop for order = *chain* then (shop::order-next order) while (shop::order-next order) finally (return order))",
      ),
    );
    expect(path.steps).to.have.length(24);
    expect(path.left).to.equal(5000 - 24);
    const last = path.steps[23];
    expect(await client.eval(`(eq ${last?.expression} (swank-objects:ref ${last?.id}))`)).to.deep.equal(["T"]);
    await client.eval("(setf *chain* nil) nil");
  });

  it("follows no weak pointer, and says when only the toolkit keeps an object", async () => {
    const id = await idOf(
      client,
      "(progn (defvar *weak* nil) (let ((x (list 1))) (setf *weak* (sb-ext:make-weak-pointer x)) x))",
    );
    const path = await client.program.heap.path(id);
    expect(path).to.include({ end: "found", own: true });
    expect(path.steps.map(({ text }) => text).join("\n")).to.match(/#<SWANK-CLIENT\/SESSION\S*:SESSION /);
    const other = await image.connect();
    const seen = await other.program.heap.path(Number(await idOf(other, `(swank-objects:ref ${id})`)));
    expect(seen).to.include({ own: true });
  });

  it("does not find what only a stack keeps", async () => {
    await client.eval(`
      (defvar *held* nil)
      (defvar *let-go* (sb-thread:make-semaphore))
      (defvar *holder* (sb-thread:make-thread (lambda ()
        (let ((object (list :held)))
          (setf *held* (sb-ext:make-weak-pointer object))
          (sb-thread:wait-on-semaphore *let-go*)
          (print object (make-broadcast-stream))))))
      (loop until *held* do (sleep 0.01))
      nil`);
    const run = client.evaluate('(error "~a" (swank-objects:ref 1))');
    const id = Number(
      (
        await client.eval(
          '(let ((object (sb-ext:weak-pointer-value *held*))) (funcall (some (lambda (package) (and (eql 0 (search "SWANK-CLIENT/OBJECTS" (package-name package))) (find-symbol "NUMBER-OF" package))) (list-all-packages)) object))',
        )
      )[0],
    );
    await run.next();
    await run.abort();
    expect(await client.program.heap.path(id)).to.include({ end: "none", own: false });
    await client.eval("(sb-thread:signal-semaphore *let-go*) nil");
  });

  it("refuses unknown types, objects and summaries, and numbers", async () => {
    const { heap } = client.program;
    const refused = async (asked: Promise<unknown>) => (await rejection(asked, "INVALID_ARGUMENT")).message;
    expect(await refused(heap.growth())).to.equal("There is no summary, so there is nothing to compare the heap with.");
    expect(await refused(heap.instances("shop::ordr"))).to.equal("There is no type shop::ordr.");
    await refused(heap.instances("(order"));
    await client.eval("(deftype even () '(and integer (satisfies evenp)))");
    for (const type of ["(satisfies evenp)", "even", "keyword", "boolean", "(string 5)", "(cons integer)"])
      expect(await refused(heap.instances(type))).to.include("classes and tags");
    await refused(heap.summary({ limit: 0 }));
    await rejection(heap.path(999_999_999), "NO_SUCH_OBJECT");
    await refused(heap.path(await idOf(client, "42")));
    expect(await refused(heap.growth({ since: 999_999_999 }))).to.include("Summary 999999999 is not known any more");
  });

  it("counts obsolete instances with their class, and updates none", async () => {
    await client.eval(`
      (defclass relic () ((a :initform 1)))
      (defvar *relics* (loop repeat 10 collect (make-instance 'relic)))
      (defvar *updates* 0)
      (defmethod update-instance-for-redefined-class :before ((relic relic) added discarded plist &key)
        (declare (ignore added discarded plist))
        (incf *updates*))
      (defclass relic () ((a :initform 1) (b :initform (incf *updates*))))
      nil`);
    const { count, instances } = await client.program.heap.instances("relic");
    expect(count).to.equal(10);
    expect(instances[0]?.text).to.equal("#<obsolete RELIC>");
    expect((await client.program.heap.path(instances[0]?.id ?? 0)).end).to.equal("found");
    expect(await client.eval("*updates*")).to.deep.equal(["0"]);
  });
});

/**
 * Objects that stay, and threads that allocate all kinds of objects, 16 together some 300,000 a second. Each counts its turns. Without their
 * pauses, a full collection waits up to half a minute for its turn.
 */
const BUSY_PROGRAM = `
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
    await first.eval(BUSY_PROGRAM);
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
