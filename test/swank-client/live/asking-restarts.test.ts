import { expect } from "chai";
import type { Outcome, Stop } from "swank-client";
import { rejection } from "../../support/caught.js";
import { liveClient } from "./live-image.js";
import { returned, stopped } from "./outcomes.js";

/** The next outcome of the evaluation that a stop belongs to. */
async function next({ evaluation }: Stop): Promise<Outcome> {
  if (evaluation === undefined) throw new Error("The stop belongs to no evaluation.");
  return evaluation.next();
}

describe("Restarts that ask", () => {
  const image = liveClient();

  beforeEach(async () => {
    await image.values(`(defun asserted (x y) (assert (< x y) (x y) "~a is not below ~a" x y) (list x y))
       (defun asserted-place (cell) (assert (stringp (car cell)) ((car cell))) cell)
       (defun checked (x) (check-type x string) x)
       (defun asking () (restart-case (error "asks")
                          (answer (a b) :interactive (lambda () (format *query-io* "Number: ") (list (read *query-io*) (read-line *query-io*))) (list a b))))
       (defun reading () (restart-case (error "reads") (go-on () (list (read-line) (read-line nil nil :end)))))
       (defun nested () (handler-bind ((error (lambda (c) (declare (ignore c)) (asserted 4 3)))) (asserted-place (list 1))))`);
  });

  const stop = async (code: string): Promise<Stop> => stopped(await image.evaluate(code)).stop;
  const end = async (at: Stop) => returned(await next(at)).values;
  const index = ({ restarts }: Stop, name: string) => restarts.findIndex((restart) => restart.name === name);

  it("of ASSERT take one value for each place", async () => {
    const at = await stop("(asserted 3 1)");
    await at.invokeRestart(index(at, "CONTINUE"), ["(1- 1)", "(list-length '(a b))"]);
    expect(await end(at)).to.deep.equal(["(0 2)"]);
  });

  it("of ASSERT take values that have no readable text", async () => {
    await image.values("(defparameter *given* nil) (defstruct point) (defun place-of (x) (assert (point-p x) (x)) x)");
    const at = await stop("(eq (place-of 1) *given*)");
    await at.invokeRestart(index(at, "CONTINUE"), ["(setf *given* (make-point))"]);
    expect(await end(at)).to.deep.equal(["T"]);
  });

  it("of ASSERT take all values of an expression, for a place that takes several", async () => {
    await image.values("(defun both (a b) (assert (< a b) ((values a b))) (list a b))");
    for (const [given, options] of [
      [["(values 1 2)"], {}],
      [[], { stdin: "y\n(values 1 2)\n" }],
    ] as const) {
      const at = await stop("(both 3 1)");
      await at.invokeRestart(index(at, "CONTINUE"), given, options);
      expect(await end(at)).to.deep.equal(["(1 2)"]);
    }
  });

  it("of ASSERT take values under every readtable case", async () => {
    for (const mode of [":invert", ":preserve", ":downcase", ":upcase"]) {
      const at = await stop(
        `(let ((*readtable* (copy-readtable nil))) (setf (readtable-case *readtable*) ${mode}) (asserted 3 1))`,
      );
      await at.invokeRestart(index(at, "CONTINUE"), ["1", "2"]);
      expect(await end(at), mode).to.deep.equal(["(1 2)"]);
    }
  });

  it("of ASSERT answer for the call that they belong to when one is inside another", async () => {
    const at = await stop("(nested)");
    await at.invokeRestart(index(at, "CONTINUE"), ["1", "2"]);
    const outer = stopped(await next(at)).stop;
    await outer.invokeRestart(index(outer, "CONTINUE"), ['"text"']);
    expect(await end(outer)).to.deep.equal(['("text")']);
  });

  it("of ASSERT say how many values they want, and leave the stop as it was", async () => {
    const at = await stop("(asserted 3 1)");
    const error = await rejection(at.invokeRestart(index(at, "CONTINUE"), ["1"]), "INVALID_ARGUMENT");
    expect(error.message).to.equal("The restart CONTINUE takes 2 values.");
    await rejection(at.invokeRestart(index(at, "CONTINUE"), ["1", "(car 1)"]), "INVALID_ARGUMENT");
    expect(at.isLive).to.equal(true);
    await at.abort();
  });

  it("of ASSERT read what CONTINUE is given as stdin", async () => {
    const at = await stop("(asserted 3 1)");
    await at.continue({ stdin: "y\n1\nn\n" });
    const again = stopped(await next(at)).stop;
    expect(again.condition.message).to.equal("1 is not below 1");
    await again.continue({ stdin: "n\ny\n5" });
    expect(await end(again)).to.deep.equal(["(1 5)"]);
  });

  it("of ASSERT refuse missing and wrong answers, and leave the stop as it was", async () => {
    const at = await stop("(asserted 3 1)");
    const leave: Record<string, (stdin?: string) => Promise<void>> = {
      invokeRestart: (stdin) => at.invokeRestart(index(at, "CONTINUE"), [], { stdin }),
      continue: (stdin) => at.continue({ stdin }),
      step: (stdin) => at.step("out", { stdin }),
    };
    for (const [name, call] of Object.entries(leave)) {
      for (const stdin of [undefined, "", "4", "y\n1\n", "y\n1\ny\n(list", "y\n1\n\n"]) {
        const error = await rejection(call(stdin), "INVALID_ARGUMENT");
        expect(error.message, `${name} ${stdin}`).to.match(/After CONTINUE, ASSERT asks for new values of: X, Y\.$/);
      }
      const error = await rejection(call("y\n(car 1)\nn\n"), "INVALID_ARGUMENT");
      expect(error.message, name).to.match(/A value for the restart CONTINUE could not be evaluated: TYPE-ERROR/);
      expect(at, name).to.include({ isLive: true, level: 1 });
    }
    await at.continue({ stdin: "n\nyes\n(+ 2\n 3)\n" });
    expect(await end(at)).to.deep.equal(["(3 5)"]);
  });

  it("of ASSERT evaluate no answer unless all are given", async () => {
    await image.values("(defparameter *n* 0)");
    const at = await stop("(asserted 3 1)");
    for (const stdin of ["y\n(incf *n*)\n", "y\n(incf *n*)\ny\n(list"])
      await rejection(at.continue({ stdin }), "INVALID_ARGUMENT");
    expect(await image.values("*n*")).to.deep.equal(["0"]);
    await at.abort();
  });

  it("of ASSERT are refused in a thread that runs no evaluation", async () => {
    const found = new Promise<Stop>((resolve) => image.client.on("stop", resolve));
    await image.values("(sb-thread:make-thread (lambda () (asserted 3 1)))");
    const at = await found;
    for (const call of [
      () => at.continue(),
      () => at.continue({ stdin: "n\nn\n" }),
      () => at.invokeRestart(index(at, "CONTINUE")),
      () => at.invokeRestart(index(at, "CONTINUE"), ["1", "2"]),
    ])
      expect((await rejection(call(), "INVALID_ARGUMENT")).message).to.match(/this thread runs no evaluation/);
    expect(at.isLive).to.equal(true);
    await at.abort();
  });

  it("of ASSERT read what is left of the evaluation's input if no other answers are given", async () => {
    const at = stopped(await image.evaluate("(list (asserted 3 1) (read-line))", { stdin: "n\ny\n7\nrest" })).stop;
    await at.continue();
    expect(await end(at)).to.deep.equal(['((3 7) "rest")']);
  });

  it("of ASSERT leave the evaluation's input to the code if answers are given", async () => {
    const code = "(list (asserted 3 1) (read-line) (multiple-value-list (read-line)))";
    for (const [given, options] of [
      [["10", "20"], {}],
      [[], { stdin: "yes\n10\ny\n20\n" }],
    ] as const) {
      const at = stopped(await image.evaluate(code, { stdin: "yankee\nrecord 1" })).stop;
      await at.invokeRestart(index(at, "CONTINUE"), given, options);
      expect(await end(at)).to.deep.equal(['((10 20) "yankee" ("record 1" T))']);
    }
  });

  it("of ASSERT refuse input that is left and does not answer, which the code reads later", async () => {
    const at = stopped(await image.evaluate("(list (asserted 3 1) (read-line))", { stdin: "zzz\n" })).stop;
    await rejection(at.continue(), "INVALID_ARGUMENT");
    await rejection(at.continue({ stdin: "y\n" }), "INVALID_ARGUMENT");
    expect(at.isLive).to.equal(true);
    await at.continue({ stdin: "n\ny\n5\nmore" });
    expect(await end(at)).to.deep.equal(['((3 5) "zzz")']);
  });

  it("of ASSERT are refused if the code asks on a stream of its own", async () => {
    await image.values(`(defun apart (function) (let ((*query-io* (make-two-way-stream (make-string-input-stream "") *standard-output*))) (funcall function)))
       (defun together (function) (let ((*query-io* (make-two-way-stream (make-synonym-stream '*standard-input*) *standard-output*))) (funcall function)))`);
    const at = await stop("(apart (lambda () (asserted 3 1)))");
    for (const call of [
      () => at.continue(),
      () => at.continue({ stdin: "n\nn\n" }),
      () => at.invokeRestart(index(at, "CONTINUE"), ["1", "2"]),
    ])
      expect((await rejection(call(), "INVALID_ARGUMENT")).message).to.match(/\*QUERY-IO\* is a stream of its own/);
    expect(at.isLive).to.equal(true);
    await at.abort();
    const read = await stop("(together (lambda () (asserted 3 1)))");
    await read.invokeRestart(index(read, "CONTINUE"), ["1", "2"]);
    expect(await end(read)).to.deep.equal(["(1 2)"]);
  });

  it("give code text to read after it has read the end of its input", async () => {
    const ended = await stop("(read-line)");
    await ended.invokeRestart(index(ended, "RETRY"), [], { stdin: "text\n" });
    expect(await end(ended)).to.deep.equal(['"text"', "NIL"]);
    const at = await stop("(list (read-line nil nil) (asserted 3 1))");
    await at.invokeRestart(index(at, "CONTINUE"), ["1", "2"]);
    expect(await end(at)).to.deep.equal(["(NIL (1 2))"]);
  });

  it("with an interactive function read stdin, or take values", async () => {
    for (const [given, options] of [
      [[], { stdin: "(list 1 2) rest\n" }],
      [["'(list 1 2)", '"rest"'], {}],
    ] as const) {
      const at = await stop("(asking)");
      await at.invokeRestart(index(at, "ANSWER"), given, options);
      expect(await end(at)).to.deep.equal(['((LIST 1 2) "rest")']);
    }
  });

  it("with an interactive function that finds no input leave the stop as it was", async () => {
    const at = await stop("(asking)");
    for (const stdin of ["(list", "", "(list)"]) {
      const error = await rejection(at.invokeRestart(index(at, "ANSWER"), [], { stdin }), "INVALID_ARGUMENT");
      expect(error.message).to.equal("The restart ANSWER reads more than stdin has. It asked: Number:");
    }
    const missing = await rejection(at.invokeRestart(index(at, "ANSWER")), "INVALID_ARGUMENT");
    expect(missing.remedy).to.contain("stdin");
    await at.invokeRestart(index(at, "ANSWER"), ["1", "2"]);
    expect(await end(at)).to.deep.equal(["(1 2)"]);
  });

  it("with an interactive function that asks for yes or no take no other answer", async () => {
    const code =
      '(restart-case (error "x") (go-on (sure) :interactive (lambda () (list (y-or-n-p "Sure?"))) (list sure (read-line))))';
    const at = await stop(code);
    const error = await rejection(at.invokeRestart(index(at, "GO-ON"), [], { stdin: "maybe\n" }), "INVALID_ARGUMENT");
    expect(error.message).to.match(/reads more than stdin has/);
    await at.invokeRestart(index(at, "GO-ON"), [], { stdin: "yes\nrest\n" });
    expect(await end(at)).to.deep.equal(['(T "rest")']);
  });

  it("print what they ask once, when they return", async () => {
    const at = await stop("(asking)");
    await rejection(at.invokeRestart(index(at, "ANSWER"), [], { stdin: "" }), "INVALID_ARGUMENT");
    await at.invokeRestart(index(at, "ANSWER"), [], { stdin: "1 rest\n" });
    expect(returned(await next(at))).to.include({ stdout: "Number: " });
  });

  it("refuse keywords that they do not take, and values of their interactive function", async () => {
    await image.values(`(defun keyed () (restart-case (error "keyed") (plain (&key a) a) (open (b &rest all &key a &allow-other-keys) (list b all a))))
       (defun bound () (block nil (restart-bind ((go-on (lambda (&key ((:first a) 1)) (return a)))) (error "bound"))))
       (defun few () (restart-case (error "few") (pair (a b) :interactive (lambda () (list (read))) (list a b))))`);
    for (const [code, name, refused, given, result] of [
      ["(keyed)", "PLAIN", [["1"], [":b", "1"], [":a", "1", ":b"], ["'a", "1"]], [":a", "1"], "1"],
      ["(keyed)", "PLAIN", [], [":b", "1", ":allow-other-keys", "t"], "NIL"],
      ["(keyed)", "OPEN", [["1", ":a"]], ["1", ":c", "2"], "(1 (:C 2) NIL)"],
      ["(bound)", "GO-ON", [["1"], [":a", "1"]], [":first", "2"], "2"],
    ] as const) {
      const at = await stop(code);
      for (const wrong of refused) {
        const error = await rejection(at.invokeRestart(index(at, name), wrong), "INVALID_ARGUMENT");
        expect(error.message, `${name} ${wrong}`).to.match(/has the lambda list \(.*&KEY/);
      }
      await at.invokeRestart(index(at, name), given);
      expect(await end(at), `${name} ${given}`).to.deep.equal([result]);
    }
    const few = await stop("(few)");
    const error = await rejection(few.invokeRestart(index(few, "PAIR"), [], { stdin: "1" }), "INVALID_ARGUMENT");
    expect(error.message).to.equal("The restart PAIR takes 2 values.");
    await few.abort();
    const many = await stop('(restart-case (error "x") (one (a) :interactive (lambda () (list (read) (read))) a))');
    const named = await rejection(many.invokeRestart(index(many, "ONE"), [], { stdin: "1 2" }), "INVALID_ARGUMENT");
    expect(named.message).to.equal("The restart ONE takes 1 value.");
    await many.abort();
  });

  it("of CHECK-TYPE read an expression from stdin", async () => {
    const at = await stop("(checked 1)");
    await at.invokeRestart(index(at, "STORE-VALUE"), [], { stdin: '(format nil "~a" 5)' });
    expect(await end(at)).to.deep.equal(['"5"']);
  });

  it("with several parameters say how many values they want, and leave the stop as it was", async () => {
    await image.values(`(defun several () (restart-case (error "several") (pair (a b) (list a b))))
       (defun mixed ()
         (restart-case (error "mixed") (pair (a b) (list a b)) (use-value (v) v) (open (a &optional b &key c) (list a b c))))`);
    const at = await stop("(several)");
    for (const given of [[], ["1"], ["1", "2", "3"]]) {
      const error = await rejection(at.invokeRestart(index(at, "PAIR"), given), "INVALID_ARGUMENT");
      expect(error.message).to.equal("The restart PAIR takes 2 values.");
    }
    await at.invokeRestart(index(at, "PAIR"), ["1", "2"]);
    expect(await end(at)).to.deep.equal(["(1 2)"]);
    const mixed = await stop("(mixed)");
    for (const given of [[], ["1"], ["1", "2", "3"]])
      await rejection(mixed.invokeRestart(index(mixed, "PAIR"), given), "INVALID_ARGUMENT");
    await mixed.invokeRestart(index(mixed, "OPEN"), ["1", "2", ":c", "3"]);
    expect(await end(mixed)).to.deep.equal(["(1 2 3)"]);
    const form = await stop('(restart-case (error "x") (pair (a b) :interactive (lambda () (list 1 2)) (list a b)))');
    const error = await rejection(form.invokeRestart(index(form, "PAIR"), ["1"]), "INVALID_ARGUMENT");
    expect(error.message).to.equal("The restart PAIR takes 2 values.");
    await form.invokeRestart(index(form, "PAIR"), ["1", "2"]);
    expect(await end(form)).to.deep.equal(["(1 2)"]);
  });

  it("whose code reads get stdin, and then the end of the input", async () => {
    const at = await stop("(reading)");
    await at.invokeRestart(index(at, "GO-ON"), [], { stdin: "one line" });
    expect(await end(at)).to.deep.equal(['("one line" :END)']);
  });
});

describe("Stop.continue and step", () => {
  const image = liveClient();

  it("give the code text to read", async () => {
    const at = stopped(await image.evaluate("(progn (break) (list (read) (read-line)))")).stop;
    await at.continue({ stdin: "(a b) c\nd" });
    expect(returned(await next(at)).values).to.deep.equal(['((A B) "c")']);
    const stepping = stopped(await image.evaluate("(progn (break) (read-line))")).stop;
    await stepping.step("over", { stdin: "text" });
    let outcome = await next(stepping);
    while (outcome.status === "stopped") {
      await outcome.stop.step("over");
      outcome = await next(stepping);
    }
    expect(returned(outcome).values).to.deep.equal(['"text"', "NIL"]);
  });
});
