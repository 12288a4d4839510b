import { expect } from "chai";
import type { types } from "swank-client";
import { liveClient } from "./live-image.js";
import { nextStop } from "./next-stop.js";
import { stopped } from "./outcomes.js";

const calls = (error: types.ErrorSnapshot, kind: string) =>
  error.frames.filter((frame) => frame.kind === kind).map(({ call }) => call);

describe("Stop data", () => {
  const image = liveClient();

  /** What stops code, which is then aborted. */
  async function stopOf(code: string) {
    const { evaluation, stop } = await image.stopIn(code);
    await evaluation.abort();
    return { error: stop.condition, locals: stop.data.locals };
  }

  it("has the name of the thread", async () => {
    const coming = nextStop(image.client);
    await image.values(`(sb-thread:make-thread (lambda () (error "x")) :name "grinder") t`);
    const stop = await coming;
    expect(stop.data).to.include({ threadName: "grinder", isOwn: true });
    await stop.abort();
    const evaluation = image.client.evaluate(
      '(setf (sb-thread:thread-name sb-thread:*current-thread*) "mine") (error "x")',
    );
    expect(stopped(await evaluation.next()).stop.data.threadName).to.equal("mine");
    await evaluation.abort();
  });

  describe("frames", () => {
    it("are the user's calls, down to the form, without the evaluator's, Swank's or the runtime's", async () => {
      const { error } = await stopOf(
        '(defun s-c (x) (error "~a" x)) (defun s-b (x) (s-c (1+ x))) (defun s-a (x) (s-b x)) (s-a 1)',
      );
      expect(calls(error, "user")).to.deep.equal(["(S-C 2)", "(S-B 1)", "(S-A 1)"]);
      expect(calls(error, "toplevel")).to.deep.equal([]);
      expect(error.totalFrames).to.be.above(error.frames.length);
    });

    it("include a tail call's caller, arithmetic and generic functions", async () => {
      await image.values("(defclass thing () ()) (defgeneric g (x y)) (defmethod g ((x thing) y) (/ y 0))");
      const { error } = await stopOf("(defun tail (y) (g (make-instance 'thing) y)) (tail 7)");
      const own = calls(error, "user");
      expect(own.join("\n")).to.match(/\(:METHOD G \(THING T\)\)/);
      expect(own).to.include("(TAIL 7)");
    });

    it("keep Swank's indexes, and mark the system frames above the user's", async () => {
      const { error } = await stopOf('(defun machine () (parse-integer "x")) (machine)');
      expect(error.frames.map(({ index }) => index)).to.deep.equal(error.frames.map((_, position) => position));
      const first = error.frames.findIndex(({ kind }) => kind === "user");
      expect(error.frames.slice(0, first).every(({ kind }) => kind === "system")).to.equal(true);
      expect(calls(error, "user")).to.include("(MACHINE)");
    });

    it("keep the code's own EVAL", async () => {
      const { error } = await stopOf("(defun inner () (car 5)) (defun outer () (eval '(inner))) (outer)");
      const own = calls(error, "user");
      expect(own).to.include.members(["(INNER)", "(OUTER)"]);
      expect(own.some((call) => call.startsWith("(EVAL "))).to.equal(true);
      expect(own.at(-1)).to.equal("(OUTER)");
    });

    it("include at least one if the form itself fails", async () => {
      for (const code of [
        '(error "x")',
        "no-such-variable",
        "(break)",
        "(throw 'nowhere 1)",
        "(let ((a 1)) (car a))",
      ]) {
        expect((await stopOf(code)).error.frames, code).not.to.deep.equal([]);
      }
    });

    it("include the call of an undefined function", async () => {
      const { error } = await stopOf("(defun calls-undefined () (list (no-such-thing 1 :two))) (calls-undefined)");
      const own = calls(error, "user");
      expect(own[0]).to.match(/^\(NO-SUCH-THING 1 :TWO\)$/);
      expect(own).to.include("(CALLS-UNDEFINED)");
    });

    it("are one line of bounded length each, whatever the arguments are", async () => {
      await image.values('(defclass bad () ()) (defmethod print-object ((o bad) s) (error "no"))');
      const { error } = await stopOf(`(defun wide (a b c d) (error "x" a b c d))
        (wide (make-string 100000000 :initial-element #\\z) (make-list 1000000) (make-instance 'bad) (let ((l (list 1))) (setf (cdr l) l)))`);
      expect(calls(error, "user")[0]).to.match(/^\(WIDE "zzz/);
      for (const { call } of error.frames) {
        expect(call.length).to.be.below(400);
        expect(call).not.to.contain("\n");
      }
    });

    it("are the innermost 200 of a deep stack, with the total", async () => {
      const { error } = await stopOf('(defun down (n) (if (zerop n) (error "deep") (1+ (down (1- n))))) (down 5000)');
      expect(error.frames).to.have.lengthOf(200);
      expect(error.totalFrames).to.be.within(5000, 5100);
      expect(calls(error, "user")[0]).to.equal("(DOWN 0)");
    });

    it("take little time if arguments are huge numbers", async () => {
      const { error } = await stopOf(
        '(defun huge (n x) (if (zerop n) (error "deep") (1+ (huge (1- n) (ash x 1))))) (huge 300 (ash 1 3000000))',
      );
      expect(error.frames).to.have.lengthOf(200);
      expect(error.message).to.equal("deep");
    });
  });

  describe("variables", () => {
    it("are those of the first user frame", async () => {
      const { locals } = await stopOf(
        '(defun v-f (number text) (let ((sum (+ number 1))) (if (zerop sum) text (error "x")))) (v-f 41 "t")',
      );
      expect(locals).to.deep.include.members([
        { name: "NUMBER", value: "41", marks: ["argument"] },
        { name: "TEXT", value: '"t"', marks: ["argument"] },
        { name: "SUM", value: "42", marks: [] },
      ]);
    });

    it("are not read from a call with the wrong number of arguments, which has set none", async () => {
      await image.values(`(defvar *read* (list 0))
         (sb-ext:unlock-package "SB-DI")
         (sb-int:encapsulate 'sb-di:debug-var-value 'spy
           (lambda (read variable frame)
             (when (eq :external (sb-di:debug-fun-kind (sb-di:frame-debug-fun frame))) (incf (first *read*)))
             (funcall read variable frame)))`);
      const { error } = await stopOf("(defun one (x) (list x)) (one)");
      expect(error.type).to.equal("PROGRAM-ERROR");
      expect(calls(error, "user")).to.deep.equal(["(ONE) [external]"]);
      expect(await image.values("(sb-int:unencapsulate 'sb-di:debug-var-value 'spy) (first *read*)")).to.deep.equal([
        "0",
      ]);
    });

    it("omit names that no source has, and are limited", async () => {
      const { locals } =
        await stopOf(`(defun v-many (${[...Array(40).keys()].map((n) => `a${n}`).join(" ")}) (error "x" ${[...Array(40).keys()].map((n) => `a${n}`).join(" ")}))
        (apply #'v-many (loop for i below 40 collect (make-list 10000 :initial-element i)))`);
      expect(locals.length).to.be.within(10, 40);
      for (const { name, value } of locals) {
        expect(name).not.to.match(/^#:|^NIL$/);
        expect(value.length).to.be.below(300);
      }
    });
  });

  describe("condition", () => {
    it("has its report as message, or the failure of its report", async () => {
      const { error } = await stopOf(
        '(define-condition b-c (error) () (:report (lambda (c s) (declare (ignore c s)) (error "in the report")))) (error \'b-c)',
      );
      expect(error.class).to.equal("COMMON-LISP-USER::B-C");
      expect(error.message).to.match(/error printing|during printing/);
    });

    it("is bounded, even if it is circular or endless", async () => {
      for (const code of [
        '(error "~a" (make-string 100000000 :initial-element #\\y))',
        '(error "~a" (let ((l (list 1 2))) (setf (cddr l) l)))',
        '(error "~s" (let ((l (list 1 2))) (setf (car l) l)))',
        '(define-condition e-c (error) () (:report (lambda (c s) (declare (ignore c)) (loop (write-string "on and " s))))) (error \'e-c)',
        '(error "~a" (make-list 1000000))',
        '(with-standard-io-syntax (error "~a" (let ((l (list 1 2))) (setf (cddr l) l))))',
      ]) {
        expect((await stopOf(code)).error.message.length, code).to.be.within(3, 25_000);
      }
    });

    it("is shown even if parts of it never finish printing", async () => {
      const setUp = "(defstruct stuck) (defmethod print-object ((o stuck) s) (loop (sleep 1)))";
      await image.values(setUp);
      const { error, locals } = await stopOf(
        '(defun with-stuck (a b) (error "told ~*~a" a b)) (with-stuck (make-stuck) 2)',
      );
      expect(error).to.include({ type: "SIMPLE-ERROR", message: "told 2" });
      expect(error.frames.map(({ call }) => call)).to.include.members(["(WITH-STUCK ...)"]);
      expect(locals.map(({ name }) => name)).to.include("A");
      const other = await stopOf('(error "told ~a" (make-stuck))');
      expect(other.error.message).to.equal("#<a COMMON-LISP:SIMPLE-ERROR takes too long to print>");
    });

    it("has text of any alphabet, with its line breaks", async () =>
      expect((await stopOf('(error "おはよう~%🙂 \\"~c\\"" #\\Nul)')).error.message).to.equal('おはよう\n🙂 "\0"'));

    it("is printed in the package of the code", async () => {
      await image.values('(defpackage "SHOWN" (:use "CL"))');
      const { error } = await stopOf('(in-package "SHOWN") (defun f (x) (error "~s" x)) (f \'here)');
      expect(error.message).to.equal("HERE");
      expect(calls(error, "user")).to.include("(F HERE)");
      await image.values("(cl:in-package :cl-user)");
    });
  });
});
