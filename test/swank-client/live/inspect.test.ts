import { expect } from "chai";
import type { SwankClient, types } from "swank-client";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { freshImage, liveClient } from "./live-image.js";
import { evaluate, stopped, values } from "./outcomes.js";

/** The text of a page, with `[TEXT]` for values and `<TEXT>` for actions. The length of a list, which newer Swanks add, is left out. */
function text({ parts }: types.InspectorPage): string {
  return parts
    .map((part) => (part.kind === "value" ? `[${part.text}]` : part.kind === "action" ? `<${part.text}>` : part.text))
    .join("")
    .replace(/^A proper list of length \d+:/, "A proper list:");
}

/** The index of the value or action with a text on a page. */
function index({ parts }: types.InspectorPage, shown: string): number {
  const part = parts.find((each) => "index" in each && each.text === shown);
  if (part === undefined || !("index" in part)) throw new Error(`The page has no ${shown}.`);
  return part.index;
}

/** Inspects the value with a text among the first parts. */
async function part(inspector: types.Inspector, shown: string): Promise<types.Inspector> {
  return inspector.part(index(await inspector.parts(), shown));
}

/** Makes objects that only `*watched*` refers to, weakly. */
const WEAK = `(defvar *watched* '())
  (defun fresh () (let ((object (make-array 1000))) (push (sb-ext:make-weak-pointer object) *watched*) object))`;

/** The number of these objects that are still there. The stack may keep a few. */
const ALIVE = "(cl:progn (sb-ext:gc :full cl:t) (cl:count-if 'sb-ext:weak-pointer-value cl-user::*watched*))";

describe("Inspector", function () {
  this.timeout(120_000);
  const image = liveClient();

  it("inspects a value, its parts, and their parts", async () => {
    const list = await calls.Inspector.open(image.client.lisp, '(list 1 (list 2 :three) "four")');
    expect(list).to.include({ title: '(1 (2 :THREE) "four")', class: "COMMON-LISP::CONS", parent: undefined });
    expect(text(await list.parts())).to.equal('A proper list:\n0: [1]\n1: [(2 :THREE)]\n2: ["four"]\n');
    const inner = await part(list, "(2 :THREE)");
    expect(inner).to.include({ title: "(2 :THREE)", parent: list });
    const keyword = await part(inner, ":THREE");
    expect(keyword.class).to.equal("COMMON-LISP::SYMBOL");
    expect(await keyword.describe()).to.match(/^:THREE\n\s+\[symbol\]/);
    const line = await list.parts(0, 1);
    expect([text(line), line.end, line.hasMore]).to.deep.equal(["A proper list:\n", 2, true]);
    expect(text(await list.parts(2, 3))).to.equal("0: [1]\n");
  });

  it("reads pages of at most 500 entries, also of a vector that Swank lists lazily", async () => {
    const vector = await calls.Inspector.open(
      image.client.lisp,
      "(coerce (loop for i below 2000 collect (* 10 i)) 'vector)",
    );
    const first = await vector.parts();
    expect(first).to.include({ start: 0, end: 100, hasMore: true });
    const most = await vector.parts(first.end, 100_000);
    expect(most).to.include({ start: 100, end: 600, hasMore: true });
    expect(text(most)).to.match(/^93: \[930\]\n/);
    expect(most.parts.filter(({ kind }) => kind === "value")).to.have.length(500);
    let last = most;
    while (last.hasMore) last = await vector.parts(last.end, last.end + 500);
    expect(text(last)).to.match(/\n1999: \[19990\]\n$/);
    expect(await vector.parts(last.end)).to.include({ end: last.end, hasMore: false });
    expect(await vector.parts(5_000_000)).to.deep.equal({
      parts: [],
      start: 5_000_000,
      end: 5_000_000,
      hasMore: false,
    });
    const list = await calls.Inspector.open(image.client.lisp, "(list 1 2)");
    expect(await list.parts(1000)).to.include({ end: 1000, hasMore: false });
    expect(await list.parts(3, 1)).to.deep.equal({ parts: [], start: 3, end: 3, hasMore: true });
  });

  it("keeps users of one connection, other clients and Emacs's inspector apart", async () => {
    const emacs = await image.connect();
    const shown = await emacs.run(calls.inspecting.initInspector, "(list :emacs 1)");
    const page = shown ?? expect.fail("Nothing was inspected.");
    const [one, two] = await Promise.all([
      calls.Inspector.open(image.client.lisp, "(list :one (list 11))"),
      calls.Inspector.open(image.client.lisp, "(list :two (list 22))"),
    ]);
    const [first, second] = await Promise.all([one.parts(), two.parts()]);
    const inner = await Promise.all([one.part(index(first, "(11)")), two.part(index(second, "(22)"))]);
    expect(inner.map(({ title }) => title)).to.deep.equal(["(11)", "(22)"]);
    expect(text(await one.parts())).to.equal(text(first));
    const value = page.parts.find((each) => each.kind === "value" && each.text === ":EMACS");
    const symbol = await emacs.run(calls.inspecting.inspectNthPart, value?.kind === "value" ? value.index : -1);
    expect(symbol?.title).to.match(/^#<KEYWORD/);
    const back = await emacs.run(calls.inspecting.inspectorPop);
    expect(back?.parts.map((each) => each.text).join("")).to.include(":EMACS");
    await emacs.run(calls.inspecting.quitInspector);
    expect((await one.part(index(first, ":ONE"))).title).to.equal(":ONE");
    const other = await calls.Inspector.open(emacs.lisp, "(list :other)");
    await rejection(other.part(index(first, "(11)") + 1000), "INVALID_ARGUMENT");
  });

  it("does actions, and keeps the indexes of values that the action removes", async () => {
    const code = "(let ((h (make-hash-table))) (setf (gethash :a h) (list 1) (gethash :b h) (list 2)) h)";
    const table = await calls.Inspector.open(image.client.lisp, code);
    const before = await table.parts();
    expect(text(before)).to.include(":A");
    expect(await table.action(index(before, "[remove entry]"))).to.equal(true);
    expect(text(await table.parts()))
      .to.include(":B")
      .and.not.include(":A");
    expect((await table.part(index(before, "(1)"))).title).to.equal("(1)");
    expect(await table.action(index(await table.parts(), "[clear hashtable]"))).to.equal(true);
    expect(text(await table.parts())).to.not.include(":B");
    await rejection(table.action(1000), "INVALID_ARGUMENT");
    await rejection(table.part(1000), "INVALID_ARGUMENT");
    await rejection(table.part(-1), "INVALID_ARGUMENT");
  });

  it("shows changes of the object after refresh", async () => {
    await image.values("(defvar *inspected-list* (list 1 2))");
    const list = await calls.Inspector.open(image.client.lisp, "*inspected-list*");
    await image.values("(setf (second *inspected-list*) :changed)");
    expect(text(await list.parts())).to.not.include(":CHANGED");
    await list.refresh();
    expect(text(await list.parts())).to.include("1: [:CHANGED]");
  });

  it("evaluates in the session, or in the package that is given", async () => {
    await image.values(
      "(defpackage :inspected-a (:use :cl)) (in-package :inspected-a) (defvar *here* :in-a) (list 1 2)",
    );
    expect((await calls.Inspector.open(image.client.lisp, "*here*")).title).to.equal(":IN-A");
    expect((await calls.Inspector.open(image.client.lisp, "*")).title).to.equal("(1 2)");
    expect((await calls.Inspector.open(image.client.lisp, "(list 'x)", { package: "cl-user" })).title).to.equal("(X)");
    await rejection(calls.Inspector.open(image.client.lisp, "1", { package: "no-such-package" }), "NO_SUCH_PACKAGE");
    for (const code of ['(error "no value")', "(list", "1 2", "(car 1)"])
      await rejection(calls.Inspector.open(image.client.lisp, code), "REQUEST_FAILED");
    expect(image.client.stops).to.deep.equal([]);
    const stopping = new AbortController();
    const waiting = calls.Inspector.open(image.client.lisp, "(loop (sleep 1))", { signal: stopping.signal });
    stopping.abort();
    await rejection(waiting, "CANCELLED");
  });

  it("inspects a variable of a stopped frame", async () => {
    const { stop } = stopped(await image.evaluate('(defun inspected (x) (error "at ~a" x)) (inspected (list 1 2))'));
    const { frames } = await stop.frames();
    const local = frames.flatMap(({ locals }) => locals).find(({ name }) => name === "X");
    const list = await calls.Inspector.open(image.client.lisp, `(swank-objects:ref ${local?.objectId})`);
    await stop.abort();
    expect(text(await list.parts())).to.include("1: [2]");
  });

  it("shows objects whose printing or inspection fails", async () => {
    await image.values("(defclass unprintable () ((slot :initform 5)))");
    await image.values('(defmethod print-object ((object unprintable) stream) (error "not printable"))');
    const object = await calls.Inspector.open(image.client.lisp, "(make-instance 'unprintable)");
    expect(object.title).to.match(/error printing|cannot be printed/);
    expect(text(await object.parts())).to.match(/SLOT: \[5\]/);
    const circular = await calls.Inspector.open(image.client.lisp, "(let ((l (list 1 2))) (setf (cddr l) l) l)");
    expect(text(await circular.parts())).to.match(/^A circular list:/);
  });

  it("releases objects when inspectors are closed, the session is reset, or the client disconnects", async () => {
    const other = await image.connect();
    await image.values(WEAK);
    const open = async (client: SwankClient) =>
      Promise.all(Array.from({ length: 20 }, () => calls.Inspector.open(client.lisp, "(cl-user::fresh)")));
    const inspectors = await open(image.client);
    expect(Number(await image.ask(ALIVE))).to.equal(20);
    await Promise.all(inspectors.map((inspector) => inspector.close()));
    expect(Number(await image.ask(ALIVE))).to.be.below(10);
    const [closed] = inspectors;
    expect(closed?.isOpen).to.equal(false);
    for (const call of [closed?.parts(), closed?.part(0), closed?.describe(), closed?.refresh(), closed?.action(0)])
      await rejection(Promise.resolve(call), "INSPECTOR_CLOSED");
    await closed?.close();
    await open(other);
    await other.close();
    while (Number(await image.ask(ALIVE)) >= 10);
    const kept = await open(image.client);
    await image.client.reset();
    expect(kept[0]?.isOpen).to.equal(true);
    await rejection(kept[0]?.parts() ?? Promise.resolve(), "INSPECTOR_CLOSED");
  });

  it("closes at the end of an await using block", async () => {
    let inspector: types.Inspector;
    {
      await using used = await calls.Inspector.open(image.client.lisp, "(list 1)");
      inspector = used;
      expect(inspector.isOpen).to.equal(true);
    }
    await rejection(inspector.parts(), "INSPECTOR_CLOSED");
  });
});

describe("SwankClient.inspect: a lost image", () => {
  const image = freshImage();

  it("makes every method reject with the loss, and close none", async () => {
    const lisp = await image.connect();
    const list = await calls.Inspector.open(lisp.lisp, "(list 1)");
    image.swank.process.kill("SIGKILL");
    const { code } = await lisp.closed;
    expect(code).to.equal("CONNECTION_LOST");
    for (const call of [
      list.parts(),
      list.part(0),
      list.action(0),
      list.describe(),
      list.refresh(),
      calls.Inspector.open(lisp.lisp, "1"),
    ])
      await rejection(call, "CONNECTION_LOST");
    await list.close();
  });
});

/** The id of the value of code. */
async function idOf(client: SwankClient, code: string): Promise<number> {
  const [id] = await values(client, code, { valuesAs: "ids" });
  return Number(id);
}

/** Forgets the last values of a session. */
const FORGET = "(progn (setf * nil ** nil *** nil / nil // nil /// nil) nil) nil nil nil";

describe("Program.inspectObject", function () {
  this.timeout(120_000);
  const image = liveClient();

  it("gives an object the same id each time, in this client and in code", async () => {
    const [first, second] = await image.values("(let ((x (list 1))) (values x x))", { valuesAs: "ids" });
    expect(first).to.equal(second);
    expect(await image.values(`(swank-objects:ref ${first})`)).to.deep.equal(["(1)"]);
  });

  it("takes the ids of variables and values in a stopped frame", async () => {
    await image.evaluate('(defun fail (box) (error "It failed: ~a" box))');
    const { stop } = stopped(await image.evaluate("(fail (list 1 2))"));
    const { locals } = await stop.frameLocals(0);
    expect(await image.client.program.inspectObject(locals[0]?.objectId ?? 0)).to.include({ kind: "list of 2" });
    const { values: ids } = await stop.evaluateInFrame(0, "(reverse box)", { valuesAs: "ids" });
    expect(await image.client.program.inspectObject(Number(ids[0]))).to.include({ text: "(2 1)" });
    await stop.abort();
  });

  it("keeps an object until it is released, the session is reset, or the client disconnects", async () => {
    const [other, owner] = [await image.connect(), await image.connect()];
    await evaluate(owner, WEAK);
    const ids: number[] = [];
    for (const client of [image.client, image.client, other]) ids.push(await idOf(client, "(fresh)"));
    for (const client of [image.client, other]) await evaluate(client, FORGET);
    const alive = async () => Number(await image.ask(ALIVE));
    expect(await alive()).to.equal(3);
    expect(await image.client.program.releaseObject(ids[0] ?? 0)).to.equal(true);
    expect(await image.client.program.releaseObject(ids[0] ?? 0)).to.equal(false);
    await other.close();
    await image.untilTidy();
    expect(await alive()).to.be.at.most(2);
    await image.client.reset();
    expect(await alive()).to.be.at.most(1);
    const error = await rejection(image.client.program.inspectObject(ids[1] ?? 0), "NO_SUCH_OBJECT");
    expect(error.message).to.equal(`There is no object ${ids[1]}.`);
  });

  it("forgets the oldest of very many ids", async () => {
    const id = await idOf(image.client, "(coerce (loop repeat 25000 collect (list 1)) 'vector)");
    const { parts } = await image.client.program.inspectObject(id);
    for (let start = 0; start < 25_000; start += 500)
      await image.client.program.inspectObject(id, { start, count: 500 });
    await rejection(image.client.program.inspectObject(parts[0]?.id ?? 0), "NO_SUCH_OBJECT");
    expect(await image.ask("(cl:< (cl:hash-table-count swank-objects:*lookups*) 20100)")).to.equal("T");
  });

  it("rejects wrong arguments", async () => {
    const { program } = image.client;
    const id = await idOf(image.client, "(list 1)");
    await rejection(program.inspectObject(1.5), "INVALID_ARGUMENT");
    await rejection(program.inspectObject(id, { depth: 9 }), "INVALID_ARGUMENT");
    await rejection(program.inspectObject(id, { count: 5000 }), "INVALID_ARGUMENT");
    await rejection(program.inspectObject(id, { path: [-1] }), "INVALID_ARGUMENT");
    await rejection(program.inspectObject(id, { path: [0, 0] }), "INVALID_ARGUMENT");
    await rejection(program.inspectObject(1e12), "NO_SUCH_OBJECT");
  });
});
