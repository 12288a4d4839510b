import { expect } from "chai";
import type { Stop, types } from "swank-client";
import { rejection } from "../../support/caught.js";
import { liveClient } from "./live-image.js";
import { returned, stopped } from "./outcomes.js";
import { runsSbcl } from "./sbcl-version.js";

/** Functions that fail, and calls of them with the calls that a report shows. */
const CALLS: readonly (readonly [what: string, definition: string, shown: Readonly<Record<string, string>>])[] = [
  [
    "&key arguments without defaults may have been passed as NIL",
    '(defun arm (&key due issued) (error "x ~a ~a" due issued))',
    {
      "(arm)": "(ARM &KEY (DUE NIL) (ISSUED NIL))",
      "(arm :due 1)": "(ARM :DUE 1 &KEY (ISSUED NIL))",
      "(arm :issued nil :due 2)": "(ARM :DUE 2 &KEY (ISSUED NIL))",
      "(arm :issued 3 :due 2)": "(ARM :DUE 2 :ISSUED 3)",
    },
  ],
  [
    "&key arguments with a test whether they were passed, or computed defaults, are known",
    '(defun due (&key (on 3 on-p) (at (random 5))) (error "x ~a ~a ~a" on on-p at))',
    { "(due)": "(DUE)", "(due :on 3)": "(DUE :ON 3)", "(due :at 9 :on 7)": "(DUE :ON 7 :AT 9)" },
  ],
  [
    "&optional arguments were passed if a later one was",
    '(defun book (a &optional b (c 5) (d (list 1) d-p)) (error "x ~a ~a ~a ~a ~a" a b c d d-p))',
    {
      "(book 1)": "(BOOK 1 &OPTIONAL (B NIL) (C 5))",
      "(book 1 2)": "(BOOK 1 2 &OPTIONAL (C 5))",
      "(book 1 nil 5 6)": "(BOOK 1 NIL 5 6)",
    },
  ],
  [
    "&rest arguments are those of the call, and so are all before them",
    '(defun all (a &optional b &rest more &key due) (error "x ~a ~a ~a ~a" a b more due))',
    { "(all 1)": "(ALL 1 &OPTIONAL (B NIL))", "(all 1 nil :due 2)": "(ALL 1 NIL :DUE 2)" },
  ],
  [
    "methods show their own arguments",
    '(defmethod post ((n integer) &optional by &key (to 1 to-p)) (error "x ~a ~a ~a ~a" n by to to-p))',
    {
      "(post 1)": "((:METHOD POST (INTEGER)) 1 &OPTIONAL (BY NIL)) [fast-method]",
      "(post 1 2 :to 1)": "((:METHOD POST (INTEGER)) 1 2 :TO 1) [fast-method]",
    },
  ],
];

describe("The call of a frame", () => {
  const image = liveClient();

  async function firstCall(code: string): Promise<string | undefined> {
    const { evaluation, stop } = await image.stopIn(code);
    await evaluation.abort();
    return stop.condition.frames.find(({ kind }) => kind === "user")?.call;
  }

  for (const [what, definition, shown] of CALLS)
    it(`shows what was passed, and what may have been: ${what}`, async () => {
      await image.values(definition);
      for (const [code, call] of Object.entries(shown)) expect(await firstCall(code), code).to.equal(call);
    });

  it("shows what was passed, and what may have been: the defaults of local functions are not known", async () => {
    const inside = '(inside (a &optional b &key c) (error "x ~a ~a ~a" a b c))';
    await image.values(`(defun around (x) (labels (${inside}) (list (inside x :b :c 3))))`);
    // From 2.5 on, SBCL drops variables as soon as they are no longer needed.
    const [b, c] = runsSbcl(image.client, 2, 5) ? Array(2).fill("#<unavailable argument>") : [":B", "3"];
    expect(await firstCall("(around 1)")).to.equal(`((LABELS INSIDE :IN AROUND) 1 &OPTIONAL (B ${b}) &KEY (C ${c}))`);
  });

  it("does not say whether arguments were passed that the compiler has dropped", async () => {
    const definition = '(defun drop (a &optional (b 2) &key (c 3)) (declare (ignore b c)) (error "x ~a" a))';
    await image.client.evaluate(definition, { policy: "keep" }).next();
    const shown = "(DROP 1 &OPTIONAL (B #<unused argument>) &KEY (C #<unused argument>))";
    for (const code of ["(drop 1)", "(drop 1 5 :c 6)"]) expect(await firstCall(code), code).to.equal(shown);
  });

  for (const definition of [
    '(defun some (a &rest more) (if more (error "x ~a" (length more)) a))',
    '(defun some (a &rest more) (declare (ignore more)) (error "x ~a" a))',
  ])
    it(`says that &rest arguments are not known, and refuses to restart the frame: ${definition}`, async () => {
      await image.values("(defpackage :rests (:use :cl) (:shadow #:some)) (in-package :rests)");
      await image.client.evaluate(definition, { policy: "keep" }).next();
      const { evaluation, stop } = await image.stopIn("(some 1 2 3)");
      const frame = stop.condition.frames.find(({ call }) => call.startsWith("(SOME "));
      expect(frame?.call).to.equal("(SOME 1 &REST #<unavailable argument>)");
      const { message } = await rejection(stop.restartFrame(frame?.index ?? -1), "NOT_RESTARTABLE");
      expect(message).to.match(/arguments/);
      await evaluation.abort();
    });

  for (const [definition, code, call] of [
    [
      '(defun lk (a &rest r &key k &allow-other-keys) (format t "~a" (length r)) (error "x ~a ~a" a k))',
      "(lk 1 :k 2 :z 3)",
      "(LK 1 :K 2 &REST #<unavailable argument>)",
    ],
    [
      '(defun lk (a &rest r &key k &allow-other-keys) (format t "~a" (length r)) (error "x ~a ~a" a k))',
      "(lk 1)",
      "(LK 1 &KEY (K NIL) &REST #<unavailable argument>)",
    ],
    ['(defun lc (a &rest r &key k) (format t "~a" (length r)) (error "x ~a ~a" a k))', "(lc 1)", "(LC 1 &KEY (K NIL))"],
  ] as const)
    it(`refuses to restart a call that the dropped &rest list leaves uncertain: ${code} of ${definition}`, async () => {
      await image.client.evaluate(definition, { policy: "keep" }).next();
      const { evaluation, stop } = await image.stopIn(code);
      const frame = stop.condition.frames.find(({ kind }) => kind === "user");
      expect(frame?.call).to.equal(call);
      expect((await rejection(stop.restartFrame(frame?.index ?? -1), "NOT_RESTARTABLE")).message).to.match(/arguments/);
      await evaluation.abort();
    });

  for (const [definition, calls] of [
    [
      '(defun ks (a &key (k nil kp)) (error "x ~a ~a ~a" a k kp))',
      { "(ks 1)": "(KS 1)", "(ks 1 :k nil)": "(KS 1 :K NIL)" },
    ],
    [
      '(defun os (a &optional (b nil bp)) (error "x ~a ~a ~a" a b bp))',
      { "(os 1)": "(OS 1)", "(os 1 nil)": "(OS 1 NIL)" },
    ],
    [
      '(defun kd (a &key (k 5)) (error "x ~a ~a" a k))',
      { "(kd 1)": "(KD 1 &KEY (K 5))", "(kd 1 :k 6)": "(KD 1 :K 6)" },
    ],
    [
      '(defun lr (a &rest r &key k) (error "x ~a ~a ~a" a k r))',
      { "(lr 1)": "(LR 1)", "(lr 1 :k 2 :k 3)": "(LR 1 :K 2 :K 3)" },
    ],
    [
      '(defmethod mk ((a integer) &key (k nil kp)) (error "x ~a ~a ~a" a k kp))',
      { "(mk 1)": "((:METHOD MK (INTEGER)) 1) [fast-method]" },
    ],
  ] as const)
    it(`is repeated by a restart of the frame, with the arguments that were passed: ${definition}`, async () => {
      await image.values(definition);
      for (const [code, call] of Object.entries(calls)) {
        const { evaluation, stop } = await image.stopIn(code);
        const frame = stop.condition.frames.find(({ kind }) => kind === "user");
        expect(frame?.call).to.equal(call);
        await stop.restartFrame(frame?.index ?? -1);
        expect(stopped(await evaluation.next()).stop.condition.message, code).to.equal(stop.condition.message);
        await evaluation.abort();
      }
    });

  it("has the values that its arguments have now, and a restart of the frame passes these", async () => {
    const evaluation = image.client.evaluate('(defun grow (n) (setf n (list n)) (error "x ~a" n)) (grow 1)');
    for (const call of ["(GROW (1))", "(GROW ((1)))"]) {
      const { stop } = stopped(await evaluation.next());
      const frame = stop.condition.frames.find(({ kind }) => kind === "user");
      expect(frame?.call).to.equal(call);
      await stop.restartFrame(frame?.index ?? -1);
    }
    await evaluation.next();
    await evaluation.abort();
  });

  it("is the same in code that was compiled without debugging", async () => {
    const [what, definition, shown] = CALLS[2] ?? [];
    await image.values(`(eval-when (:execute) ${definition})`);
    const evaluation = image.client.evaluate(definition ?? "", { policy: "keep" });
    await evaluation.next();
    for (const [code, call] of Object.entries(shown ?? {})) expect(await firstCall(code), what).to.equal(call);
  });
});

describe("Stop at an error that a step ran into", () => {
  const image = liveClient();
  let evaluation: types.Evaluation;
  let stop: Stop;
  let frame: number;

  beforeEach(async () => {
    await image.values(`(defclass box () ((v :initarg :v :reader v)))
       (defun box-text (box) (format nil "<box ~a>" (v box)))
       (defmethod print-object ((box box) stream) (write-string (box-text box) stream))
       (defun work (box) (let ((v (v box))) (* v 2)))
       (defun begin () (list (work (make-instance 'box))))
       (defmethod slot-unbound (class (box box) slot) nil)`);
    await image.client.breakpoints.set("work");
    evaluation = image.client.evaluate("(begin)");
    ({ stop } = stopped(await evaluation.next()));
    while (stop.reason !== "error") {
      await stop.step("over");
      ({ stop } = stopped(await evaluation.next()));
    }
    const { frames } = await stop.frames();
    frame = frames.findIndex((one) => one.function.endsWith("WORK"));
  });

  it("shows values with printing methods that were compiled for stepping", async () => {
    const { locals } = await stop.frameLocals(frame);
    expect(locals.map(({ name, value }) => [name, value])).to.deep.include(["BOX", "<box NIL>"]);
  });

  it("evaluateInFrame runs code that was compiled for stepping", async () =>
    expect((await stop.evaluateInFrame(frame, "(box-text box)")).values).to.deep.equal(['"<box NIL>"']));

  it("returnFromFrame returns the value of such code", async () => {
    await stop.returnFromFrame(frame, "(box-text box)");
    let outcome = await evaluation.next();
    for (; outcome.status === "stopped"; outcome = await evaluation.next()) await outcome.stop.continue();
    expect(returned(outcome).values).to.deep.equal(['("<box NIL>")']);
  });
});

describe("Stop.evaluateInFrame with a variable that has no value at this place", () => {
  const image = liveClient();
  let stop: Stop;
  let frame: number;

  beforeEach(async () => {
    await image.values(`(defun fail () (restart-case (error "x") (go-on () 2)))
       (defun early (x) (let ((y (funcall 'fail))) (let ((z (list y))) (list x y z))))`);
    ({ stop } = stopped(await image.client.evaluate("(list (early 1))").next()));
    frame = stop.condition.frames.find(({ call }) => call.startsWith("(EARLY "))?.index ?? -1;
  });

  for (const code of ["y", "(list x z)", "(setf y 1)", "(setq z 1)"])
    it(`says so: ${code}`, async () => {
      const error = await rejection(stop.evaluateInFrame(frame, code), "FRAME_EVALUATION_FAILED");
      expect(error.message).to.match(
        /\b[YZ] is a variable of this function, but the compiler keeps no value of it at this place\./,
      );
    });

  it("evaluates code that binds its name, or does not name it", async () =>
    expect((await stop.evaluateInFrame(frame, "(let ((y 2)) (setf y (+ x y)) y)")).values).to.deep.equal(["3"]));
});

const WAIT = '(defun wait (n) (princ n) (sb-thread:wait-on-semaphore (sb-thread:make-semaphore :name "jobs")) n)';
/** Calls inside SBCL, all of them made by SBCL. */
const INTERNAL = /^\((\((FLET|LABELS|LAMBDA) .* :IN )?SB-THREAD::/;
const BARE = / \.\.\.\)$/;

describe("Stop.frames: frames of SBCL's own functions", () => {
  const image = liveClient();
  beforeEach(() => image.evaluate(WAIT));

  const calls = ({ condition }: Stop) => condition.frames.map(({ call }) => call);
  const localsOf = async (stop: Stop, call: RegExp) => {
    const frame = stop.condition.frames.find((candidate) => call.test(candidate.call));
    const { locals, unread } = await stop.frameLocals(frame?.index ?? -1);
    return { locals: locals.map(({ name, value }) => `${name} ${value}`), unread };
  };

  for (const [what, code, interrupt] of [
    ["that an interrupt met", "(wait 17)", true],
    ["below a timer that signals", "(sb-ext:with-timeout 0.3 (wait 17))", false],
  ] as const)
    it(`${what} are shown without their variables, their callers with it`, async () => {
      const evaluation = image.client.evaluate(code);
      if (interrupt) {
        await evaluation.next({ timeout: 300 }).catch(() => undefined);
        await evaluation.interrupt();
      }
      const { stop } = stopped(await evaluation.next());
      const internal = calls(stop).filter((call) => INTERNAL.test(call));
      expect(internal).to.not.deep.equal([]);
      for (const call of internal) expect(call).to.match(BARE);
      expect(await localsOf(stop, INTERNAL)).to.deep.equal({ locals: [], unread: true });
      expect(await localsOf(stop, /^\(WAIT 17\)/)).to.deep.equal({ locals: ["N 17"], unread: false });
      // what the program itself has called
      expect(calls(stop).join("\n")).to.match(/^\(SB-THREAD:WAIT-ON-SEMAPHORE #.*jobs/m);
      await evaluation.abort();
    });

  it("at an error are shown with their arguments", async () => {
    const { stop } = stopped(await image.evaluate("(defun divide (n) (list (/ n 0))) (divide 17)"));
    expect(calls(stop)[0]).to.match(/^\(SB-KERNEL::INTEGER-\/-INTEGER 17 0\)$/);
    expect(await localsOf(stop, /INTEGER-/)).to.deep.include({ unread: false });
    expect(await localsOf(stop, /^\(DIVIDE 17\)$/)).to.deep.equal({ locals: ["N 17"], unread: false });
    await stop.abort();
  });
});
