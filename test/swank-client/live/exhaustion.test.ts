import { expect } from "chai";
import { liveClient } from "./live-image.js";
import { nextStop } from "./next-stop.js";
import { aborted, returned, stopped } from "./outcomes.js";

describe("Evaluation that exhausts", () => {
  const image = liveClient();

  const RECURSE = "(defun recurse (x) (1+ (recurse x))) (recurse 1)";

  it("the stack, repeatedly, stops and can be aborted; the image stays usable", async () => {
    for (let round = 0; round < 8; round += 1) {
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
  ] as const) {
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
  }
  const matches = (text: string, known: string | RegExp) =>
    typeof known === "string" ? text === known : known.test(text);

  it("the stack in many threads simultaneously", async () => {
    const evaluations = [...Array(6).keys()].map(() => image.client.evaluate(RECURSE));
    for (const evaluation of evaluations)
      expect(stopped(await evaluation.next()).stop.condition.type).to.equal("STORAGE-CONDITION");
    for (const evaluation of evaluations) aborted(await evaluation.abort());
  });

  it("the stack, and handles the condition itself", async () => {
    for (let round = 0; round < 8; round += 1) {
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
    for (let round = 0; round < 4; round += 1) {
      const outcome = aborted(await image.evaluate(RECURSE, { onError: "unwind" }));
      expect(outcome.error?.type).to.equal("STORAGE-CONDITION");
      expect(outcome.error?.frames).to.have.lengthOf(200);
    }
  });

  it("the stack, by a value that prints itself without end", async () => {
    const setUp = "(defstruct endless) (defmethod print-object ((o endless) s) (1+ (print-object o s)))";
    for (let round = 0; round < 4; round += 1) {
      const [value] = await image.values(`${setUp} (make-endless)`);
      expect(value).to.match(/error printing/);
    }
  });

  it("the stack, by compiling", async () => {
    const evaluation = image.client.evaluate(
      "(let ((form 1)) (dotimes (i 200000) (setf form (list '1+ form))) (compile nil `(lambda () ,form)))",
    );
    const outcome = await evaluation.next();
    expect(outcome.status).to.be.oneOf(["stopped", "aborted"]);
    await evaluation.abort();
    expect(await image.values("(+ 1 1)")).to.deep.equal(["2"]);
  });

  it("the heap, by one large allocation", async () => {
    for (let round = 0; round < 3; round += 1) {
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
    for (let round = 0; round < 6; round += 1) {
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
