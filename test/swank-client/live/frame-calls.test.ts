import { expect } from "chai";
import { rejection } from "../../support/caught.js";
import { liveClient } from "./live-image.js";
import { stopped } from "./outcomes.js";
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

  for (const [what, definition, shown] of CALLS) {
    it(`shows what was passed, and what may have been: ${what}`, async () => {
      await image.values(definition);
      for (const [code, call] of Object.entries(shown)) expect(await firstCall(code), code).to.equal(call);
    });
  }

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
  ]) {
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
  }

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
  ] as const) {
    it(`refuses to restart a call that the dropped &rest list leaves uncertain: ${code} of ${definition}`, async () => {
      await image.client.evaluate(definition, { policy: "keep" }).next();
      const { evaluation, stop } = await image.stopIn(code);
      const frame = stop.condition.frames.find(({ kind }) => kind === "user");
      expect(frame?.call).to.equal(call);
      expect((await rejection(stop.restartFrame(frame?.index ?? -1), "NOT_RESTARTABLE")).message).to.match(/arguments/);
      await evaluation.abort();
    });
  }

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
  ] as const) {
    it(`is repeated by a restart of the frame, with the arguments that were passed: ${definition}`, async () => {
      await image.values(definition);
      for (const [code, call] of Object.entries(calls)) {
        const { evaluation, stop } = await image.stopIn(code);
        const frame = stop.condition.frames.find(({ kind }) => kind === "user");
        expect(frame?.call).to.equal(call);
        await stop.restartFrame(frame?.index ?? -1);
        const again = stopped(await evaluation.next()).stop.condition;
        expect(again.message, code).to.equal(stop.condition.message);
        await evaluation.abort();
      }
    });
  }

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
