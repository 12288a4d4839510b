import { expect } from "chai";
import { liveClient } from "./live-image.js";
import { aborted, returned, stopped } from "./outcomes.js";

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
    for (const [code, reason, type, message] of REASONS) {
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
    }

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
      const outcome = aborted(await image.evaluate(code));
      expect(outcome, code).not.to.have.property("error");
    }
  });

  it("does not occur if the code has its own debugger hook", async () => {
    const hook = (tail: string) =>
      `(block done (let ((*debugger-hook* (lambda (c h) (declare (ignore c h)) (return-from done 42)))) ${tail}))`;
    for (const onError of ["stop", "unwind"] as const) {
      expect(await image.values(hook('(error "x")'), { onError })).to.deep.equal(["42"]);
    }
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
