import { expect } from "chai";
import type { SwankClient } from "swank-client";
import { rejection } from "../../support/caught.js";
import { liveClient } from "./live-image.js";
import { evaluate, stopped, values } from "./outcomes.js";

/** The id of the value of code. */
async function idOf(client: SwankClient, code: string): Promise<number> {
  const [id] = await values(client, code, { valuesAs: "ids" });
  return Number(id);
}

/** Forgets the last values of a session. */
const FORGET = "(progn (setf * nil ** nil *** nil / nil // nil /// nil) nil) nil nil nil";

/** Makes objects that only `*watched*` refers to, weakly. */
const WEAK = `(defvar *watched* '())
  (defun fresh () (let ((object (make-array 1000))) (push (sb-ext:make-weak-pointer object) *watched*) object))`;

/** The number of these objects that are still there. The stack may keep a few. */
const ALIVE = "(cl:progn (sb-ext:gc :full cl:t) (cl:count-if 'sb-ext:weak-pointer-value cl-user::*watched*))";

describe("Program.inspectObject", function () {
  this.timeout(120_000);
  const image = liveClient();

  it("describes a value with a page of its parts, and follows a path", async () => {
    const id = await idOf(image.client, "(list 1 (vector :a (list 2 3)) 4)");
    const view = await image.client.program.inspectObject(id, { start: 1, count: 1, depth: 2, expression: "*it*" });
    const [part] = view.parts;
    expect(view).to.include({
      id,
      kind: "list of 3",
      text: "(1 #(:A (2 3)) 4)",
      expression: "*it*",
      count: 3,
      cut: false,
    });
    expect(view.looking).to.be.greaterThan(0);
    expect(view.parts).to.have.length(1);
    expect(part).to.include({ index: 1, name: "1", kind: "vector of 2", count: 2, expression: "(nth 1 *it*)" });
    expect(part?.parts?.map(({ text, expression }) => [text, expression])).to.deep.equal([
      [":A", "(aref (nth 1 *it*) 0)"],
      ["(2 3)", "(aref (nth 1 *it*) 1)"],
    ]);
    const inner = await image.client.program.inspectObject(id, { path: [1, 1] });
    expect(inner).to.include({ id: part?.parts?.[1]?.id, expression: `(aref (nth 1 (swank-objects:ref ${id})) 1)` });
  });

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
