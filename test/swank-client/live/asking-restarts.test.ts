import { expect } from "chai";
import type { Outcome, Stop, SwankClient } from "swank-client";
import { rejection } from "../../support/caught.js";
import { liveImage } from "./live-image.js";
import { evaluate, returned, stopped, values } from "./outcomes.js";

/** The next outcome of the evaluation that a stop belongs to. */
async function next({ evaluation }: Stop): Promise<Outcome> {
  if (evaluation === undefined) throw new Error("The stop belongs to no evaluation.");
  return evaluation.next();
}

describe("Restarts that ask", () => {
  const image = liveImage();
  let client: SwankClient;

  beforeEach(async () => {
    client = await image.connect();
    await values(
      client,
      `(defun asserted (x y) (assert (< x y) (x y) "~a is not below ~a" x y) (list x y))
       (defun asserted-place (cell) (assert (stringp (car cell)) ((car cell))) cell)
       (defun checked (x) (check-type x string) x)
       (defun asking () (restart-case (error "asks")
                          (answer (a b) :interactive (lambda () (list (read *query-io*) (read-line *query-io*))) (list a b))))
       (defun reading () (restart-case (error "reads") (go-on () (list (read-line) (read-line nil nil :end)))))
       (defun nested () (handler-bind ((error (lambda (c) (declare (ignore c)) (asserted 4 3)))) (asserted-place (list 1))))`,
    );
  });

  const stop = async (code: string): Promise<Stop> => stopped(await evaluate(client, code)).stop;
  const end = async (at: Stop) => returned(await next(at)).values;
  const index = ({ restarts }: Stop, name: string) => restarts.findIndex((restart) => restart.name === name);

  it("of ASSERT take one value for each place", async () => {
    const at = await stop("(asserted 3 1)");
    await at.invokeRestart(index(at, "CONTINUE"), ["(1- 1)", "(list-length '(a b))"]);
    expect(await end(at)).to.deep.equal(["(0 2)"]);
  });

  it("of ASSERT take values that have no readable text", async () => {
    await values(
      client,
      "(defparameter *given* nil) (defstruct point) (defun place-of (x) (assert (point-p x) (x)) x)",
    );
    const at = await stop("(eq (place-of 1) *given*)");
    await at.invokeRestart(index(at, "CONTINUE"), ["(setf *given* (make-point))"]);
    expect(await end(at)).to.deep.equal(["T"]);
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
    const error = await rejection(at.invokeRestart(index(at, "ANSWER"), [], { stdin: "(list" }), "INVALID_ARGUMENT");
    expect(error.message).to.contain("END-OF-FILE");
    const missing = await rejection(at.invokeRestart(index(at, "ANSWER")), "INVALID_ARGUMENT");
    expect(missing.remedy).to.contain("stdin");
    await at.invokeRestart(index(at, "ANSWER"), ["1", "2"]);
    expect(await end(at)).to.deep.equal(["(1 2)"]);
  });

  it("of CHECK-TYPE read an expression from stdin", async () => {
    const at = await stop("(checked 1)");
    await at.invokeRestart(index(at, "STORE-VALUE"), [], { stdin: '(format nil "~a" 5)' });
    expect(await end(at)).to.deep.equal(['"5"']);
  });

  it("with several parameters say how many values they want, and leave the stop as it was", async () => {
    await values(
      client,
      `(defun several () (restart-case (error "several") (pair (a b) (list a b))))
       (defun mixed ()
         (restart-case (error "mixed") (pair (a b) (list a b)) (use-value (v) v) (open (a &optional b &key c) (list a b c))))`,
    );
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
  const image = liveImage();

  it("give the code text to read", async () => {
    const client = await image.connect();
    const at = stopped(await evaluate(client, "(progn (break) (list (read) (read-line)))")).stop;
    await at.continue({ stdin: "(a b) c\nd" });
    expect(returned(await next(at)).values).to.deep.equal(['((A B) "c")']);
    const stepping = stopped(await evaluate(client, "(progn (break) (read-line))")).stop;
    await stepping.step("over", { stdin: "text" });
    let outcome = await next(stepping);
    while (outcome.status === "stopped") {
      await outcome.stop.step("over");
      outcome = await next(stepping);
    }
    expect(returned(outcome).values).to.deep.equal(['"text"', "NIL"]);
  });
});
