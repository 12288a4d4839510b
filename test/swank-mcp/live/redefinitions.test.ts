import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

const SOURCE = `(defpackage :mill (:use :cl))
(in-package :mill)

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *factor* 2)
  (defun factor () *factor*))
(defmacro scaled (form) \`(* ,(factor) ,form))
(defun weight (n) (scaled n))
(defun plain (n) n)
(defgeneric price (thing))
(defmethod price ((thing integer)) (scaled thing))

(defvar *stop* nil)
(defvar *begun* (sb-thread:make-semaphore))
(declaim (ftype (function () t) turn))
(defun turn () (sb-thread:signal-semaphore *begun*) (loop until *stop* do (sleep 0.01)))
(defun turn-twice () (turn) (turn))
(defgeneric wait-for (thing))
(defmethod wait-for ((thing integer)) (sb-thread:signal-semaphore *begun*) (loop until *stop* do (sleep 0.01)) thing)
(defun start (&rest functions)
  (setf *begun* (sb-thread:make-semaphore))
  (dolist (function functions) (sb-thread:make-thread function :name "turning"))
  (and (sb-thread:wait-on-semaphore *begun* :n (length functions) :timeout 20) t))
`;

/** Ends the threads that turn. */
const STOP =
  '(setf mill::*stop* t) (mapc (lambda (thread) (when (equal (sb-thread:thread-name thread) "turning") (sb-thread:join-thread thread :default nil))) (sb-thread:list-all-threads)) (setf mill::*stop* nil)';

/** A time before now, since SBCL compares files by the second in which they were written. */
const EARLIER = new Date(Date.now() - 60_000);

describe("After a redefinition", () => {
  const folder = liveFolder("redefinitions");
  const file = join(folder, "mill.lisp");
  const server = liveServer();

  beforeEach(async () => {
    await writeFile(file, SOURCE);
    await utimes(file, EARLIER, EARLIER);
    await server.evaluate(`(load (compile-file ${JSON.stringify(file)}))`);
  });
  afterEach(() => server.evaluate(STOP));

  const call = async (tool: string, args: object = {}) =>
    blocks(await server.call(tool, args))
      .join("\n--\n")
      .replaceAll(`${folder}/`, "");
  const evaluate = async (code: string) => (await server.evaluate(code)).join("\n--\n");
  const inside = (text: string) => /Threads still inside the old definition: (.*)/.exec(text)?.[1];

  /** Starts threads, and waits until each is inside a function that turns or waits. */
  async function start(...forms: readonly string[]): Promise<void> {
    const functions = forms.map((form) => `(lambda () ${form})`).join(" ");
    expect(await evaluate(`(mill::start ${functions})`)).to.equal("=> T");
  }

  it("evaluate-lisp says how many threads are still inside the old definition of a function or method", async () => {
    await start("(mill::turn)", "(mill::turn-twice)", "(mill::wait-for 1)");
    const turn = await evaluate("(defun mill::turn () :new)");
    expect(inside(turn)).to.equal("MILL::TURN 2");
    expect(inside(await evaluate("(defmethod mill::wait-for ((thing integer)) :new)"))).to.equal(
      "(METHOD MILL::WAIT-FOR (INTEGER)) 1",
    );
    expect(inside(await evaluate("(defun mill::plain (n) (1+ n))"))).to.equal(undefined);
    const result = await server.call("evaluate-lisp", { code: "(defun mill::turn-twice () :new)" });
    expect(JSON.stringify(result._meta)).to.include(
      '"threads_inside_old":[{"name":"MILL::TURN-TWICE","threads":1,"complete":true}]',
    );
  });

  it("does not count the thread of the evaluation, or threads that have left the old definition", async () => {
    expect(inside(await evaluate("(defun mill::again () (eval '(defun mill::again () 2))) (mill::again)"))).to.equal(
      undefined,
    );
    await start("(mill::turn)");
    await evaluate(STOP);
    expect(inside(await evaluate("(defun mill::turn () :new)"))).to.equal(undefined);
  });

  it("leaves a timeout that falls into a look at its thread to the program", async () => {
    // a look at this many frames takes longer than the timeout
    await evaluate(`(defvar mill::*timeouts* (sb-thread:make-semaphore))
      (defun mill::deep (n)
        (if (plusp n)
            (1+ (mill::deep (1- n)))
            (loop until mill::*stop*
                  do (handler-case (sb-ext:with-timeout 0.01 (sleep 60))
                       (sb-ext:timeout () (sb-thread:signal-semaphore mill::*timeouts*)))
                  finally (return 0))))`);
    await start("(progn (sb-thread:signal-semaphore mill::*begun*) (mill::deep 1500))");
    for (let round = 0; round < 10; round += 1) await evaluate("(defun mill::plain (n) n)");
    const next =
      "(and (sb-thread:wait-on-semaphore mill::*timeouts* :n (1+ (sb-thread:semaphore-count mill::*timeouts*)) :timeout 10) t)";
    expect(await evaluate(next)).to.equal("=> T");
  });

  it("compile-code, load-system and load-changes say it, too", async () => {
    await start("(mill::turn)");
    expect(
      inside(
        await call("compile-code", {
          code: "(in-package :mill) (defun turn () (sb-thread:signal-semaphore *begun*) (loop until *stop* do (sleep 0.02)))",
          load: true,
        }),
      ),
    ).to.equal("MILL::TURN 1");
    await start("(mill::turn)");
    await writeFile(file, SOURCE.replaceAll("(sleep 0.01)", "(sleep 0.03)"));
    expect(inside(await call("load-changes", { file }))).to.equal("MILL::TURN 1");
    await start("(mill::turn)");
    expect(inside(await call("load-system", { file }))).to.equal("MILL::TURN 1");
  });

  it("names the definitions that were expanded with a function that macros call, which load-changes evaluates again by name", async () => {
    const text = await evaluate("(defun mill::factor () 3)");
    expectFacts(
      text,
      "Compiled with the old MILL::FACTOR: (METHOD MILL::PRICE (INTEGER)), MILL::WEIGHT (evaluate their definitions again: load-changes with names)",
    );
    expect(await evaluate("(list (mill::weight 1) (mill::price 1))")).to.equal("=> (2 2)");
    expect(await call("load-changes", { names: ["mill::weight", "(method mill::price (integer))"] })).to.equal(
      "Loaded:\nfunction MILL::WEIGHT mill.lisp:8:1\n(METHOD MILL::PRICE (INTEGER)) mill.lisp:11:1",
    );
    expect(await evaluate("(list (mill::weight 1) (mill::price 1))")).to.equal("=> (3 3)");
    expect(await evaluate("(defun mill::plain (n) (* 2 n))")).not.to.include("Compiled with the old");
  });

  it("load-changes evaluates only what was named, and says which names it could not", async () => {
    await evaluate("(defun mill::only-here () 1) (defun mill::plain (n) (- n))");
    await writeFile(file, SOURCE.replace("(scaled n)", "(1+ (scaled n))").replace("(* ,(factor)", "(+ ,(factor)"));
    const text = await call("load-changes", {
      names: ["mill::weight", "mill::only-here", "mill::plain", "mill::missing"],
    });
    expectFacts(
      text,
      "Loaded:\nfunction MILL::WEIGHT mill.lisp:8:1\n\n",
      "Not defined: mill::missing\n\nNot evaluated again, because no file",
      "Not evaluated again, because what was evaluated differs from the file.",
    );
    expect(await evaluate("(list (mill::weight 5) (mill::plain 1))")).to.equal("=> (11 -1)");
    expectFacts(await call("load-changes"), "Loaded:\nmacro MILL::SCALED mill.lisp:7:1");
  });
});
