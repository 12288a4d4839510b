import { expect } from "chai";
import { McpDebugger } from "../../support/mcp-debugger.js";
import { blocks } from "../../support/mcp-results.js";
import { normalized } from "../../support/normalized.js";
import { Snapshots } from "../../support/snapshots.js";

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
  const snapshots = new Snapshots(import.meta.url);
  let lisp: McpDebugger;

  before(async () => {
    lisp = await McpDebugger.start();
    await lisp.evaluate(DEFINITIONS);
  });
  after(() => lisp.close());
  afterEach(() => lisp.abortAll());

  async function heap(args: Record<string, unknown>): Promise<string> {
    return blocks(await lisp.call("heap", args)).join("\n\n");
  }

  it("shows the types with the most bytes, and what it has cost", async () => {
    const text = await heap({ mode: "summary" });
    expect(text).to.match(
      /^[\d,]+ objects of [\d,]+ types, [\d.]+ MB\.\nHeap: [\d.]+ MB of [\d.]+ GB in use\. Walked for [\d.]+ m?s, /,
    );
    expect(text).to.match(/\n +[\d.]+ MB +[\d,]+ {2}CONS\n/);
    snapshots.match("a summary of one type", steady(await heap({ mode: "summary", type: "shop::order" })));
    snapshots.match("a summary with garbage", steady(await heap({ mode: "summary", type: "shop::basket", gc: false })));
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
    snapshots.match("growth", steady(await heap({ mode: "growth", type: "shop::order" })));
    const code = '(progn (print "placing") (shop::place 90))';
    snapshots.match("growth around code", steady(await heap({ mode: "growth", type: "shop::order", code })));
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
    snapshots.match("instances", steady(text));
    const [, id] = /^id (\d+): #<SHOP::BASKET/m.exec(text) ?? [];
    const view = blocks(await lisp.call("inspect-object", { object: Number(id) }))[0];
    expect(view).to.include("instance of class SHOP::BASKET");
  });

  it("shows the path to an object by id or code, and what it cannot see", async () => {
    snapshots.match(
      "a path",
      steady(await heap({ mode: "path", object: "(second (slot-value shop::*basket* 'shop::content))" })),
    );
    snapshots.match(
      "a path through a table",
      steady(await heap({ mode: "path", object: '(gethash "order 8" shop::*orders*)' })),
    );
    const own = await heap({ mode: "path", object: "(list :only :here)" });
    expect(own).to.match(/^Only this toolkit keeps \(:ONLY :HERE\) \(id \d+\): history variables/);
    const none = await lisp.call("inspect-object", { object: "(list 1 2)" });
    const [, id] = /id (\d+)/.exec(blocks(none)[0] ?? "") ?? [];
    expect(await heap({ mode: "path", object: Number(id) })).to.match(/^Only this toolkit keeps/);
  });

  it("refuses arguments that do not belong together, unknown types, and numbers", async () => {
    const refusals: readonly Record<string, unknown>[] = [
      { mode: "instances" },
      { mode: "path" },
      { mode: "summary", code: "1" },
      { mode: "path", object: 1, type: "cons" },
      { mode: "instances", type: "shop::ordr" },
      { mode: "instances", type: "(satisfies evenp)" },
      { mode: "path", object: 999_999_999 },
      { mode: "path", object: "(+ 1 2)" },
      { mode: "growth", code: "(list 1" },
    ];
    for (const args of refusals) {
      const answer = await lisp.call("heap", args);
      expect(answer.isError).to.equal(true);
      snapshots.match(JSON.stringify(args), steady(blocks(answer)[0] ?? ""));
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

  snapshots.testCompleteness();
});
