import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { connect, type Stop, type SwankClient } from "swank-client";
import { rejection } from "../../support/caught.js";
import { forUsualServer, USUAL_SERVER } from "../../support/usual-server.js";
import { liveClient, liveImage } from "./live-image.js";
import { Neighbour, onlyStop } from "./neighbour.js";
import { nextStop } from "./next-stop.js";
import { stopped, values } from "./outcomes.js";

/** Has the thread in which the next connection checks its place among the others begin half a second late. */
const DELAY_NEXT = `
(defun checking-p (thread) (equal (sb-thread:thread-name thread) "swank-client connection"))
(defun delayed () (some #'checking-p (sb-thread:list-all-threads)))
(loop while (delayed) do (sleep 0.01))
(let ((late (list t)))
  (sb-int:encapsulate 'sb-thread:make-thread 'delay
    (lambda (make-thread function &rest arguments &key name &allow-other-keys)
      (apply make-thread
             (if (and (equal name "swank-client connection") (pop late)) (lambda () (sleep 0.5) (funcall function)) function)
             arguments))))
nil`;

describe("Errors of background threads", () => {
  const image = liveClient();

  /** Starts a thread that belongs to no client and signals an error. Its first restart makes the thread return :GIVEN. */
  function failElsewhere(): void {
    image.swank.type(
      `(defparameter *elsewhere* (sb-thread:make-thread (lambda () (restart-case (error "elsewhere") (give () :given)))))`,
    );
  }

  async function letGo(stop: Stop): Promise<void> {
    await stop.invokeRestart(0);
    expect(await image.values("(sb-thread:join-thread *elsewhere*)")).to.deep.equal([":GIVEN"]);
  }

  it("go to another client if there is one", async () => {
    const late = await image.connect();
    const theirs = nextStop(image.client);
    failElsewhere();
    await letGo(await theirs);
    expect(late.stops).to.deep.equal([]);
  });

  it("go to the client that connected first, even if its last step of connecting comes late", async () => {
    await image.values(DELAY_NEXT);
    await image.client.close();
    const first = await image.connect();
    const second = await image.connect();
    const theirs = nextStop(first);
    await values(second, "(loop while (delayed) do (sleep 0.01))");
    failElsewhere();
    const stop = await theirs;
    expect(second.stops).to.deep.equal([]);
    await stop.invokeRestart(0);
    await values(second, "(sb-int:unencapsulate 'sb-thread:make-thread 'delay)");
  });

  it("go to a client with foreignErrors mine until it disconnects, even if others connect later", async () => {
    const mine = await image.connect({ foreignErrors: "mine" });
    await image.connect();
    const ours = nextStop(mine);
    failElsewhere();
    const stop = await ours;
    expect(stop.condition.message).to.equal("elsewhere");
    await letGo(stop);
    await mine.close();
    const theirs = nextStop(image.client);
    failElsewhere();
    await letGo(await theirs);
  });

  it("go to the other clients if that client disconnects while they are stopped", async () => {
    const mine = await image.connect({ foreignErrors: "mine" });
    const ours = nextStop(mine);
    failElsewhere();
    await ours;
    const theirs = nextStop(image.client);
    await mine.close();
    await letGo(await theirs);
  });

  it("never go to a client with foreignErrors theirs, except errors of its own threads", async () => {
    const modest = await image.connect({ foreignErrors: "theirs" });
    const theirs = nextStop(image.client);
    failElsewhere();
    await letGo(await theirs);
    const evaluation = modest.evaluate('(error "of its own")');
    expect(stopped(await evaluation.next()).stop.condition.message).to.equal("of its own");
    await evaluation.abort();
  });

  it("enter Lisp's own debugger if no client accepts them", async () => {
    const modest = await image.connect({ foreignErrors: "theirs" });
    await values(modest, "(defvar *elsewhere* nil)");
    await image.client.close();
    image.swank.type('(setf *elsewhere* (sb-thread:make-thread (lambda () (error "elsewhere"))))');
    const seen = "(sb-thread:symbol-value-in-thread 'sb-debug::*debug-condition* cl-user::*elsewhere* cl:nil)";
    while ((await image.ask(`(cl:typep ${seen} 'cl:simple-error)`)) !== "T") await pause(20);
    expect(modest.stops).to.deep.equal([]);
    await values(modest, "(sb-thread:terminate-thread *elsewhere*)");
  });

  it("have no other policy: an unknown foreignErrors is refused", async () => {
    const wrong = { port: image.swank.port, ...JSON.parse('{ "foreignErrors": "all" }') };
    const { message } = await rejection(connect(wrong), "INVALID_ARGUMENT");
    expect(message).to.equal("foreignErrors is one of auto, mine, theirs, last, not all.");
  });
});

const FAILING = `
  (defun fragile (x)
    (declare (optimize (debug 3)))
    (let ((y (* 2 x)))
      (restart-case (list :twice (if (eql y 42) (error "bad ~a" y) y))
        (use-instead (value) :report "Use another value." (list :instead value)))))`;

describe("Stop of another client", () => {
  const image = liveImage();
  let neighbour: Neighbour;
  let client: SwankClient;

  beforeEach(async () => {
    neighbour = await Neighbour.of(image);
    client = await image.connect();
    await neighbour.evaluate(FAILING);
  });

  /** The neighbour runs into an error, and this client looks at it. */
  async function stopped(form = "(fragile 21)"): Promise<{ ending: Promise<string>; session: Stop }> {
    const ending = neighbour.evaluate(form);
    await neighbour.stop();
    return { ending, session: await (await onlyStop(client)).open() };
  }

  it("is listed with its thread, condition, restarts and owner", async () => {
    const ending = neighbour.evaluate("(fragile 21)");
    const { thread, level } = await neighbour.stop();
    const stop = await onlyStop(client);
    expect(stop).to.include({ thread, level, isLive: true });
    expect(stop.data).to.include({ thread, level, threadName: USUAL_SERVER === "swank" ? "worker" : "slynk-worker" });
    const { restarts, ...condition } = stop.condition;
    expect(condition).to.include({ type: "SIMPLE-ERROR", class: "SIMPLE-ERROR", message: "bad 42", totalFrames: 0 });
    expect(restarts.map(({ index, name }) => `${index} ${name}`)).to.deep.equal([
      "0 USE-INSTEAD",
      "1 ABORT",
      "2 ABORT",
    ]);
    expect(stop.owner).to.include({ kind: "other" });
    expect(stop.owner?.text).to.equal(`another Swank client (Swank connection ${stop.owner?.connection})`);
    expect(await onlyStop(client)).to.equal(stop);
    await neighbour.choose(await neighbour.stop(), 1);
    expect(await ending).to.equal("aborted");
  });

  it("is listed promptly, even if its report prints, waits or never ends", async () => {
    await neighbour.evaluate(`
      (define-condition telling (error) ((how :initarg :how :reader how))
        (:report (lambda (condition stream)
                   ;; what tells of it, as opposed to Swank
                   (when (search "description" (sb-thread:thread-name sb-thread:*current-thread*))
                     (ecase (how condition) (:loops (loop (sleep 0.01))) (:blocks (sb-sys:without-interrupts (sleep 20))) (:prints (print :printed))))
                   (format stream "~a" (how condition)))))`);
    const hows = [":loops", ":loops", ":loops", ":loops", ":loops", ":loops", ":blocks", ":prints"];
    const endings = hows.map((how) => neighbour.evaluate(`(error 'telling :how ${how})`));
    await neighbour.stop(hows.length);
    const told = async () => (await client.foreignStops()).map(({ condition }) => condition.message).sort();
    const late = "#<a COMMON-LISP-USER::TELLING takes too long to print>";
    const first = await told();
    expect(first).to.deep.equal([...Array<string>(7).fill(late), "PRINTS"]);
    expect(await told()).to.deep.equal(first);
    for (const stop of [...neighbour.client.stops]) await stop.abort();
    expect(new Set(await Promise.all(endings))).to.deep.equal(new Set(["aborted"]));
  });

  it("is searched for without loading code if there is none", async () => {
    const bare = await image.connect({ runtime: false });
    expect(await bare.foreignStops()).to.deep.equal([]);
    const ending = neighbour.evaluate('(error "stopped")');
    const stop = await neighbour.stop();
    await rejection(bare.foreignStops(), "RUNTIME_FORBIDDEN");
    await stop.abort();
    expect(await ending).to.equal("aborted");
  });

  it("is never one of the client's own stops", async () => {
    const evaluation = client.evaluate('(error "mine")');
    expect(await evaluation.next()).to.include({ status: "stopped" });
    expect(await client.foreignStops()).to.deep.equal([]);
    const other = await image.connect();
    expect((await onlyStop(other)).thread).to.equal(client.stops[0]?.thread);
  });

  it("is identified by its owner and the deepest level of its thread", async () => {
    const other = await image.connect();
    const evaluation = other.evaluate('(error "of a program")');
    await evaluation.next();
    const ending = neighbour.evaluate('(error "outer")');
    const outer = await neighbour.stop();
    const inner = neighbour.evaluate('(error "inner")', outer.thread);
    const deep = await neighbour.stop(2);
    const stops = await client.foreignStops();
    expect(stops.map(({ condition, level, owner }) => [condition.message, level, owner?.kind])).to.have.deep.members([
      ["of a program", 1, "swank-client"],
      ["inner", 2, "other"],
    ]);
    await neighbour.choose(deep, deep.restarts.length - 1);
    expect([await inner, await ending]).to.deep.equal(["aborted", "aborted"]);
  });

  it("can be examined without disturbing its owner", async () => {
    const { ending, session } = await stopped();
    const before = neighbour.told.length;
    const { frames, totalFrames } = await session.frames(0, 100);
    const index = frames.findIndex(({ call }) => call.startsWith("(FRAGILE "));
    expect(frames[index]?.function).to.equal("COMMON-LISP-USER::FRAGILE");
    expect(frames).to.have.lengthOf(totalFrames);
    const { locals } = await session.frameLocals(index);
    expect(locals.map(({ name, value }) => `${name} ${value}`)).to.have.members(["X 21", "Y 42"]);
    const [local] = locals;
    const reference = `(swank-objects:ref ${local?.objectId})`;
    expect(await client.evaluate(reference).next()).to.deep.include({ values: [local?.value] });
    expect(session.owner?.kind).to.equal("other");
    expect(neighbour.told.slice(before)).to.deep.equal([]);
    await neighbour.choose(await neighbour.stop(), 1);
    expect(await ending).to.equal("aborted");
    expect(await client.evaluate(reference).next())
      .to.have.nested.property("stop.condition.message")
      .that.includes("has ended");
  });

  it("ends when the owner resumes, even if the thread stops at the same level again", async () => {
    const { ending, session } = await stopped("(loop (restart-case (fragile 21) (again ())))");
    const { thread, restarts } = session;
    await neighbour.choose(
      await neighbour.stop(),
      restarts.findIndex(({ name }) => name === "AGAIN"),
    );
    let next = await onlyStop(client);
    while (session.isLive) next = await onlyStop(client);
    expect(next).to.include({ thread, level: 1, isLive: true });
    await rejection(session.frames(), "STALE_SESSION");
    expect(await (await next.open()).frames()).to.have.property("totalFrames");
    await (await next.open()).abort();
    expect(await ending).to.equal("aborted");
    expect(await client.foreignStops()).to.deep.equal([]);
  });

  it("is left through a restart with values, and its owner gets the outcome", async () => {
    const { ending, session } = await stopped();
    await rejection(session.invokeRestart(0), "INVALID_ARGUMENT");
    await rejection(session.invokeRestart(0, ["(car 5)"]), "INVALID_ARGUMENT");
    await rejection(session.invokeRestart(9), "NO_SUCH_RESTART");
    expect(session.isLive).to.equal(true);
    await session.invokeRestart(0, ["(+ 1 2)"]);
    expect(await ending).to.equal("(:INSTEAD 3)");
    expect(session.isLive).to.equal(false);
    expect(neighbour.client.stops).to.deep.equal([]);
    expect(neighbour.told.slice(-2).map(({ type }) => type)).to.have.members(["debug-return", "return"]);
    await rejection(session.invokeRestart(0, ["1"]), "STALE_SESSION");
  });

  it("supports evaluation and restarts with values in background threads", async () => {
    await neighbour.evaluate(
      "(progn (defvar *came* nil) (sb-thread:make-thread (lambda () (setf *came* (fragile 21)))) nil)",
    );
    while ((await client.foreignStops()).length === 0) await pause(5);
    const session = await (await onlyStop(client)).open();
    expect(await session.evaluateInFrame(0, "(list 'here x)")).to.deep.include({ values: ["(HERE 21)"] });
    await session.invokeRestart(0, ["(list 'came 1)"]);
    await client.evaluate("(loop until *came* do (sleep 0.01))").next();
    expect(await client.evaluate("*came*").next()).to.deep.include({ values: ["(:INSTEAD (CAME 1))"] });
  });

  it("can be continued, aborted and left through frames, but only its owner can step", async () => {
    const continued = await stopped('(progn (cerror "Go on." "stopped") :went-on)');
    await rejection(continued.session.step("into"), "NOT_STEPPABLE");
    await continued.session.continue();
    expect(await continued.ending).to.equal(":WENT-ON");
    const returning = await stopped("(list (fragile 21))");
    const { frames } = await returning.session.frames();
    const index = frames.findIndex(({ call }) => call.startsWith("(FRAGILE "));
    await returning.session.returnFromFrame(index, "(list x y)");
    expect(await returning.ending).to.equal("((21 42))");
    const again = await stopped();
    await client.evaluate("(defun fragile (x) (list :mended x))").next();
    await again.session.restartFrame(index);
    expect(await again.ending).to.equal("(:MENDED 21)");
    const aborted = await stopped('(error "stopped")');
    await aborted.session.abort();
    expect(await aborted.ending).to.equal("aborted");
  });

  it("evaluates code in its frames without the owner's terminal, handlers or restarts", async () => {
    const { ending, session } = await stopped("(handler-bind ((warning (lambda (c) (throw :out c)))) (fragile 21))");
    const before = neighbour.told.length;
    const { frames } = await session.frames();
    const index = frames.findIndex(({ call }) => call.startsWith("(FRAGILE "));
    const evaluate = (code: string, timeout?: number) =>
      session.evaluateInFrame(index, code, timeout === undefined ? {} : { timeout });
    expect(await evaluate("(print y) (setf y 5) (list x y)")).to.include({ stdout: "\n42 ", stderr: "" });
    expect(await evaluate("(values (read-line *query-io* nil :nothing))")).to.deep.include({ values: [":NOTHING"] });
    expect(await evaluate('(warn "heard by nobody")')).to.deep.include({ values: ["NIL"] });
    for (const code of ['(error "in the frame")', "(throw :out 1)", "(invoke-restart 'use-instead 1)", "(break)"])
      await rejection(evaluate(code), "FRAME_EVALUATION_FAILED");
    await rejection(evaluate("(loop)", 100), "FRAME_EVALUATION_TIMEOUT");
    expect(neighbour.told.slice(before)).to.deep.equal([]);
    expect(session.isLive).to.equal(true);
    await rejection(session.continue(), "NO_SUCH_RESTART");
    await session.abort();
    expect(await ending).to.equal("aborted");
  });

  it("can be examined while its owner evaluates there", async () => {
    const { ending, session } = await stopped();
    const stop = await neighbour.stop();
    const evaluation = neighbour.evaluate(
      "(progn (defvar *running* t) (loop until (boundp '*enough*) do (sleep 0.01)) :done)",
      stop.thread,
    );
    while ((await image.ask('(cl:find-symbol "*RUNNING*" :cl-user)')) === "NIL") await pause(5);
    expect((await session.frames()).frames[0]?.call).to.match(/^\(FRAGILE /);
    expect(await session.evaluateInFrame(0, "(list x y)")).to.deep.include({ values: ["(21 42)"] });
    await client.evaluate("(defvar *enough* t)").next();
    expect(await evaluation).to.equal(":DONE");
    await session.abort();
    expect(await ending).to.equal("aborted");
  });

  it("is reported as silent if its thread does not answer, and the request is dropped", async () => {
    await neighbour.evaluate("(progn (defvar *deaf* nil) (defvar *fired* nil))");
    const { ending, session } = await stopped();
    const deaf = neighbour.evaluate(
      "(sb-sys:without-interrupts (setf *deaf* t) (loop while *deaf*) :heard)",
      session.thread,
    );
    while ((await image.ask("cl-user::*deaf*")) !== "T") await pause(5);
    await rejection(session.evaluateInFrame(0, "(setf *fired* t)"), "REQUEST_TIMEOUT");
    await client.evaluate("(setf *deaf* nil)").next();
    expect(await deaf).to.equal(":HEARD");
    // an interrupt that came later has been answered, so that an earlier one would have been too
    expect(await session.evaluateInFrame(0, "*fired*")).to.deep.include({ values: ["NIL"] });
    await session.abort();
    expect(await ending).to.equal("aborted");
  });

  it("is unchanged when the examining client is lost", async () => {
    const { ending, session } = await stopped();
    const evaluating = rejection(session.evaluateInFrame(0, "(progn (defvar *begun* t) (loop))"), "CONNECTION_CLOSED");
    while ((await image.ask('(cl:find-symbol "*BEGUN*" :cl-user)')) === "NIL") await pause(5);
    await client.connection.close();
    await evaluating;
    expect(session.isLive).to.equal(false);
    expect(await neighbour.evaluate(":free", (await neighbour.stop()).thread)).to.equal(":FREE");
    await neighbour.choose(await neighbour.stop(), 1);
    expect(await ending).to.equal("aborted");
  });

  it("ends with its thread", async () => {
    const { ending, session } = await stopped();
    await client
      .evaluate(forUsualServer(`(sb-thread:terminate-thread (swank/backend:find-thread ${session.thread}))`))
      .next();
    expect(await ending).to.equal("aborted");
    await rejection(session.frames(), "STALE_SESSION");
    expect(await client.foreignStops()).to.deep.equal([]);
  });

  it("is unchanged by a restart that returns, and cancels one that does not end", async () => {
    const { ending, session } = await stopped(
      '(restart-bind ((stay (lambda () 1)) (hang (lambda () (loop))) (fail (lambda () (error "no")))) (fragile 21))',
    );
    const invoke = async (name: string) => {
      const index = session.restarts.findIndex((restart) => restart.name === name);
      await session.invokeRestart(index, [], { timeout: 100 });
    };
    await rejection(invoke("STAY"), "REQUEST_ABORTED");
    await rejection(invoke("HANG"), "FRAME_EVALUATION_TIMEOUT");
    await rejection(invoke("FAIL"), "REQUEST_FAILED");
    expect(session.isLive).to.equal(true);
    await session.abort();
    expect(await ending).to.equal("aborted");
  });
});
