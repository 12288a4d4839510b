import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { SwankClient, types } from "swank-client";
import { traceCode } from "swank-client/internal";
import { rejection } from "../../support/caught.js";
import { encapsulated } from "../../support/watched-functions.js";
import { killedClient } from "./killed-client.js";
import { liveImage } from "./live-image.js";

const PROGRAM = `
(defpackage :shop (:use :cl))
(in-package :shop)
(defun price (x) (if (eql x 3) (error "no price for ~a" x) (* x 10)))
(defun safe-price (x) (handler-case (price x) (error () 0)))
(defun total (xs) (reduce #'+ (mapcar 'safe-price xs)))
(defun tick () :tock)
(defun ticks (n) (dotimes (i n) (tick)))
(defun work (n) (sleep 0.001) n)
(defun leave () (throw 'out 1))
(defclass item () ()) (defclass book (item) ())
(defgeneric act (x))
(defmethod act ((x item)) (list 1)) (defmethod act ((x book)) (cons 2 (call-next-method)))
(defmethod print-object ((x item) stream) (error "printed"))
(in-package :cl-user)`;

const NAMES = "shop::price shop::safe-price shop::total shop::tick shop::ticks shop::work shop::leave shop::act".split(
  " ",
);

/** How many of the program's functions, and of Lisp's that signal or dispatch, are encapsulated. */
const ENCAPSULATED = encapsulated(NAMES);

describe("client.program.traceCalls", function () {
  this.timeout(120_000);
  const image = liveImage();

  async function traced(
    client: SwankClient,
    source: types.TraceSource,
    options: types.TraceOptions,
  ): Promise<types.Trace> {
    return client.program.traceCalls(source, options).result();
  }

  async function clientWithProgram(): Promise<SwankClient> {
    const client = await image.connect();
    await client.eval(PROGRAM);
    return client;
  }

  const textOf = (row: types.RecordedCall | types.RecordedCondition) =>
    "  ".repeat(row.depth) +
    (row.kind === "call"
      ? `${row.text}${row.count > 1 ? ` x ${row.count}` : ""}${row.exit === "left" ? " left" : ` => ${row.values}`}`
      : `! ${row.type} ${row.message}, ${row.clause} in ${row.handler}`);
  const rowsOf = ({ threads: [thread] }: types.Trace) => thread?.rows.map(textOf) ?? [];

  async function untilOff(): Promise<void> {
    while ((await image.ask(ENCAPSULATED)) !== "0") await pause(20);
  }

  it("merges only calls next to each other, so that rows keep the order of the calls", async () => {
    const client = await clientWithProgram();
    const code =
      "(shop::price 1) (shop::price 2) (shop::price 1) (shop::tick) (shop::tick) (shop::price 1) (shop::safe-price 3) (shop::tick) (shop::price 1) (shop::price 1) (shop::tick)";
    const trace = await traced(client, { code }, { functions: ["shop::price", "shop::tick"] });
    expect(rowsOf(trace)).to.deep.equal([
      "(SHOP::PRICE 1) => 10",
      "(SHOP::PRICE 2) => 20",
      "(SHOP::PRICE 1) => 10",
      "(SHOP::TICK) x 2 => :TOCK",
      "(SHOP::PRICE 1) => 10",
      "(SHOP::PRICE 3) left",
      "  ! SIMPLE-ERROR no price for 3, ERROR in SHOP::SAFE-PRICE",
      "(SHOP::TICK) => :TOCK",
      "(SHOP::PRICE 1) x 2 => 10",
      "(SHOP::TICK) => :TOCK",
    ]);
  });

  it("records single methods, and prints their objects without the program's printers", async () => {
    const client = await clientWithProgram();
    const code = "(shop::act (make-instance 'shop::item)) (shop::act (make-instance 'shop::book))";
    const trace = await traced(client, { code }, { functions: ["(method shop::act (shop::item))"] });
    expect(rowsOf(trace)).to.deep.equal([
      "((METHOD SHOP::ACT (SHOP::ITEM)) #<ITEM>) => (1)",
      "((METHOD SHOP::ACT (SHOP::ITEM)) #<BOOK>) => (1)",
    ]);
    expect(await image.ask(ENCAPSULATED)).to.equal("0");
  });

  it("watches all threads for some seconds, or some of them, each with a tree of its own", async () => {
    const client = await clientWithProgram();
    await client.eval(
      `(dotimes (i 2) (let ((i i)) (sb-thread:make-thread (lambda () (loop (shop::work i))) :name (format nil "worker-~d" i))))`,
    );
    const all = await traced(client, { seconds: 0.5 }, { functions: ["shop::work"] });
    expect(all.threads.map(({ name }) => name).sort()).to.deep.equal(['"worker-0"', '"worker-1"']);
    const [first] = all.threads;
    const one = await traced(client, { seconds: 0.5 }, { functions: ["shop::work"], threads: [first?.id ?? 0] });
    expect(one.threads.map(({ id }) => id)).to.deep.equal([first?.id]);
    await client.eval(
      '(mapc #\'sb-thread:terminate-thread (remove-if-not (lambda (th) (eql 0 (search "worker-" (sb-thread:thread-name th)))) (sb-thread:list-all-threads))) nil',
    );
  });

  it("records only calls for which the condition holds, and ends at an error in it", async () => {
    const client = await clientWithProgram();
    const options = { functions: ["shop::safe-price"] };
    const some = await traced(client, { code: "(shop::total '(1 2 4 5))" }, { ...options, condition: "(> x 3)" });
    expect(rowsOf(some)).to.deep.equal(["(SHOP::SAFE-PRICE 4) => 40", "(SHOP::SAFE-PRICE 5) => 50"]);
    const failed = await traced(client, { code: "(shop::total '(1))" }, { ...options, condition: "(car x)" });
    expect(failed.end).to.equal("failed");
    expect(failed.failure).to.include("LIST");
    await untilOff();
  });

  it("leaves the user's trace, encapsulations and breakpoints on the same function alone", async () => {
    const client = await clientWithProgram();
    await client.eval(`
      (defvar *seen* 0) (trace shop::price)
      (sb-int:encapsulate 'shop::price 'mine (lambda (f &rest args) (incf *seen*) (apply f args)))`);
    const breakpoint = await client.breakpoints.set("shop::price", { log: "x" });
    const trace = await traced(client, { code: "(shop::price 1)" }, { functions: ["shop::price"] });
    expect(trace.calls).to.equal(1);
    const evaluation = client.evaluate("(shop::price 2)");
    const outcome = await evaluation.next();
    expect(outcome).to.include({ status: "returned" });
    expect(outcome.stdout).to.include("0: (SHOP::PRICE 2)").and.to.include("hit 2: 2");
    expect(await client.eval("(list *seen* (not (null (trace))))")).to.deep.equal(["(2 T)"]);
    await client.breakpoints.remove(breakpoint.id);
    await client.eval("(untrace shop::price) (sb-int:unencapsulate 'shop::price 'mine) nil");
  });

  it("is off when the code stops, leaves, is aborted, or its client's process is killed", async () => {
    const client = await clientWithProgram();
    const options = { package: "shop", functions: ["(method shop::act (shop::item))"] };
    const stopping = client.program.traceCalls({ code: "(shop::price 3)" }, options);
    await rejection(stopping.result(), "EVALUATION_STOPPED");
    await untilOff();
    const found = await stopping.soFar();
    expect(found?.end).to.equal("stopped");
    expect(found && rowsOf(found)).to.deep.equal([
      "(SHOP::PRICE 3) => undefined",
      "  ! SIMPLE-ERROR no price for 3, undefined in undefined",
    ]);
    expect(found?.threads[0]?.rows[0]).to.include({ exit: "open" });
    expect((await stopping.soFar())?.threads).to.deep.equal(found?.threads, "the time of the stop does not count");
    await stopping.abort();
    const leaving = await traceCode(client.lisp, { code: "(shop::leave)" }, options);
    expect(await client.eval(`(catch 'shop::out ${leaving.code})`)).to.deep.equal(["1"]);
    expect(await image.ask(ENCAPSULATED)).to.equal("0");
    const running = client.program.traceCalls({ code: "(loop (shop::work 1))" }, options);
    while ((await image.ask(ENCAPSULATED)) === "0") await pause(20);
    await running.abort();
    await untilOff();
    for (const source of ["{ seconds: 3600 }", '{ code: "(loop (shop::work 1))" }']) {
      await killedClient(
        `client.program.traceCalls(${source}, ${JSON.stringify(options)});
         while ((await client.eval(${JSON.stringify(ENCAPSULATED)}))[0] === "0") await new Promise((resume) => setTimeout(resume, 20));
         tell("on");`,
        { port: image.swank.port },
      );
      await untilOff();
      await image.untilTidy();
    }
  });

  it("refuses what cannot be traced, with the reason and similar names, and says which calls it misses", async () => {
    const client = await clientWithProgram();
    const refusal = async (name: string) =>
      (await rejection(client.program.traceCalls({ code: "1" }, { functions: [name] }).result(), "WATCH_REFUSED"))
        .message;
    expect(await refusal("shop::prise")).to.equal("shop::prise: There is no such function. Similar: SHOP::PRICE.");
    expect(await refusal("shopp::price")).to.equal("shopp::price: There is no such package. Similar: SHOP.");
    expect(await refusal("when")).to.include("when: It is a macro");
    expect(await refusal("if")).to.include("if: It is a special operator");
    expect(await refusal("car")).to.include("car: Lisp, its compiler or Swank itself calls it");
    expect(await refusal("(method shop::act (integer))")).to.include("There is no such method");
    await rejection(client.program.traceCalls({ code: "1" }, { package: "sb-impl" }).result(), "WATCH_REFUSED");
    await rejection(
      client.program.traceCalls({ code: "1" }, { functions: ["shop::price"], threads: [999_999] }).result(),
      "WATCH_REFUSED",
    );
    await rejection(client.program.traceCalls({ code: "1" }, {}).result(), "INVALID_ARGUMENT");
    await client.eval("(declaim (inline shop::near)) (defun shop::near (x) x)");
    const { missed, count } = await client.program.traceCalls({ code: "1" }, { functions: ["shop::near"] }).result();
    expect(count).to.equal(1);
    expect(missed[0]).to.include("SHOP::NEAR: It is declared inline");
  });
});
