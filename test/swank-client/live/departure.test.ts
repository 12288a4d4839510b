import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import * as calls from "swank-client/swank";
import { killedClient } from "./killed-client.js";
import { liveClient } from "./live-image.js";
import { stopped, values } from "./outcomes.js";

/** Evaluates `codes`, and says so once they run. */
function running(codes: readonly string[]): string {
  return `
    await client.prepare();
    for (const code of ${JSON.stringify(codes)}) client.evaluate(code, { outputLimit: Infinity });
    await client.evaluate("(sleep 0.2)").next();
    tell("running");`;
}

/** Names of Swank's threads in the debugger, of whoever's. */
const PARKED = `(cl:loop :for thread :in (sb-thread:list-all-threads)
  :when (cl:plusp (cl:or (sb-thread:symbol-value-in-thread 'swank::*sldb-level* thread cl:nil) 0)) :collect (sb-thread:thread-name thread))`;

describe("Disconnection of a client", () => {
  const image = liveClient();

  it("by close ends the client's running and stopped evaluations, with cleanup forms", async () => {
    await image.values("(defparameter *cleaned* 0)");
    for (const code of [
      "(loop)",
      '(error "x")',
      "(sleep 1000)",
      "(loop (print 1))",
      "(unwind-protect (loop) (loop))",
    ]) {
      image.client.evaluate(`(unwind-protect (progn (sb-ext:atomic-incf (car *count*)) ${code}) (incf *cleaned*))`);
    }
    await image.values("(defvar *count* (list 0))");
    const halted = image.client.evaluate('(break "here")');
    const { stop } = stopped(await halted.next());
    await image.client.close();
    expect(stop.isLive).to.equal(false);
    expect(halted.isSettled).to.equal(true);
    await image.untilTidy();
    expect(await image.ask(PARKED)).to.equal("NIL");
  });

  it("during the first evaluation leaves nothing in the image", async () => {
    for (let round = 0; round < 10; round += 1) {
      const fresh = await image.connect();
      const evaluation = fresh.evaluate("(loop)");
      if (round % 2 === 0) await pause(round);
      await fresh.close();
      expect((await evaluation.next()).status).to.be.oneOf(["aborted", "lost"]);
    }
  });

  for (const codes of [
    ["(loop)", "(sleep 100000)", "(handler-case (loop) (error () nil))"],
    ['(error "x")', "(break)", "(car 5)"],
    ["(unwind-protect (loop) (loop))", "(unwind-protect (sleep 1000) (sleep 1000))"],
    ["(loop (print 1))", "(loop (print 2) (finish-output))", '(loop (format *error-output* "~a" (make-string 10000)))'],
  ]) {
    it(`by a kill leaves nothing of ${codes.join(" ")}`, async () => {
      await killedClient(running(codes), { port: image.swank.port });
      await image.untilTidy();
      expect(await image.ask(PARKED)).to.equal("NIL");
      // Its connection and the observer's: Swank has noticed that the third is gone.
      while ((await image.ask("(cl:length swank::*connections*)")) !== "2") await pause(20);
      expect(await image.values("(+ 1 2)")).to.deep.equal(["3"]);
    });
  }

  it("by a kill makes no thread of Swank's look at its stack, where it could be ended with a lock of the C library", async () => {
    await image.values(`(defvar *looks* (list 0))
       (sb-int:encapsulate 'swank::backtrace 'looks
         (lambda (backtrace &rest arguments) (sb-ext:atomic-incf (car *looks*)) (apply backtrace arguments)))`);
    try {
      for (let round = 0; round < 3; round += 1) {
        await killedClient(running(["(loop (print 1))"]), { port: image.swank.port });
        await image.untilTidy();
      }
      expect(await image.values("*looks*")).to.deep.equal(["(0)"]);
    } finally {
      await image.values("(sb-int:unencapsulate 'swank::backtrace 'looks)");
    }
  });

  it("ends a thread that Swank has made for a request, and that it has not given the request", async () => {
    const form = "(cl:progn (swank::spawn-worker-thread swank::*emacs-connection*) cl:nil)";
    await image.client.request(read(form), { label: "an idle worker" });
    await image.client.close();
    await image.untilTidy();
  });

  it("ends a request that prints to the client's REPL, which shows nothing any more", async () => {
    await image.client.run(calls.repl.createRepl);
    const form = `(cl:loop (cl:write-char #\\x (swank::connection.user-output swank::*emacs-connection*)) (cl:sleep 1/100))`;
    const request = image.client.request(read(form), { label: "printing" }).catch((error: unknown) => error);
    await pause(100);
    await image.client.close();
    await request;
    await image.untilTidy();
  });

  it("leaves a thread of the program that has the name and the connection of Swank's", async () => {
    await image.values(`(defvar *beats* (list 0))
       (let ((connection swank::*emacs-connection*))
         (sb-thread:make-thread
           (lambda ()
             (let ((swank::*emacs-connection* connection))
               (loop repeat 200 do (sb-ext:atomic-incf (car *beats*)) (sleep 0.01))
               (setf (car *beats*) -1)))
           :name "worker"))`);
    await image.client.close();
    while ((await image.ask("(cl:car cl-user::*beats*)")) !== "-1") await pause(50);
  });

  it("does not end evaluations of other clients", async () => {
    const evaluation = image.client.evaluate("(sleep 0.5) :survived");
    const halted = image.client.evaluate('(cerror "go on" "x") :continued');
    const stop = stopped(await halted.next());
    const other = await image.connect();
    other.evaluate("(loop)");
    await other.close();
    await killedClient(running(["(loop)"]), { port: image.swank.port });
    expect(await evaluation.next()).to.deep.include({ status: "returned", values: [":SURVIVED"] });
    expect(stop.stop.isLive).to.equal(true);
    await stop.stop.invokeRestart(0);
    expect(await halted.next()).to.deep.include({ status: "returned", values: [":CONTINUED"] });
  });

  it("leaves nothing in the client's process that keeps it running", async () => {
    const program = `
      import { connect } from "swank-client";
      const client = await connect({ port: ${image.swank.port} });
      await client.evaluate("(+ 1 2)").next({ timeout: 1e6, signal: new AbortController().signal });
      const running = client.evaluate("(loop)");
      await running.next({ timeout: 50 }).catch(() => undefined);
      await running.interrupt();
      await running.next();
      const halted = client.evaluate('(error "x")');
      await halted.next();
      await client.close();`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: "inherit" });
    expect(await once(child, "exit")).to.deep.equal([0, null]);
  });

  it("and a new connection begin a new session", async () => {
    await image.values("(in-package :keyword)");
    await image.client.close();
    const again = await image.connect();
    expect(await values(again, "(list * (package-name *package*))")).to.deep.equal(['(NIL "COMMON-LISP-USER")']);
  });

  it("leaves no threads, sessions or mailboxes behind, however often it happens", async () => {
    // Threads of ours that do something for a moment only may still be there at first.
    const count = `(cl:list (cl:length swank::*connections*)
      (cl:count-if-not (cl:lambda (thread) (cl:search "swank-client" (sb-thread:thread-name thread))) (sb-thread:list-all-threads)))`;
    await image.values("1");
    const before = await image.ask(count);
    for (let round = 0; round < 30; round += 1) {
      const other = await image.connect();
      await values(other, "1");
      await other.close();
    }
    while ((await image.ask(count)) !== before) await pause(50);
  });
});
