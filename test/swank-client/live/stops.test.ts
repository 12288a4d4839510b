import { expect } from "chai";
import type { SwankClient } from "swank-client";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { forUsualServer } from "../../support/usual-server.js";
import { killedClient } from "./killed-client.js";
import { liveClient, liveImage } from "./live-image.js";
import { Neighbour, onlyStop } from "./neighbour.js";
import { nextStop } from "./next-stop.js";
import { aborted, returned, stopped, values } from "./outcomes.js";

const names = (restarts: readonly { readonly name: string }[]) => restarts.map(({ name }) => name);

describe("Stop", () => {
  const image = liveClient();

  it("lists frames even if the image's current folder has been deleted", async () => {
    const code =
      '(let ((*default-pathname-defaults* #p"/no/such/folder/")) (setf *default-pathname-defaults* #p"/no/such/folder/") (error "x"))';
    const { stop } = stopped(await image.evaluate(code));
    const { frames, directory } = await stop.frames(0, 3);
    expect([frames.length, directory]).to.deep.equal([3, "/no/such/folder/"]);
    await stop.abort();
  });

  describe("describes", () => {
    const REASONS: readonly (readonly [code: string, reason: string, type: string, message: RegExp])[] = [
      ['(error "boom ~d" 1)', "error", "SIMPLE-ERROR", /^boom 1$/],
      ["(car 5)", "error", "TYPE-ERROR", /5.*is not of type.*LIST/s],
      ["(/ 1 0)", "error", "DIVISION-BY-ZERO", /arithmetic error DIVISION-BY-ZERO/],
      ["no-such-variable", "error", "UNBOUND-VARIABLE", /NO-SUCH-VARIABLE is unbound/],
      ["(no-such-function 1)", "error", "UNDEFINED-FUNCTION", /NO-SUCH-FUNCTION is undefined/],
      ["(break)", "break", "SIMPLE-CONDITION", /^break$/],
      ['(break "here ~a" :now)', "break", "SIMPLE-CONDITION", /^here :?NOW$/],
      ['(cerror "go on" "maybe")', "error", "SIMPLE-ERROR", /^maybe$/],
      ["(throw 'nowhere 1)", "error", "CONTROL-ERROR", /NOWHERE/],
      ['(parse-integer "x")', "error", "PARSE-ERROR", /x/],
      ['(open "/no/such/file")', "error", "FILE-ERROR", /no\/such\/file/],
      ["(find-class 'no-such-class)", "error", "CELL-ERROR", /NO-SUCH-CLASS/],
      ["(make-instance 'standard-object :no 1)", "error", "PROGRAM-ERROR", /:NO/],
      ["(funcall (lambda (x) x))", "error", "PROGRAM-ERROR", /invalid number of arguments: 0/],
      ["(in-package :no-such-package)", "error", "PACKAGE-ERROR", /NO-SUCH-PACKAGE/],
      ["(invoke-restart 'no-such-restart)", "error", "CONTROL-ERROR", /NO-SUCH-RESTART/],
      ["(assert (= 1 2))", "error", "SIMPLE-ERROR", /The assertion/],
      ["(aref (vector 1 2) 5)", "error", "TYPE-ERROR", /5/],
      ['(defmacro bad-macro () (error "in a macro")) (bad-macro)', "error", "SIMPLE-ERROR|PROGRAM-ERROR", /in a macro/],
      [
        "(signal (make-condition 'simple-error :format-control \"x\")) (error 'end-of-file)",
        "error",
        "END-OF-FILE",
        /END-OF-FILE/i,
      ],
    ];
    for (const [code, reason, type, message] of REASONS)
      it(`the stop in ${code}`, async () => {
        const evaluation = image.client.evaluate(code);
        const stop = stopped(await evaluation.next());
        expect(stop.stop.reason).to.equal(reason);
        expect(stop.stop.condition.type).to.match(new RegExp(`^(${type})$`));
        expect(stop.stop.condition.message).to.match(message);
        expect(stop.stop.condition.timestamp).to.be.within(Date.now() - 60_000, Date.now() + 1000);
        expect(names(stop.stop.condition.restarts)).to.include("ABORT");
        expect(names(stop.stop.condition.restarts).at(-1)).to.equal("RETRY");
        expect(stop.stop.condition.frames).not.to.deep.equal([]);
        expect(stop.stop.restarts).to.deep.equal(stop.stop.condition.restarts);
        expect(evaluation).to.include({ isSettled: false, stop: stop.stop, thread: stop.stop.thread });
        expect(image.client.stops).to.deep.equal([stop.stop]);
        aborted(await evaluation.abort());
        expect(evaluation).to.include({ isSettled: true, stop: undefined });
        expect(image.client.stops).to.deep.equal([]);
      });

    it("a user's condition class with its package, its superclasses and its slots", async () => {
      const code = `(define-condition my-error (simple-error file-error) ((count :initarg :count) (unset :initarg :unset) (big :initarg :big)))
        (error 'my-error :format-control "mine" :pathname "p" :count 3 :big (make-list 1000 :initial-element 'element))`;
      const evaluation = image.client.evaluate(code);
      const error = stopped(await evaluation.next()).stop.condition;
      expect(error).to.include({ type: "COMMON-LISP-USER::MY-ERROR", class: "COMMON-LISP-USER::MY-ERROR" });
      expect(error.supertypes.filter((name) => /ERROR$/.test(name))).to.deep.equal([
        "COMMON-LISP-USER::MY-ERROR",
        "SIMPLE-ERROR",
        "FILE-ERROR",
        "ERROR",
      ]);
      const slots = new Map(error.slots.map(({ name, value }) => [name, value]));
      expect(slots.get("COUNT")).to.equal("3");
      expect(slots.has("UNSET")).to.equal(false);
      expect(slots.get("BIG")).to.match(/^\(ELEMENT .*\.\.\.\)/);
      await evaluation.abort();
    });

    it("the exact class and a standard superclass for SBCL's own condition", async () => {
      const evaluation = image.client.evaluate('(car (the fixnum (+ 1 (read-from-string "2"))))');
      const error = stopped(await evaluation.next()).stop.condition;
      expect(error.type).to.equal("TYPE-ERROR");
      expect(error.class).to.equal("TYPE-ERROR");
      await evaluation.abort();
      const other = image.client.evaluate("(funcall 'no-such-function)");
      const undefinedFunction = stopped(await other.next()).stop.condition;
      expect(undefinedFunction.type).to.equal("UNDEFINED-FUNCTION");
      expect(undefinedFunction.class).to.match(/UNDEFINED-FUNCTION$/);
      await other.abort();
    });
  });

  it("does not occur for conditions that are only signalled, handled or declined", async () => {
    expect(await image.values("(signal 'error)")).to.deep.equal(["NIL"]);
    expect(await image.values('(handler-case (error "x") (error () :handled))')).to.deep.equal([":HANDLED"]);
    expect(await image.values("(ignore-errors (car 5))")).to.have.lengthOf(2);
    expect(await image.values('(handler-bind ((error (lambda (c) (continue c)))) (cerror "c" "x") 5)')).to.deep.equal([
      "5",
    ]);
    expect(await image.values("(catch 'here (throw 'here 1))")).to.deep.equal(["1"]);
  });

  it("does not occur for code that aborts itself", async () => {
    for (const code of ["(abort)", "(invoke-restart 'abort)", "(progn (princ 1) (abort))"]) {
      expect(aborted(await image.evaluate(code)), code).not.to.have.property("error");
    }
  });

  it("does not occur if the code has its own debugger hook", async () => {
    const hook = (tail: string) =>
      `(block done (let ((*debugger-hook* (lambda (c h) (declare (ignore c h)) (return-from done 42)))) ${tail}))`;
    for (const onError of ["stop", "unwind"] as const)
      expect(await image.values(hook('(error "x")'), { onError })).to.deep.equal(["42"]);
    const evaluation = image.client.evaluate(hook("(break)"));
    expect(stopped(await evaluation.next()).stop.reason).to.equal("break");
    await evaluation.abort();
  });

  it("does not occur under policy unwind, which returns a full report", async () => {
    const evaluation = image.client.evaluate(
      '(defun u-f (x) (error "boom ~a" x)) (princ "out") (warn "warned") (u-f 1)',
      {
        onError: "unwind",
      },
    );
    const outcome = aborted(await evaluation.next());
    expect(outcome).to.include({ stdout: "out" });
    expect(outcome.warnings.map(({ message }) => message)).to.deep.equal(["warned"]);
    expect(outcome.error).to.include({ type: "SIMPLE-ERROR", message: "boom 1" });
    expect(outcome.error?.frames.map(({ call }) => call)).to.include("(U-F 1)");
    expect(outcome.error?.restarts.at(-1)?.name).to.equal("RETRY");
    expect(image.client.stops).to.deep.equal([]);
    expect(evaluation).to.include({ isSettled: true, stop: undefined });
  });

  it("ends when its evaluation resumes, even if no caller took it", async () => {
    const evaluation = image.client.evaluate(
      '(handler-bind ((error (lambda (c) (declare (ignore c)) nil))) (cerror "go on" "x") 7)',
    );
    while (evaluation.stop === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    await evaluation.stop.invokeRestart(0);
    expect(returned(await evaluation.next()).values).to.deep.equal(["7"]);
  });
});

describe("Stop", () => {
  const image = liveClient();

  it("is the same object in the outcome, the evaluation, the client and its event", async () => {
    const told = nextStop(image.client);
    const { evaluation, stop } = await image.stopIn('(error "x")');
    expect(evaluation.stop).to.equal(stop);
    expect(image.client.stops[0]).to.equal(stop);
    expect(await told).to.equal(stop);
    expect(stop.evaluation).to.equal(evaluation);
    expect(await stop.open()).to.equal(stop);
    await evaluation.abort();
  });

  it("keeps plain JSON data, even after it has ended", async () => {
    const { evaluation, stop } = await image.stopIn('(defun f (n) (error "x ~d" n)) (f 7)');
    const before = JSON.stringify(stop.data);
    await evaluation.abort();
    expect(stop.isLive).to.equal(false);
    expect(JSON.stringify(stop.data)).to.equal(before);
    expect(JSON.parse(before).condition).to.deep.equal(stop.data.condition);
    expect(stop.data.locals).to.deep.equal([{ name: "N", value: "7", marks: ["argument"] }]);
  });

  it("has one signal, which is aborted when it ends, whether it was asked for before or after", async () => {
    const { evaluation, stop } = await image.stopIn('(list (restart-case (error "x") (use-it () 1)) (error "y"))');
    const { ended } = stop;
    expect([ended.aborted, stop.ended]).to.deep.equal([false, ended]);
    await stop.invokeRestart(0);
    expect(ended.aborted).to.equal(true);
    expect(ended.reason).to.have.property("message", "The thread left the stop, or the connection closed.");
    const { stop: second } = stopped(await evaluation.next());
    await evaluation.abort();
    expect(second.ended.aborted).to.equal(true);
    expect(second.ended.reason).to.equal(ended.reason);
  });

  it("runs descriptors in its thread until it ends", async () => {
    const { evaluation, stop } = await image.stopIn('(error "x")');
    expect(await stop.run(calls.debugging.backtrace, 0, 2)).to.have.length(2);
    await evaluation.abort();
    const error = await rejection(stop.run(calls.debugging.backtrace, 0, 2), "STALE_SESSION");
    expect(error.message).to.match(/^swank:backtrace: Thread \d+ has left the stop at level 1\.$/);
  });
});

describe("Stop of a client that has evaluated nothing", () => {
  const image = liveClient();

  it("invokes a restart once, if it is asked twice at once and the thread stops again", async () => {
    const first = nextStop(image.client);
    image.swank.type(`
      (progn
        (defvar *again* 0)
        (sb-thread:make-thread
          (lambda () (loop (restart-case (error "stop ~d" *again*)
                             (again () (incf *again*))
                             (done () (return)))))))`);
    const stop = await first;
    await stop.frames();
    const second = nextStop(image.client);
    const both = await Promise.allSettled([stop.invokeRestart(0), stop.invokeRestart(0)]);
    expect(both.map(({ status }) => status)).to.have.members(["fulfilled", "rejected"]);
    const next = await second;
    expect(next.condition.message).to.equal("stop 1");
    expect(await image.ask("cl-user::*again*")).to.equal("1");
    await next.invokeRestart(1);
  });
});

describe("Stop inspected by several clients", () => {
  const image = liveImage();
  let neighbour: Neighbour;
  let client: SwankClient;

  beforeEach(async () => {
    neighbour = await Neighbour.of(image);
    client = await image.connect();
    await values(client, "(defvar *began* nil) (defvar *over* nil) (setf *began* nil *over* nil)");
  });

  const OPEN = `
    const [stop] = await client.foreignStops();
    const session = await stop.open();`;
  const WAIT = "(loop until cl-user::*began* do (sleep 0.01))";

  it("ends only that client's code at a client's timeout, and later code that another client's code interrupts", async () => {
    const ending = neighbour.evaluate('(error "looked into")');
    const stop = await neighbour.stop();
    // Each process begins to count its attempts anew.
    const slow = killedClient(
      `${OPEN}
      const waited = session.evaluateInFrame(0, "(progn (setf cl-user::*began* t) (unwind-protect (loop (sleep 1)) (setf cl-user::*over* t)))", { timeout: 3000 });
      tell((await waited.then(() => undefined, (error) => error)).code);`,
      { port: image.swank.port },
    );
    const quick = killedClient(
      `await client.evaluate("${WAIT}").next();
      ${OPEN}
      const { values } = await session.evaluateInFrame(0, "(progn (setf cl-user::*nested* t) (sleep 9) :mine)", { timeout: 60000 });
      tell(values[0]);`,
      { port: image.swank.port },
    );
    expect(await slow).to.be.oneOf(["FRAME_EVALUATION_TIMEOUT", "REQUEST_TIMEOUT"]);
    expect(await quick).to.equal(":MINE");
    await values(client, "(loop until *over* do (sleep 0.01))");
    await neighbour.choose(stop, stop.restarts.length - 1);
    expect(await ending).to.equal("aborted");
  });

  it("is opened once, and again after a failure", async () => {
    const ending = neighbour.evaluate('(error "silent for a while")');
    const stop = await neighbour.stop();
    const deaf = `(sb-sys:without-interrupts (setf cl-user::*over* t) ${WAIT})`;
    const busy = neighbour.evaluate(deaf, stop.thread);
    await values(client, "(loop until *over* do (sleep 0.01))");
    const found = await onlyStop(client);
    const first = found.open();
    const again = first.catch(() => found.open());
    await rejection(found.open(), "REQUEST_TIMEOUT");
    await values(client, "(setf *began* t)");
    const session = await again;
    expect(await found.open()).to.equal(session);
    await busy;
    await neighbour.choose(stop, stop.restarts.length - 1);
    expect(await ending).to.equal("aborted");
  });
});

describe("Stop.abort", () => {
  const image = liveClient();

  it("reports a restart that returns instead of leaving the stop", async () => {
    const { evaluation, stop } = await image.stopIn(
      '(defvar *stay*) (restart-bind ((stay (lambda () :no))) (setf *stay* (find-restart \'stay)) (error "x"))',
    );
    const { values: before } = await stop.evaluateInFrame(
      0,
      forUsualServer("(prog1 (list swank::*sldb-quit-restart*) (setf swank::*sldb-quit-restart* cl-user::*stay*))"),
    );
    expect(before).to.have.lengthOf(1);
    const { message } = await rejection(stop.abort(), "REQUEST_ABORTED");
    expect(message).to.equal(
      "The restart ABORT returned instead of transferring control: the thread is still stopped.",
    );
    expect(stop.isLive).to.equal(true);
    await evaluation.abort();
  });
});
