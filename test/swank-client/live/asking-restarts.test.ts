import { expect } from "chai";
import type { Outcome, Stop, types } from "swank-client";
import { rejection } from "../../support/caught.js";
import { liveClient } from "./live-image.js";
import { returned, stopped } from "./outcomes.js";

/** What restarts ask for, and who asks. */
const CODE = `
  (defstruct point) (defparameter *given* nil) (defparameter *n* 0)
  (defun asserted (x y) (assert (< x y) (x y) "~a is not below ~a" x y) (list x y))
  (defun asserted-place (cell) (assert (stringp (car cell)) ((car cell))) cell)
  (defun place-of (x) (assert (point-p x) (x)) x)
  (defun both (a b) (assert (< a b) ((values a b))) (list a b))
  (defun in-case (case) (let ((*readtable* (copy-readtable nil))) (setf (readtable-case *readtable*) case) (asserted 3 1)))
  (defun checked (x) (check-type x string) x)
  (defun asking () (restart-case (error "asks")
                     (answer (a b) :interactive (lambda () (format *query-io* "Number: ") (list (read *query-io*) (read-line *query-io*))) (list a b))))
  (defun reading () (restart-case (error "reads") (go-on () (list (read-line) (read-line nil nil :end)))))
  (defun nested () (handler-bind ((error (lambda (c) (declare (ignore c)) (asserted 4 3)))) (asserted-place (list 1))))
  (defun apart (function) (let ((*query-io* (make-two-way-stream (make-string-input-stream "") *standard-output*))) (funcall function)))
  (defun together (function) (let ((*query-io* (make-two-way-stream (make-synonym-stream '*standard-input*) *standard-output*))) (funcall function)))
  (defun keyed () (restart-case (error "keyed") (plain (&key a) a) (open (b &rest all &key a &allow-other-keys) (list b all a))))
  (defun bound () (block nil (restart-bind ((go-on (lambda (&key ((:first a) 1)) (return a)))) (error "bound"))))
  (defun few () (restart-case (error "few") (pair (a b) :interactive (lambda () (list (read))) (list a b))))
  (defun many () (restart-case (error "many") (one (a) :interactive (lambda () (list (read) (read))) a)))
  (defun sure () (restart-case (error "x") (go-on (sure) :interactive (lambda () (list (y-or-n-p "Sure?"))) (list sure (read-line)))))
  (defun several () (restart-case (error "several") (pair (a b) (list a b))))
  (defun formed () (restart-case (error "x") (pair (a b) :interactive (lambda () (list 1 2)) (list a b))))
  (defun mixed () (restart-case (error "mixed") (pair (a b) (list a b)) (use-value (v) v) (open (a &optional b &key c) (list a b c))))`;

const TWO = /^The restart \w+ takes 2 values\.$/;
const KEYS = /has the lambda list \(.*&KEY/;
const READS = /^The restart [\w-]+ reads more than stdin has\. It asked: /;
const ASKS = /After CONTINUE, ASSERT asks for new values of: X, Y\.$/;

/** The next outcome of the evaluation that a stop belongs to. */
async function next({ evaluation }: Stop): Promise<Outcome> {
  if (evaluation === undefined) throw new Error("The stop belongs to no evaluation.");
  return evaluation.next();
}

const end = async (at: Stop) => returned(await next(at)).values;
const index = ({ restarts }: Stop, name: string) => restarts.findIndex((restart) => restart.name === name);

/** How a restart is invoked. */
interface Invocation {
  readonly given?: readonly string[];
  readonly stdin?: string;
  /** The input of the evaluation. */
  readonly input?: string;
  /** CONTINUE by default. */
  readonly restart?: string;
  /** Values and texts that it refuses first, and leaves the stop as it was. */
  readonly refuses?: readonly (readonly string[] | string | undefined)[];
  readonly says?: RegExp;
}

describe("Restarts that ask", () => {
  const image = liveClient();
  beforeEach(() => image.values(CODE));

  const stop = async (code: string, options?: types.EvaluateOptions): Promise<Stop> =>
    (await image.stopIn(code, options)).stop;

  function restarts(title: string, code: string, result: string, invocation: Invocation): void {
    it(title, async () => {
      const { given = [], stdin, input, restart = "CONTINUE", refuses = [], says = /./ } = invocation;
      const at = await stop(code, input === undefined ? {} : { stdin: input });
      for (const wrong of refuses) {
        const [values, text] = typeof wrong === "object" ? [wrong, undefined] : [[], wrong];
        const refused = at.invokeRestart(index(at, restart), values, { stdin: text });
        expect((await rejection(refused, "INVALID_ARGUMENT")).message, String(wrong)).to.match(says);
        expect(at).to.include({ isLive: true, level: 1 });
      }
      await at.invokeRestart(index(at, restart), given, { stdin });
      expect((await end(at))[0]).to.equal(result);
    });
  }

  restarts("of ASSERT take one value for each place", "(asserted 3 1)", "(0 2)", {
    refuses: [["1"]],
    says: TWO,
    given: ["(1- 1)", "(list-length '(a b))"],
  });
  restarts("of ASSERT refuse values that cannot be evaluated", "(asserted 3 1)", "(1 2)", {
    refuses: [["1", "(car 1)"], "y\n(car 1)\nn\n"],
    says: /A value for the restart CONTINUE could not be evaluated: TYPE-ERROR/,
    given: ["1", "2"],
  });
  restarts("of ASSERT take values that have no readable text", "(eq (place-of 1) *given*)", "T", {
    given: ["(setf *given* (make-point))"],
  });
  for (const answers of [{ given: ["(values 1 2)"] }, { stdin: "y\n(values 1 2)\n" }])
    restarts(
      `of ASSERT take all values for a place that takes several: ${Object.keys(answers)}`,
      "(both 3 1)",
      "(1 2)",
      {
        ...answers,
      },
    );
  for (const mode of [":invert", ":preserve", ":downcase", ":upcase"])
    restarts(`of ASSERT take values under the readtable case ${mode}`, `(in-case ${mode})`, "(1 2)", {
      given: ["1", "2"],
    });
  restarts("of ASSERT evaluate no answer unless all are given", "(list (asserted 3 1) *n*)", "((3 5) 0)", {
    refuses: ["y\n(incf *n*)\n", "y\n(incf *n*)\ny\n(list"],
    stdin: "n\ny\n5\n",
  });
  const reads = "(list (asserted 3 1) (read-line))";
  restarts("of ASSERT read what is left of the evaluation's input", reads, '((3 7) "rest")', {
    input: "n\ny\n7\nrest",
  });
  restarts("of ASSERT refuse input that is left and does not answer, which the code reads", reads, '((3 5) "zzz")', {
    input: "zzz\n",
    refuses: [undefined, "y\n"],
    stdin: "n\ny\n5\nmore",
  });
  for (const answers of [{ given: ["10", "20"] }, { stdin: "yes\n10\ny\n20\n" }])
    restarts(
      `of ASSERT leave the evaluation's input to the code if answers are given: ${Object.keys(answers)}`,
      "(list (asserted 3 1) (read-line) (multiple-value-list (read-line)))",
      '((10 20) "yankee" ("record 1" T))',
      { input: "yankee\nrecord 1", ...answers },
    );
  for (const [where, code, result] of [
    ["on a synonym of the evaluation's input", "(together (lambda () (asserted 3 1)))", "(1 2)"],
    ["after the end of the input", "(list (read-line nil nil) (asserted 3 1))", "(NIL (1 2))"],
  ] as const)
    restarts(`of ASSERT take values ${where}`, code, result, { given: ["1", "2"] });
  restarts("give code text to read after the end of its input", "(values (read-line))", '"text"', {
    restart: "RETRY",
    stdin: "text\n",
  });
  restarts("with an interactive function read stdin", "(asking)", '((LIST 1 2) "rest")', {
    restart: "ANSWER",
    refuses: ["(list", "", "(list)"],
    says: READS,
    stdin: "(list 1 2) rest\n",
  });
  restarts("with an interactive function take values", "(asking)", '((LIST 1 2) "rest")', {
    restart: "ANSWER",
    given: ["'(list 1 2)", '"rest"'],
  });
  restarts("that ask for yes or no take no other answer", "(sure)", '(T "rest")', {
    restart: "GO-ON",
    refuses: ["maybe\n"],
    says: READS,
    stdin: "yes\nrest\n",
  });
  for (const [code, restart, refuses, given, result] of [
    ["(keyed)", "PLAIN", [["1"], [":b", "1"], [":a", "1", ":b"], ["'a", "1"]], [":a", "1"], "1"],
    ["(keyed)", "PLAIN", [], [":b", "1", ":allow-other-keys", "t"], "NIL"],
    ["(keyed)", "OPEN", [["1", ":a"]], ["1", ":c", "2"], "(1 (:C 2) NIL)"],
    ["(bound)", "GO-ON", [["1"], [":a", "1"]], [":first", "2"], "2"],
    ["(mixed)", "OPEN", [], ["1", "2", ":c", "3"], "(1 2 3)"],
  ] as const)
    restarts(`take only keywords that they know: ${code} ${given}`, code, result, {
      restart,
      refuses,
      given,
      says: KEYS,
    });
  for (const [code, refuses, says] of [
    ["(few)", ["1"], TWO],
    ["(formed)", [["1"]], TWO],
    ["(several)", [[], ["1"], ["1", "2", "3"]], TWO],
    ["(mixed)", [[], ["1"], ["1", "2", "3"]], /./],
  ] as const)
    restarts(`say how many values they want: ${code}`, code, "(1 2)", {
      restart: "PAIR",
      refuses,
      says,
      given: ["1", "2"],
    });
  restarts("refuse too many values of their interactive function", "(many)", "1", {
    restart: "ONE",
    refuses: ["1 2"],
    says: /^The restart ONE takes 1 value\.$/,
    given: ["1"],
  });
  restarts("of CHECK-TYPE read an expression from stdin", "(checked 1)", '"5"', {
    restart: "STORE-VALUE",
    stdin: '(format nil "~a" 5)',
  });
  restarts("whose code reads get stdin, and then the end of the input", "(reading)", '("one line" :END)', {
    restart: "GO-ON",
    stdin: "one line",
  });

  it("of ASSERT answer for the call that they belong to when one is inside another", async () => {
    const at = await stop("(nested)");
    await at.invokeRestart(index(at, "CONTINUE"), ["1", "2"]);
    const outer = stopped(await next(at)).stop;
    await outer.invokeRestart(index(outer, "CONTINUE"), ['"text"']);
    expect(await end(outer)).to.deep.equal(['("text")']);
  });

  it("of ASSERT read what CONTINUE is given as stdin, and refuse missing answers however they are invoked", async () => {
    const at = await stop("(asserted 3 1)");
    for (const stdin of [undefined, "", "4", "y\n1\n", "y\n1\ny\n(list", "y\n1\n\n"])
      for (const call of [
        () => at.invokeRestart(index(at, "CONTINUE"), [], { stdin }),
        () => at.continue({ stdin }),
        () => at.step("out", { stdin }),
      ])
        expect((await rejection(call(), "INVALID_ARGUMENT")).message, stdin).to.match(ASKS);
    expect(at.isLive).to.equal(true);
    await at.continue({ stdin: "y\n1\nn\n" });
    const again = stopped(await next(at)).stop;
    expect(again.condition.message).to.equal("1 is not below 1");
    await again.continue({ stdin: "n\nyes\n(+ 2\n 3)\n" });
    expect(await end(again)).to.deep.equal(["(1 5)"]);
  });

  for (const [where, code, says] of [
    ["in a thread that runs no evaluation", "(asserted 3 1)", /this thread runs no evaluation/],
    ["on a stream of the code's own", "(apart (lambda () (asserted 3 1)))", /\*QUERY-IO\* is a stream of its own/],
  ] as const)
    it(`of ASSERT are refused ${where}`, async () => {
      const found = new Promise<Stop>((resolve) => image.client.once("stop", resolve));
      await image.evaluate(where.includes("thread") ? `(sb-thread:make-thread (lambda () ${code}))` : code);
      const at = await found;
      for (const call of [
        () => at.continue(),
        () => at.continue({ stdin: "n\nn\n" }),
        () => at.invokeRestart(index(at, "CONTINUE"), ["1", "2"]),
      ])
        expect((await rejection(call(), "INVALID_ARGUMENT")).message).to.match(says);
      expect(at.isLive).to.equal(true);
      await at.abort();
    });

  it("print what they ask once, when they return, and say that stdin is missing", async () => {
    const at = await stop("(asking)");
    await rejection(at.invokeRestart(index(at, "ANSWER"), [], { stdin: "" }), "INVALID_ARGUMENT");
    expect((await rejection(at.invokeRestart(index(at, "ANSWER")), "INVALID_ARGUMENT")).remedy).to.contain("stdin");
    await at.invokeRestart(index(at, "ANSWER"), [], { stdin: "1 rest\n" });
    expect(returned(await next(at))).to.include({ stdout: "Number: " });
  });

  it("of a stop that is continued or stepped over give the code text to read", async () => {
    const at = await stop("(progn (break) (list (read) (read-line)))");
    await at.continue({ stdin: "(a b) c\nd" });
    expect(await end(at)).to.deep.equal(['((A B) "c")']);
    const stepping = await stop("(progn (break) (read-line))");
    await stepping.step("over", { stdin: "text" });
    let outcome = await next(stepping);
    for (; outcome.status === "stopped"; outcome = await next(stepping)) await outcome.stop.step("over");
    expect(returned(outcome).values).to.deep.equal(['"text"', "NIL"]);
  });
});
