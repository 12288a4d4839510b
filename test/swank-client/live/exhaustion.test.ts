import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import type { SwankClient } from "swank-client";
import { rejection } from "../../support/caught.js";
import { type LiveImage, liveClient, liveImage } from "./live-image.js";
import { Neighbour } from "./neighbour.js";
import { nextStop } from "./next-stop.js";
import { aborted, returned, stopped } from "./outcomes.js";

describe("Evaluation that exhausts", () => {
  const image = liveClient();

  const RECURSE = "(defun recurse (x) (1+ (recurse x))) (recurse 1)";

  it("the stack, repeatedly, stops and can be aborted; the image stays usable", async () => {
    for (let round = 0; round < 3; round += 1) {
      const { evaluation, stop } = await image.stopIn(RECURSE);
      expect(stop.condition.type).to.equal("STORAGE-CONDITION");
      expect(stop.condition.message).to.match(/stack exhausted/i);
      expect(stop.condition.totalFrames).to.be.above(1000);
      expect(stop.condition.frames.some(({ call }) => call.startsWith("(RECURSE "))).to.equal(true);
      aborted(await evaluation.abort());
      expect(await image.values("(+ 1 1)")).to.deep.equal(["2"]);
    }
  });

  // The call that found no room was stopped at any instruction. Where it was a CALL, its caller's frame looks like another function's.
  for (const [definition, call, shown] of [
    ["(defun r (n) (1+ (r n)))", "(r 7)", ["(R 7)"]],
    ["(defun r (a &key c) (list a (r c :c a)))", "(r 'foo :c 3)", ["(R FOO :C 3)", "(R 3 :C FOO)"]],
    [
      "(defun r (a &optional (b 1)) (list a (r b a)))",
      "(r 1 'foo)",
      ["(R 1 FOO)", "(R FOO &OPTIONAL (B 1))", "(R FOO 1)"],
    ],
    ["(defun r (a &rest more) (list a (apply #'r a more)))", "(r 'foo 2)", ["(R FOO 2)"]],
    [
      "(defun r (f x) (flet ((g (y) (funcall f f y))) (list (g x) (g x))))",
      "(r #'r 'foo)",
      [/^\(R #<FUNCTION R> FOO\)$/, /G/],
    ],
    ["(defun r (a b c d e f) (list a (r b c d e f a)))", "(r 1 1 1 1 1 1)", ["(R 1 1 1 1 1 1)"]],
    ["(defun r (x) (mapcar (lambda (y) (r (list y))) x))", "(r '(a))", [/^\(R \(.*A.*|#\)+\)$/, /LAMBDA|MAP/]],
    ["(defun r (x) (handler-case (list (r x)) (error () 1)))", "(r 'foo)", ["(R FOO)", /FLET/]],
    [
      "(defgeneric m (x)) (defmethod m ((x symbol)) (list (m x)))",
      "(m 'foo)",
      ["((:METHOD M (SYMBOL)) FOO) [fast-method]"],
    ],
    [
      "(defun r (a) (declare (optimize (debug 1))) (vector (multiple-value-call #'r (values a))))",
      "(r 'foo)",
      ["(R FOO)"],
    ],
  ] as const)
    it(`the stack shows no garbage as arguments: ${definition}`, async () => {
      const { stop } = stopped(await image.evaluate(`(progn ${definition} ${call})`));
      const { frames } = await stop.frames(0, 40);
      const odd = frames
        .filter(({ call: text, kind }) => kind === "user" && !shown.some((known) => matches(text, known)))
        .map(({ index, call: text, source, locals }) => ({ index, text, locals, source }));
      for (const { text } of odd) expect(text).to.match(/^(\(.* \.\.\.\)|\[unknown function\])$/);
      expect(odd.length, JSON.stringify(odd)).to.be.below(3);
      expect(odd.flatMap(({ locals }) => locals)).to.deep.equal([]);
      expect(odd.filter(({ text, source }) => text.startsWith("[") && source !== undefined)).to.deep.equal([]);
      await stop.abort();
    });
  const matches = (text: string, known: string | RegExp) =>
    typeof known === "string" ? text === known : known.test(text);

  it("the stack in many threads simultaneously", async () => {
    const evaluations = [...Array(4).keys()].map(() => image.client.evaluate(RECURSE));
    for (const evaluation of evaluations)
      expect(stopped(await evaluation.next()).stop.condition.type).to.equal("STORAGE-CONDITION");
    for (const evaluation of evaluations) aborted(await evaluation.abort());
  });

  it("the stack, and handles the condition itself", async () => {
    for (let round = 0; round < 3; round += 1) {
      const code =
        "(list (handler-case (recurse 1) (storage-condition () :first)) (handler-case (recurse 1) (storage-condition () :second)))";
      expect(await image.values(`(defun recurse (x) (1+ (recurse x))) ${code}`)).to.deep.equal(["(:FIRST :SECOND)"]);
    }
  });

  it("the stack, again after RETRY and in a later form", async () => {
    const evaluation = image.client.evaluate(RECURSE);
    for (let round = 0; round < 3; round += 1) {
      const { stop } = stopped(await evaluation.next());
      await stop.invokeRestart(stop.restarts.findIndex(({ name }) => name === "RETRY"));
    }
    const { stop } = stopped(await evaluation.next());
    await image.values("(defun recurse (x) x)");
    await stop.invokeRestart(stop.restarts.findIndex(({ name }) => name === "RETRY"));
    expect(returned(await evaluation.next()).values).to.deep.equal(["1"]);
  });

  it("the stack, under policy unwind", async () => {
    for (let round = 0; round < 2; round += 1) {
      const outcome = aborted(await image.evaluate(RECURSE, { onError: "unwind" }));
      expect(outcome.error?.type).to.equal("STORAGE-CONDITION");
      expect(outcome.error?.frames).to.have.lengthOf(200);
    }
  });

  it("the stack, by a value that prints itself without end", async () => {
    const setUp = "(defstruct endless) (defmethod print-object ((o endless) s) (1+ (print-object o s)))";
    for (let round = 0; round < 2; round += 1) {
      expect((await image.values(`${setUp} (make-endless)`))[0]).to.match(/error printing/);
    }
  });

  it("the stack, by compiling", async () => {
    const evaluation = image.client.evaluate(
      "(let ((form 1)) (dotimes (i 200000) (setf form (list '1+ form))) (compile nil `(lambda () ,form)))",
    );
    expect((await evaluation.next()).status).to.be.oneOf(["stopped", "aborted"]);
    await evaluation.abort();
    expect(await image.values("(+ 1 1)")).to.deep.equal(["2"]);
  });

  it("the heap, by one large allocation", async () => {
    for (let round = 0; round < 2; round += 1) {
      const { evaluation, stop } = await image.stopIn("(make-array (ash 1 40))");
      expect(stop.condition.type).to.equal("STORAGE-CONDITION");
      expect(stop.condition.class).to.match(/HEAP-EXHAUSTED-ERROR$/);
      aborted(await evaluation.abort());
      expect(await image.values("(+ 1 1)")).to.deep.equal(["2"]);
    }
  });

  it("the binding stack, where no stop is possible, ends with a report", async () => {
    for (let round = 0; round < 3; round += 1) {
      const code = "(defvar *b* 0) (defun bind (n) (let ((*b* n)) (1+ (bind (1+ n))))) (bind 0)";
      const { error } = aborted(await image.evaluate(code));
      expect(error).to.include({
        type: "STORAGE-CONDITION",
        message: "Binding stack exhausted.\n\nPROCEED WITH CAUTION.",
      });
      expect(await image.values("(+ 1 1)")).to.deep.equal(["2"]);
    }
  });

  it("the stack of a background thread, which ends when it is aborted: later threads and evaluations run", async () => {
    for (let round = 0; round < 2; round += 1) {
      const next = nextStop(image.client);
      await image.values("(defun recurse (x) (1+ (recurse x))) (sb-thread:make-thread (lambda () (recurse 1))) 1");
      const stop = await next;
      expect(stop.condition.type).to.equal("STORAGE-CONDITION");
      // every other way leaves through a restart
      await (round % 2 === 0 ? stop.abort() : stop.invokeRestart(stop.restarts.length - 1));
      expect(await image.values("(list 1 2)")).to.deep.equal(["(1 2)"]);
    }
  });

  it("the stack of a thread that handles it and ends: evaluations and descriptions on the same stack run", async () => {
    const handled = `(defun recurse (x) (1+ (recurse x)))
      (sb-thread:join-thread (sb-thread:make-thread (lambda () (handler-case (recurse 1) (storage-condition () :handled)))))`;
    const endless =
      "(defstruct endless) (defmethod print-object ((o endless) s) (1+ (print-object o s))) (defvar *endless* (make-endless))";
    await image.values(endless);
    expect(await image.values(handled)).to.deep.equal([":HANDLED"]);
    // As many at once that one of them gets the stack of that thread.
    await Promise.all([...Array(4).keys()].map(() => image.client.describeSymbol("*endless*")));
    const evaluations = [...Array(4).keys()].map(() => image.client.evaluate("(recurse 1)"));
    for (const evaluation of evaluations)
      expect(stopped(await evaluation.next()).stop.condition.type).to.equal("STORAGE-CONDITION");
    for (const evaluation of evaluations) aborted(await evaluation.abort());
    expect(await image.values("(list 1 2)")).to.deep.equal(["(1 2)"]);
  });
});

const HOLD = '(sb-c::with-world-lock () (error "held"))';

/** The restart of Swank that ends a request. */
const ABORT = 0;

/** Stops a thread that holds the lock, as a user does in Emacs. */
async function held(
  image: LiveImage,
  work: (holder: { thread: number; level: number }) => Promise<void>,
): Promise<void> {
  const user = await Neighbour.of(image);
  const ended = user.evaluate(HOLD);
  const stop = await user.stop();
  try {
    await work({ thread: stop.thread, level: stop.level });
  } finally {
    await user.choose(stop, ABORT);
    await ended;
  }
}

describe("While the user's stopped thread holds the compiler's lock", () => {
  const image = liveImage();

  it("a client's first request in an image without the runtime fails, and the next one after the stop works", async () => {
    const refused: SwankClient[] = [];
    await held(image, async (holder) => {
      const error = await rejection(
        image.connect().then(async (client) => {
          refused.push(client);
          await client.eval("(+ 1 2)");
        }),
        "LOCK_HELD",
      );
      expect(error.message).to.match(/^loading the runtime: It needs the compiler's lock \(".+"\), which thread \d+ /);
      expect(error.details.holder).to.deep.equal(holder);
    });
    const client = refused[0] ?? (await image.connect());
    expect(await client.eval("(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("an evaluation that needs it fails, and one that does not returns", async () => {
    const client = await image.connect();
    await client.eval("(defvar *held-done* 0)");
    await held(image, async (holder) => {
      expect(await client.eval("(incf *held-done*)")).to.deep.equal(["1"]);
      const code = "(incf *held-done*) (sb-c::with-world-lock () (incf *held-done* 10))";
      const error = await rejection(client.eval(code), "LOCK_HELD");
      expect(error.details.holder).to.deep.equal(holder);
      expect(error.remedy).to.match(/^Resume or abort the stop \d+\/1, then try again\. /);
    });
    expect(await client.eval("*held-done*")).to.deep.equal(["2"]);
  });

  it("an evaluation that waits for a lock of the program keeps waiting", async () => {
    const client = await image.connect();
    await client.eval('(defvar *program-lock* (sb-thread:make-mutex :name "program"))');
    const user = await Neighbour.of(image);
    const ended = user.evaluate('(sb-thread:with-mutex (cl-user::*program-lock*) (error "held"))');
    const stop = await user.stop();
    const waiting = client.evaluate("(sb-thread:with-mutex (*program-lock*) :taken)");
    await pause(1500);
    await user.choose(stop, ABORT);
    await ended;
    expect(await waiting.next()).to.deep.include({ status: "returned", values: [":TAKEN"] });
  });

  it("many waiting requests all fail", async () => {
    const client = await image.connect();
    await client.eval("1");
    await held(image, async () => {
      const call = () => client.request(read("(sb-c::with-world-lock () 1)"), { label: "compiling" });
      const errors = await Promise.all(Array.from({ length: 30 }, () => rejection(call(), "LOCK_HELD")));
      expect(errors).to.have.lengthOf(30);
    });
  });
});

describe("While a running thread holds the compiler's lock", () => {
  const image = liveClient();
  const TAKE = "(sb-c::with-world-lock () 1)";

  it("an evaluation whose time is up names the lock and its holder", async () => {
    await image.client.eval("(defvar *running-free* nil)");
    const hold = "(sb-c::with-world-lock () (loop until *running-free* do (sleep 1/20)))";
    await image.client.eval(`(progn (sb-thread:make-thread (lambda () (sleep 1) ${hold})) 1)`);
    await pause(1500);
    const waiting = image.client.evaluate(TAKE);
    await pause(500);
    await waiting.interrupt();
    expect(waiting.awaitedLock).to.match(/^the compiler's lock \(".+"\), which thread \d+ holds$/);
    await image.client.eval("(setf *running-free* t)");
    await waiting.abort();
    expect(await image.client.eval(TAKE)).to.deep.equal(["1"]);
  });

  it("an evaluation that is interrupted while it runs waits for no lock", async () => {
    const running = image.client.evaluate("(loop (sleep 1/100))");
    await pause(500);
    await running.interrupt();
    expect(running.awaitedLock).to.equal(undefined);
    await running.abort();
  });
});

describe("While the user's stopped thread holds the compiler's lock in an image without the runtime", () => {
  const image = liveImage();

  it("the first requests of clients that connect at once fail, although they came before the image could watch them", async () => {
    await held(image, async () => {
      const first = async () => (await image.connect()).eval("(+ 1 2)");
      await Promise.all(Array.from({ length: 12 }, () => rejection(first(), "LOCK_HELD")));
    });
  });
});
