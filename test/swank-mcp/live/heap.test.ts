import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveDebugger } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { normalized } from "../../support/normalized.js";

const DEFINITIONS = `
(defpackage :shop (:use :cl))
(in-package :shop)
(defstruct order number)
(defclass basket () ((content :initarg :content)))
(defvar *orders* (make-hash-table :test 'equal))
(defun place (count) (dotimes (n count count) (setf (gethash (format nil "order ~d" n) *orders*) (make-order :number n))))
(place 30)
(defvar *basket* (make-instance 'basket :content (list 1 (gethash "order 7" *orders*))))
(remhash "order 7" *orders*)
(in-package :cl-user)
nil`;

/** Text without figures that depend on the image and the machine. */
function steady(text: string): string {
  return normalized(text)
    .replace(/[\d.,]+ (?:bytes|kB|MB|GB)/g, "SIZE")
    .replace(/[\d.,]+ (?:us|ms|s)\b/g, "TIME")
    .replace(/Searched [\d,]+ objects/, "Searched N objects")
    .replace(/\bids? \d+/g, "id N")
    .replace(/^Object \d+ is /gm, "Object N is ")
    .replace(/\(swank-objects:ref \d+\)/g, "(swank-objects:ref N)")
    .replace(/^ *([+-]?)SIZE/gm, "$1SIZE");
}

describe("heap", function () {
  this.timeout(240_000);
  const lisp = liveDebugger({ code: DEFINITIONS });

  const heap = async (args: Record<string, unknown>) => blocks(await lisp.call("heap", args)).join("\n\n");

  it("shows the types with the most bytes, and what it has cost", async () => {
    const text = await heap({ mode: "summary" });
    expect(text).to.match(
      /^[\d,]+ objects of [\d,]+ types, [\d.]+ MB\.\nHeap: [\d.]+ MB of [\d.]+ GB in use\. Walked for [\d.]+ m?s, /,
    );
    expect(text).to.match(/\n +[\d.]+ MB +[\d,]+ {2}CONS\n/);
    expectFacts(
      steady(await heap({ mode: "summary", type: "shop::order" })),
      "30 objects of 1 type, SIZE.\nHeap: SIZE of SIZE in use. Walked for TIME, while no garbage was collected, after a full collection that paused all threads for TIME.\n",
      "SIZE           30  SHOP::ORDER\nheap with growth compares with this.",
    );
    expectFacts(
      steady(await heap({ mode: "summary", type: "shop::basket", gc: false })),
      "1 object of 1 type, SIZE.",
      "Garbage counts, too: it was not collected first.",
      "SIZE            1  SHOP::BASKET\n",
    );
  });

  it("says that compiled code is not counted, where that matters", async () => {
    const note = "\nMost compiled code is not counted, and of functions only closures and funcallable objects.";
    expect(await heap({ mode: "summary" })).to.include(note);
    expect(await heap({ mode: "summary", type: "function" })).to.match(/ {2}SB-KERNEL:CLOSURE\n/);
    expect(await heap({ mode: "growth", type: "compiled-function" })).to.include(note);
    expect(await heap({ mode: "instances", type: "function" })).to.include(note);
    expect(await heap({ mode: "instances", type: "shop::basket" })).to.not.include(note);
  });

  it("shows what has grown since the last summary, and around code", async () => {
    await heap({ mode: "summary" });
    await lisp.evaluate("(shop::place 50) nil");
    expectFacts(
      steady(await heap({ mode: "growth", type: "shop::order" })),
      "+21 objects, +SIZE since the summary TIME ago.",
      "+SIZE          +21  SHOP::ORDER (30 before)",
    );
    const code = '(progn (print "placing") (shop::place 90))';
    expectFacts(
      steady(await heap({ mode: "growth", type: "shop::order", code })),
      "+40 objects, +SIZE since the summary TIME ago.\n=> 90\n",
      '+40  SHOP::ORDER (51 before)\n\n[stdout]\n\n"placing"',
    );
    expect(await heap({ mode: "growth", type: "shop::order", code: "(values)" })).to.match(
      /^\+0 objects, \+0 bytes since/,
    );
  });

  it("keeps the debugger, the timeout and the values of the code", async () => {
    const text = await heap({ mode: "growth", type: "shop::order", code: '(progn (shop::place 95) (error "enough"))' });
    expect(text).to.include("[ERROR] SIMPLE-ERROR").and.include("The growth follows when the code returns");
    expect(await heap({ mode: "growth", type: "shop::order" })).to.include("SHOP::ORDER");
    const used = await lisp.call("debugger_invoke_restart", { restart: "ABORT" });
    expect(blocks(used)[0]).to.include("aborted");
    const late = await heap({ mode: "growth", code: "(loop)", timeout: 1 });
    expect(late).to.include("[TIMEOUT]");
  });

  it("lists instances, with ids for path and inspect-object", async () => {
    const text = await heap({ mode: "instances", type: "shop::basket" });
    expectFacts(
      steady(text),
      "1 object of type SHOP::BASKET, SIZE.",
      "Ids:\nid N: #<SHOP::BASKET {<address>}>  ; SIZE",
    );
    const [, id] = /^id (\d+): #<SHOP::BASKET/m.exec(text) ?? [];
    const view = blocks(await lisp.call("inspect-object", { object: Number(id) }))[0];
    expect(view).to.include("instance of class SHOP::BASKET");
  });

  it("lists the largest instances from a size on, and groups those that look alike", async () => {
    await lisp.evaluate(`(in-package :shop)
      (defclass parcel () ((content :initarg :content)))
      (defstruct (roll (:print-function (lambda (roll stream depth) (declare (ignore roll depth)) (write-string "roll" stream)))) (a 0))
      (defvar *rolls* (append (loop repeat 3 collect (make-instance 'parcel)) (loop repeat 4 collect (make-roll))))
      (deftype bytes () '(simple-array (signed-byte 16) (*)))
      (defvar *bytes* (loop for size in '(10 500 200 40000 300 1000) collect (make-array size :element-type '(signed-byte 16))))
      (in-package :cl-user) nil`);
    const large = await heap({ mode: "instances", type: "shop::bytes", bytes: 600 });
    const sizes = [...large.matchAll(/; ([\d.,]+ k?B|\d+ bytes)(?: each)?$/gm)].map(([, size]) => size);
    expect(sizes.slice(0, 3)).to.deep.equal(["80.0 kB", "2.02 kB", "1.02 kB"]);
    expect(large).to.match(/^Ids, the largest first: \d+ of at least 600 bytes\.$/m);
    expect(steady(large)).to.not.include("of one in");
    expectFacts(
      steady(await heap({ mode: "instances", type: "shop::parcel" })).replace(
        /ids? N[ \d]*: #<SHOP::P/,
        "ids ...: #<SHOP::P",
      ),
      "Ids:\n3 look alike, ids ...: #<SHOP::PARCEL>  ; SIZE each",
    );
    expect(await heap({ mode: "instances", type: "shop::roll", bytes: 0 })).to.match(
      /^Ids, the largest first:\n4 look alike, ids \d+ \d+ \d+ \d+: roll {2}; \d+ bytes each$/m,
    );
    await lisp.evaluate(
      '(in-package :shop) (defstruct tag text) (defvar *tags* (list (make-tag :text "{ABCDEF}>") (make-tag :text "{012345}>"))) (in-package :cl-user)',
    );
    expect(await heap({ mode: "instances", type: "shop::tag" })).to.match(
      /^id \d+: #S\(SHOP::TAG :TEXT "\{ABCDEF\}>"\) .*\nid \d+: #S\(SHOP::TAG :TEXT "\{012345\}>"\)/m,
    );
    expect(await heap({ mode: "instances", type: "shop::roll", bytes: 1_000_000 })).to.match(
      /^4 objects of type [\s\S]*0 of at least 1\.0\d? MB\.$/m,
    );
  });

  it("lets go of what only ids and history variables keep", async () => {
    const goneAfter = async (let_go: () => Promise<string>) => {
      const view = blocks(
        await lisp.call("inspect-object", { object: "(defparameter *weak* nil) (list 1 (make-array 1000))" }),
      );
      const [, id] = /id (\d+)/.exec(view[0] ?? "") ?? [];
      await lisp.evaluate(
        `(setf *weak* (sb-ext:make-weak-pointer (swank-objects:ref ${id}))) (list (swank-objects:ref ${id}))`,
      );
      await lisp.evaluate(`(values (swank-objects:ref ${id}) 17)`);
      const kept = await heap({ mode: "path", object: Number(id) });
      expect(kept)
        .to.match(/^Only this toolkit keeps/)
        .and.include("heap with release lets it go.");
      return { id: Number(id), said: await let_go() };
    };
    const isGone = async (id: number) => {
      for (let round = 0; round < 20; round += 1) {
        await lisp.evaluate("(progn (sb-sys:scrub-control-stack) (sb-ext:gc :full t) nil)");
        const [value] = await lisp.evaluate("(null (sb-ext:weak-pointer-value *weak*))");
        if (value === "=> T") return blocks(await lisp.call("inspect-object", { object: id }))[0];
      }
      throw new Error("It is still alive");
    };
    const all = await goneAfter(() => heap({ mode: "release" }));
    expect(all.said).to.match(/^; \d+ objects let go\. Ids stay valid/);
    expect(await isGone(all.id)).to.match(/^Object \d+ is gone: /);
    await heap({ mode: "release" });
    expect(await heap({ mode: "release" })).to.equal("; This session kept no object.");
    await lisp.evaluate("(defvar *held* (vector 1))");
    const held = /id (\d+)/.exec(blocks(await lisp.call("inspect-object", { object: "*held*" }))[0] ?? "")?.[1];
    expect(await heap({ mode: "release", object: Number(held) })).to.equal(
      `; Object ${held} let go. Ids stay valid while the program keeps their objects.`,
    );
    expect(blocks(await lisp.call("inspect-object", { object: Number(held) }))[0]).to.include("vector of 1");
    expect(await heap({ mode: "release", object: Number(held) })).to.equal(
      `; This session did not keep object ${held}.`,
    );
  });

  it("shows the path to an object by id or code, and what it cannot see", async () => {
    expectFacts(
      steady(await heap({ mode: "path", object: "(second (slot-value shop::*basket* 'shop::content))" })),
      "The shortest way from a root to #S(SHOP::ORDER :NUMBER 7) (id N):\nvariable SHOP::*BASKET*: …SHOP::CONTENT: …  ; id N, (slot-value SHOP::*BASKET* 'SHOP::CONTENT)\nelement 1: ",
      "(nth 1 (slot-value SHOP::*BASKET* 'SHOP::CONTENT))\nSearched N objects in TIME",
      "Other references may exist. Stacks, registers and foreign memory are not searched.",
    );
    expectFacts(
      steady(await heap({ mode: "path", code: '(gethash "order 8" shop::*orders*)' })),
      "variable SHOP::*ORDERS*: ",
      'value of "order 8": #S(SHOP::ORDER :NUMBER 8)  ; id N, (gethash "order 8" SHOP::*ORDERS*)',
    );
    const own = await heap({ mode: "path", object: "(list :only :here)" });
    expect(own).to.match(/^Only this toolkit keeps \(:ONLY :HERE\) \(id \d+\): history variables/);
    const none = await lisp.call("inspect-object", { object: "(list 1 2)" });
    const [, id] = /id (\d+)/.exec(blocks(none)[0] ?? "") ?? [];
    expect(await heap({ mode: "path", object: Number(id) })).to.match(/^Only this toolkit keeps/);
  });

  it("refuses arguments that do not belong together, unknown types, and numbers", async () => {
    for (const [args, answer] of [
      [{ mode: "instances" }, "heap: instances needs a type.\nsummary takes type, growth type or code, "],
      [{ mode: "path" }, "heap: path needs an object."],
      [{ mode: "summary", code: "1" }, "heap: summary takes no code."],
      [{ mode: "path", object: 1, code: "*" }, "heap: path takes an object or code, not both."],
      [{ mode: "summary", bytes: 1 }, "heap: summary takes no bytes."],
      [{ mode: "release", object: "*" }, "heap: release takes an id, not code."],
      [{ mode: "path", object: 1, type: "cons" }, "heap: path takes no type."],
      [{ mode: "instances", type: "shop::ordr" }, "There is no type shop::ordr.\nGive a class or another type"],
      [
        { mode: "instances", type: "(satisfies evenp)" },
        "Objects of type (satisfies evenp) cannot be found: Only types",
      ],
      [{ mode: "path", object: 999_999_999 }, "There is no object 999999999.\nInspect the object again"],
      [{ mode: "path", object: "(+ 1 2)" }, "Object N is a number or character, which nothing keeps alive."],
      [{ mode: "growth", code: "(list 1" }, "code, line 1, column 1: the list that begins here never ends"],
    ] as const) {
      const result = await lisp.call("heap", args);
      expect(result.isError).to.equal(true);
      expect(steady(blocks(result)[0] ?? "")).to.include(answer);
    }
  });

  it("measures the growth of as many codes at once as the client asks for", async () => {
    const args = { mode: "growth", code: "(sleep 0.5)", gc: false };
    const answers = await Promise.all(Array.from({ length: 8 }, () => lisp.call("heap", args)));
    expect(answers.map(({ isError }) => isError ?? false)).to.deep.equal(answers.map(() => false));
  });

  it("promises no growth of code that was not read", async () => {
    const answer = await lisp.call("heap", { mode: "growth", code: "(list 1) (nowhere::f)" });
    expect(blocks(answer).join("\n")).to.include("NOWHERE").and.not.include("growth follows");
  });
});
