import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveDebugger } from "../../support/live-server.js";
import { stopName } from "../../support/mcp-debugger.js";
import { blocks } from "../../support/mcp-results.js";
import { normalized } from "../../support/normalized.js";

const DEFINITIONS = `
(defpackage :zoo (:use :cl) (:export #:cage #:animal) (:nicknames :menagerie))
(in-package :zoo)
(defstruct animal name (legs 4) (weight 1.5d0 :type double-float))
(defclass cage () ((inhabitants :initform '() :accessor inhabitants) (key) (zoo :allocation :class :initform "Berlin")))
(defgeneric feed (animal food) (:documentation "Feeds an animal."))
(defmethod feed ((animal animal) (food (eql :hay))) :munch)
(defmethod feed :around ((animal animal) food) (call-next-method))
(define-condition escape (error) ((animal :initarg :animal)))
(defun visit (animal &optional (hour 9) &key guide) "Visits an animal." (list animal hour guide))
(defun make-counter (n) (lambda () (incf n)))
(defvar *cage* (make-instance 'cage))
(defvar *table* (make-hash-table :test 'equal))
(setf (gethash "leo" *table*) (make-animal :name "Leo") (gethash '(1 2) *table*) #2A((1 2 3) (4 5 6)) (gethash :none *table*) nil)
(in-package :cl-user)
nil`;

/** An object of each kind, and what is shown of it. */
const OBJECTS: readonly (readonly [code: string, ...facts: string[]])[] = [
  [
    "(list 1 'two \"three\" '(4) 5.0)",
    '(1 TWO "three" (4) 5.0)\nlist of 5, id 1\n[0] 1  ; (first (swank-objects:ref 1))\n[1] TWO  ; id 2, (nth 1 (swank-objects:ref 1))',
  ],
  ["(list* 1 2 3)", "dotted list of 2 and a tail…[2] .: 3  ; (nthcdr 2 "],
  ["(cons 1 2)", "(1 . 2)\ncons, id 1\n[0] 1…[1] .: 2"],
  [
    "(let ((list (list :a :b :c))) (setf (cdddr list) (cdr list)) list)",
    "circular list: after element 2 it goes on with element 1…[3] back to 1: …; id 5, cycle, (nthcdr 3",
  ],
  [
    "(vector 1 :two (make-array 3 :initial-element 'x))",
    "vector of 3, id 1…[1] :TWO  ; id 2, (aref (swank-objects:ref 1) 1)",
  ],
  [
    "(make-array 4 :element-type '(unsigned-byte 8) :fill-pointer 2 :adjustable t)",
    "element type: (UNSIGNED-BYTE 8)\nfill pointer: 2 of 4\nadjustable: yes",
  ],
  [
    "(make-array '(2 2 2) :initial-contents '(((1 2) (3 4)) ((5 6) (7 :eight))))",
    "array of 2 x 2 x 2…[1] row 1: #2A((5 6) (7 :EIGHT))  ; id 3, (make-array '(2 2) :displaced-to (swank-objects:ref 1) :displaced-index-offset 4)",
  ],
  ["(make-array nil :initial-element :only)", "array without dimensions…[0] element: :ONLY"],
  ['"short"', '"short"\nstring of 5, id 1'],
  [
    "(make-string 4500 :initial-element #\\z)",
    "string of 4500…[2] 4000 to 4499: …(subseq (swank-objects:ref 1) 4000 4500)",
  ],
  [
    "zoo::*table*",
    "hash table of 3, id 1, zoo::*table*\ntest: EQUAL\ncount: 3\n",
    '[0] "leo": …; id 2, key id 3, (gethash "leo" zoo::*table*)\n[1] (1 2): …[2] :NONE: NIL  ; (gethash :NONE zoo::*table*)',
  ],
  ['(zoo::make-animal :name "Leo")', "structure of class ZOO:ANIMAL…[1] ZOO::LEGS: 4  ; (ZOO::ANIMAL-LEGS "],
  [
    "zoo::*cage*",
    'instance of class ZOO:CAGE…[1] ZOO::KEY: unbound…[2] ZOO::ZOO: "Berlin"  ; id 2, shared, (slot-value',
  ],
  ["(make-condition 'zoo::escape :animal :leo)", "condition of class ZOO::ESCAPE…[0] ZOO:ANIMAL: :LEO"],
  [
    "#'zoo::visit",
    "name: ZOO::VISIT\narguments: (ZOO:ANIMAL &OPTIONAL (ZOO::HOUR 9) &KEY ZOO::GUIDE)\ntype: (FUNCTION …source: evaluated: (defun visit …documentation: Visits an animal.",
  ],
  [
    "(zoo::make-counter 41)",
    "closure, id 1\nname: (LAMBDA NIL :IN ZOO::MAKE-COUNTER)…[0] variable 0: 41  ; assigned, (sb-kernel:value-cell-ref",
  ],
  ["#'zoo::feed", "generic function, id 1…[0] (:AROUND (ZOO:ANIMAL T)): …[1] ((ZOO:ANIMAL (EQL :HAY))): "],
  ["'zoo::visit", 'symbol, id 1\nname: "VISIT"\npackage: ZOO\n[0] function: …[1] package: '],
  [":none", ":NONE\nkeyword, id 1, :none"],
  [
    "(find-package :zoo)",
    "package, id 1\nnicknames: MENAGERIE\nuses: COMMON-LISP\nexternal symbols: 2\n…[0] ANIMAL: ZOO:ANIMAL",
  ],
  ['#P"/srv/a/b.lisp"', 'pathname, id 1…directory: (:ABSOLUTE "srv" "a")'],
  ["3/4", "ratio, id 1\n[0] numerator: 3  ; (numerator"],
  ["(+ 250 5)", "integer, id 1\nbits: 8\nhexadecimal: #xFF"],
  ["#\\A", "character, id 1\ncode: 65\nname: LATIN_CAPITAL_LETTER_A"],
  ["(sb-ext:make-weak-pointer zoo::*cage*)", "broken: no\n[0] value: #<ZOO:CAGE"],
  ['(sb-thread:make-mutex :name "gate")', 'mutex, id 1\nheld: no\n[0] name: "gate"'],
  [
    '(make-two-way-stream (make-string-input-stream "x") (make-broadcast-stream))',
    "open: yes\ndirection: input output\n…[0] input: …[1] output: ",
  ],
];

/** More objects, whose expressions must return their parts, as those of the others. */
const MORE_OBJECTS: readonly string[] = [
  "(funcall (lambda (a b c d) (lambda () (list a b c d))) (list 1) (list 2) (list 3) (list 4))",
  "(funcall (lambda (a b c d) (lambda () (push 1 c) (push a b) (list a b c d))) (list 1) (list 2) (list 3) (list 4))",
  "(funcall (lambda (a b) (lambda () (setf a (list b)) (lambda () (incf b)))) 10 20)",
  "(complement (lambda (x) x))",
  "(constantly (list 1 2))",
  "(sb-alien:make-alien sb-alien:int 3)",
  "(sb-alien:make-alien (sb-alien:struct nil (x sb-alien:int) (y sb-alien:double)))",
  "(sb-sys:int-sap 4096)",
  "(sb-thread:make-semaphore :name (list 1))",
  "(sb-thread:make-waitqueue)",
  "(find-class 'zoo::cage)",
  "(find-class 'zoo::animal)",
  "(find-class 'zoo::escape)",
  "(find-class 'integer)",
  "(find-method #'zoo::feed '(:around) '(zoo::animal t))",
  "(readtable-case *readtable*)",
  "*readtable*",
  "*random-state*",
  "(make-broadcast-stream *standard-output*)",
  '(make-concatenated-stream (make-string-input-stream "a"))',
  '(make-echo-stream (make-string-input-stream "a") (make-broadcast-stream))',
  "(make-synonym-stream '*standard-output*)",
  "(make-string-output-stream)",
  "sb-sys:*stdout*",
  "#C(1/2 2/3)",
  "(expt 7 300)",
  "(list* (list 1) (list 2) (vector 3))",
  "(let ((a (list 1))) (list a a (vector a)))",
  "(let ((a (list 1 2))) (setf (cdr (last a)) a) a)",
  "(make-array '(2 3 2) :initial-contents '((((1) (2)) ((3) (4)) ((5) (6))) (((7) (8)) ((9) (10)) ((11) (12)))))",
  "(make-array '(0 3))",
  "(make-array 3 :displaced-to (vector 1 2 (list 3) (list 4)) :displaced-index-offset 1)",
  "(make-array 4 :element-type 'bit :initial-element 1)",
  "(make-array 4 :fill-pointer 2 :initial-element (list 1))",
  '(let ((h (make-hash-table :test \'equalp))) (setf (gethash "Ab" h) (list 1) (gethash 1.0 h) (list 2) (gethash #(1 2) h) (list 3)) h)',
  "(let ((h (make-hash-table))) (setf (gethash 'zoo::x h) (list 1) (gethash \"k\" h) (list 2) (gethash #\\a h) (list 3) (gethash '#:u h) (list 4) (gethash nil h) (list 5) (gethash 1.5d0 h) (list 6)) h)",
  "(let ((h (make-hash-table :weakness :key))) (setf (gethash zoo::*cage* h) (list 1)) h)",
  "(list '|odd name| '#:uninterned :|odd key| (intern \"a b\" :zoo))",
  "(progn (defstruct (odd (:conc-name nil)) |a b| (zoo::c 1 :read-only t)) (make-odd :|a b| (list 1)))",
  "(progn (defstruct (bare (:conc-name bare.)) first rest) (make-bare :first (list 1) :rest (list 2)))",
  "(progn (defclass |odd class| () ((|a slot| :initform (list 1)) (zoo::b :initform (list 2)))) (make-instance '|odd class|))",
  '(make-condition \'simple-error :format-control "~a" :format-arguments (list 1 2))',
  "(make-condition 'type-error :datum (list 1) :expected-type '(or integer list))",
  "sb-thread:*current-thread*",
  '(sb-ext:make-timer (lambda ()) :name "t")',
  "'(setf zoo::x)",
  "#'(setf zoo::inhabitants)",
  "(symbol-package 'car)",
  "'car",
  "'zoo::*table*",
  '(make-pathname :directory \'(:absolute "a" :wild-inferiors) :name :wild :type "b")',
  '(logical-pathname "SYS:A;B.LISP")',
];

describe("inspect-object", function () {
  this.timeout(180_000);
  const lisp = liveDebugger({ code: DEFINITIONS });

  /** The text of the answer. */
  async function inspect(object: number | string, args: Record<string, unknown> = {}): Promise<string> {
    return blocks(await lisp.call("inspect-object", { object, ...args }))[0] ?? "";
  }

  /** The text with the ids numbered from 1, which depend on what was inspected before. */
  function numbered(text: string): string {
    const seen: string[] = [];
    return normalized(text)
      .replace(/^Looking took .*$/m, "Looking took <time>.")
      .replace(/\b(id |objects:ref )(\d+)/g, (_, what: string, id: string) => {
        if (!seen.includes(id)) seen.push(id);
        return `${what}${seen.indexOf(id) + 1}`;
      });
  }

  /** The id of the object, or of the part with an index. */
  function idIn(text: string, index?: number): number {
    const line = index === undefined ? text : (text.split("\n").find((each) => each.startsWith(`[${index}] `)) ?? "");
    const [, id] = /\bid (\d+)/.exec(line) ?? [];
    if (id === undefined) throw new Error(`No id in ${line}`);
    return Number(id);
  }

  it("shows what an object is, and its parts with ids and expressions", async () => {
    for (const [code, ...facts] of OBJECTS) expectFacts(numbered(await inspect(code)), ...facts);
  });

  it("gives expressions that return the parts that it shows", async () => {
    await lisp.evaluate(`
      (defun same-part-p (one other)
        (or (eql one other) (and (stringp one) (equal one other)) (and (numberp one) (equalp one other))
            (and (sb-sys:system-area-pointer-p one) (sb-sys:sap= one other))))`);
    let compared = 0;
    for (const code of [...OBJECTS.map(([each]) => each), ...MORE_OBJECTS]) {
      const text = await inspect(code);
      const lines = text.matchAll(
        /^\[\d+\] (?:[^\n]*?: )?([^\n:]*) {2}; (?:id (\d+), )?(?:key id \d+, )?(?:(?:cycle|assigned|shared), )?(\([^\n]*\))$/gm,
      );
      for (const [, value = "", id, expression = ""] of lines) {
        if (/^\((subseq|make-array)/.test(expression) || value === "unbound") continue;
        const [same] = await lisp.evaluate(
          id === undefined
            ? `(string-equal ${JSON.stringify(value)} (prin1-to-string ${expression}))`
            : `(same-part-p ${expression} (swank-objects:ref ${id}))`,
        );
        expect(same, `${code}: ${expression} in\n${text}`).to.match(/^=> (T|0)$/);
        compared += 1;
      }
    }
    expect(compared).to.be.above(100);
  });

  it("says how the keys of a table are spread, and warns where they collide", async () => {
    const filled = (test: string, key: string, count = 100) =>
      `(let ((table (make-hash-table ${test}))) (dotimes (i ${count} table) (setf (gethash ${key} table) i)))`;
    const good = await inspect(filled(":test 'equal", '(format nil "key ~d" i)'));
    expect(good).to.match(/^test: EQUAL\ncount: 100\nsize: \d+\ndistinct hash codes: 100 of 100\nlongest chain: \d$/m);
    expect(good).to.not.include("warning");
    const own =
      "(defun few (key) (mod (sxhash key) 3)) (defun same-p (a b) (equal a b)) (sb-ext:define-hash-table-test same-p few)";
    await lisp.evaluate(own);
    for (const [code, facts] of [
      // EQUALP hashes only the beginning of a list
      [
        filled(":test 'equalp", "(list 1 2 3 4 5 6 i)"),
        "1 of 100\nlongest chain: 100\nwarning: keys collide: 100 keys have 1 hash code, and 100",
      ],
      [filled(":test 'same-p", '(format nil "~r" i)'), "3 of 100\nlongest chain: "],
      [filled(":test 'equal", "(list 1 (vector i))"), "1 of 100"],
      [filled(":test 'equal", "(vector i)"), "not kept: SBCL hashes these keys by address or value"],
      [filled(":test 'eql", '(format nil "key ~d" i)'), "not kept: "],
    ] as const)
      expect(await inspect(code)).to.include(`distinct hash codes: ${facts}`);
    expect(await inspect("(make-hash-table)")).to.not.match(/hash codes|chain/);
    expect(await inspect(filled("", "i", 500_001))).to.include("hash codes: not counted: more than 500,000 entries");
  });

  it("says nothing wrong of the keys of a table that other threads change", async () => {
    await lisp.evaluate(`(defvar *changing* (make-hash-table :test 'equal :synchronized t))
      (defvar *changes* (loop repeat 2 collect (sb-thread:make-thread (lambda ()
        (loop for key from 0 do (setf (gethash (format nil "~d" (mod key 5000)) *changing*) key)
                                (when (zerop (mod key 7000)) (clrhash *changing*)))))))`);
    for (let round = 0; round < 30; round += 1) {
      const text = await inspect("*changing*");
      const [, distinct, kept] = /^distinct hash codes: ([\d,]+) of ([\d,]+)$/m.exec(text) ?? [];
      expect(text).to.not.include("warning: ");
      if (distinct !== undefined) expect(distinct).to.equal(kept);
    }
    await lisp.evaluate("(mapc #'sb-thread:terminate-thread *changes*) nil");
  });

  it("shows the variables of a closure in the order of their bindings, and paths name them by the same numbers", async () => {
    await lisp.evaluate(`(defun closing (a b c d) (lambda () (setf b (list b)) (list d (list c) b a)))
      (defvar *closure* (closing (list :a) (list :b) (list :c) (list :d))) nil`);
    const text = await inspect("*closure*");
    expectFacts(text, "variable 0: (:A)…variable 1: (:B)…variable 2: (:C)…variable 3: (:D)");
    for (const [index, name] of ["A", "B", "C", "D"].entries()) {
      const path = blocks(await lisp.call("heap", { mode: "path", object: idIn(text, index) }))[0];
      expect(path).to.include(`\nvariable ${index}: (:${name})  ; id`);
    }
  });

  it("shows the program's function while a breakpoint stands for it", async () => {
    const facts = async () => {
      const [text = ""] = blocks(await lisp.call("inspect-object", { object: "#'zoo::visit" }));
      return text.split("\n").filter((line) => /^(name|arguments|documentation|encapsulated|\[0\])/.test(line.trim()));
    };
    const plain = await facts();
    await lisp.json("breakpoint_set", { function: "zoo::visit" });
    const met = await facts();
    expect(met.slice(0, plain.length)).to.deep.equal(plain);
    expect(met.slice(plain.length).join("\n")).to.match(/encapsulated.*\n.*#<FUNCTION ZOO::VISIT>/);
    await lisp.json("breakpoint_set", { function: "zoo::visit", condition: "nil" });
    const expressionless = (lines: readonly string[]) => lines.map((line) => line.replace(/, \(sb-impl.*/, ""));
    expect(expressionless(await facts())).to.deep.equal(expressionless(met));
    await lisp.json("breakpoint_remove", { id: 1 });
    await lisp.json("breakpoint_remove", { id: 2 });
  });

  it("shows the type and the address of C's values, and reads no memory", async () => {
    expect(await inspect("(sb-alien:sap-alien (sb-sys:int-sap 16) (* (sb-alien:struct nil (x sb-alien:int))))"))
      .to.match(/\nalien value, id \d+\ntype in C: \(\*\n? *\(/i)
      .and.to.include("\naddress: #x10\n");
    expect(await inspect("(sb-sys:int-sap 16)")).to.match(/\nsystem area pointer, id \d+\naddress: #x10\n/);
  });

  it("shows parts of parts, and marks those that it has shown", async () => {
    const shared = "(let ((x (list 1 2))) (list x x (vector (list x))))";
    expectFacts(
      numbered(await inspect(shared, { depth: 3 })),
      "((1 2) (1 2) #(((1 2))))\nlist of 3, id 1\n[0] (1 2)  ; id 2, (first (swank-objects:ref 1))\n  [0] 1  ; (first (first (swank-objects:ref 1)))\n",
      "[1] (1 2)  ; id 2, (nth 1 (swank-objects:ref 1))\n  (its parts are shown elsewhere in this answer)\n",
      "    [0] (1 2)  ; id 2, (first (aref (nth 2 (swank-objects:ref 1)) 0))",
    );
  });

  it("follows parts by their index, a path, or their id", async () => {
    const table = await inspect("zoo::*table*");
    const byId = await inspect(idIn(table, 1));
    expect(byId).to.match(/^#2A\(\(1 2 3\) \(4 5 6\)\)\narray of 2 x 3, id /);
    expect(await inspect("zoo::*table*", { part: 1 })).to.include("(gethash (swank-objects:ref");
    expect(await inspect("zoo::*table*", { part: "1/1" })).to.match(/^#\(4 5 6\)\nvector of 3, id /);
    expect(await inspect(String(idIn(table)), { part: "0 / 0" })).to.match(/^"Leo"\nstring of 3, id /);
  });

  it("shows the pages of a large object", async () => {
    const code = "(coerce (loop for i below 1000000 collect (* 10 i)) 'vector)";
    const first = await inspect(code);
    expect(first).to.match(/^\[49\] 490 {2}; \(aref \(swank-objects:ref \d+\) 49\)$/m);
    expect(first).to.include("... 999950 more parts; the next is start 50.");
    const last = await inspect(idIn(first), { start: 999_990 });
    expect(last)
      .to.match(/^\[999999\] 9999990/m)
      .and.not.include("more parts");
    expect(await inspect(idIn(first), { start: 1_000_000 })).to.include("It has only 1000000 parts.");
  });

  it("evaluates code in a frame of a stopped thread, and shows variables by their object ids", async () => {
    await lisp.evaluate('(defun risky (box) (error "It failed: ~a" box))');
    const stop = stopName(await lisp.evaluate("(risky (list :secret 42))"));
    const frame = await lisp.frame("(RISKY (:SECRET 42))");
    const id = (await lisp.locals("(RISKY")).find(({ name }) => name === "BOX")?.object_id;
    expect(await inspect(id ?? 0))
      .to.include("list of 2")
      .and.include("[1] 42");
    const thread = stop.split("/")[0];
    expect(await inspect("(reverse box)", { frame: frame.index, thread }))
      .to.include("[0] 42")
      .and.include("[1] :SECRET");
    expect(await inspect("(/ 0)", { frame: frame.index })).to.match(/^DIVISION-BY-ZERO/);
    expect(await inspect("box", { frame: 999 })).to.match(/^Frame index out of range/);
    await lisp.abortAll();
    expect(await inspect(id ?? 0)).to.match(/^There is no object \d+: the stop at which it was listed has ended\./);
    expect(await inspect("box", { frame: 0 })).to.match(/^Thread not in debugger/);
  });

  it("reports an error of the code as evaluate-lisp does, and the value after the thread was resumed", async () => {
    const answer = blocks(
      await lisp.call("inspect-object", { object: '(list 1 (restart-case (error "Which?") (use-value (x) x)))' }),
    );
    expect(answer[0]).to.match(/^\[ERROR\] SIMPLE-ERROR\nWhich\?/);
    const resumed = blocks(await lisp.call("debugger_invoke_restart", { restart: "USE-VALUE", values: ["#(7 8)"] }));
    expect(resumed[0]).to.match(/^\(1 #\(7 8\)\)\nlist of 2, id /);
  });

  it("gives expressions that find the entries of tables", async () => {
    await lisp.evaluate(`(defvar *by-name* (make-hash-table :test 'equal)) (setf (gethash (format nil "a~%  b") *by-name*) 1)
      (defvar *by-number* (make-hash-table :test 'eq)) (setf (gethash 1.5d0 *by-number*) 2) nil`);
    for (const [table, value] of [
      ["*by-name*", 1],
      ["*by-number*", 2],
    ] as const) {
      const [, access] = /; .*(\(gethash \(swank-objects:ref \d+\) \S+\))$/m.exec(await inspect(table)) ?? [];
      expect(await lisp.evaluate(`(values ${access})`)).to.deep.equal([`=> ${value}`]);
    }
  });

  it("keeps the latest values of the code, but no other objects", async () => {
    const text = await inspect("(list (make-array 100))");
    const [list, vector] = [idIn(text), idIn(text, 0)];
    await lisp.evaluate("(progn (setf * nil ** nil *** nil / nil // nil /// nil) nil) nil nil nil");
    await lisp.evaluate("(sb-ext:gc :full t)");
    expect(await inspect(list)).to.include("list of 1");
    await lisp.evaluate(`(setf (first (swank-objects:ref ${list})) nil) nil nil nil`);
    for (let round = 0; round < 5; round += 1)
      await lisp.evaluate("(progn (sb-sys:scrub-control-stack) (sb-ext:gc :full t) nil)");
    expect(await inspect(vector)).to.equal(
      `Object ${vector} is gone: nothing in the image kept it, and its memory was freed.\nInspect the object again from an expression that reaches it, and use the new id.`,
    );
  });

  it("keeps the values of the code however many strings it shows", async () => {
    const vector = idIn(await inspect("(make-array 100)"));
    await lisp.evaluate(`(defvar *texts* (loop for number below 150 collect (format nil "text ~d" number)))
      (progn (setf * nil ** nil *** nil / nil // nil /// nil) nil) nil nil nil`);
    for (const start of [0, 50, 100]) await lisp.call("inspect-object", { object: "*texts*", start });
    await lisp.evaluate("(sb-ext:gc :full t)");
    expect(await inspect(vector)).to.include("vector of 100");
  });

  it("updates no instance of a redefined class", async () => {
    await lisp.evaluate(`(defclass shape () ((sides :initform 3))) (defvar *shape* (make-instance 'shape))
      (defvar *updated* 0) (defmethod update-instance-for-redefined-class :after ((shape shape) a d p &key) (incf *updated*))
      (defclass shape () ((sides :initform 3) (color :initform :red)))`);
    expect(await inspect("*shape*")).to.include("obsolete: its class was redefined");
    expect(await inspect("(list 1 *shape*)")).to.match(/^\(1 #<obsolete SHAPE>\)\n/);
    expect(await inspect("(list (vector (cons 1 *shape*)) 2)")).to.match(/^\(#\(\(1 \. #<obsolete SHAPE>\)\) 2\)\n/);
    expect(await lisp.evaluate("*updated*")).to.deep.equal(["=> 0"]);
  });

  it("calls no slot-value-using-class, and takes no lock of a table", async () => {
    await lisp.evaluate(`(defclass counting (standard-class) ())
      (defmethod sb-mop:validate-superclass ((a counting) (b standard-class)) t)
      (defvar *reads* 0)
      (defmethod sb-mop:slot-value-using-class :before ((class counting) object slot) (incf *reads*))
      (defclass counted () ((x :initform 1)) (:metaclass counting))
      (defvar *counted* (make-instance 'counted))
      (defvar *locked* (make-hash-table :synchronized t))
      (setf (gethash 1 *locked*) 2 *reads* 0)
      (sb-thread:make-thread (lambda () (sb-ext:with-locked-hash-table (*locked*) (sleep 3600)))) nil`);
    expect(await inspect("*counted*")).to.include("[0] X: 1");
    expect(await lisp.evaluate("*reads*")).to.deep.equal(["=> 0"]);
    expect(await inspect("*locked*"))
      .to.include("[0] 1: 2")
      .and.include("synchronized: yes");
  });

  it("survives printers that fail or never end", async () => {
    await lisp.evaluate(`(defclass rude () ()) (defmethod print-object ((x rude) stream) (error "no"))
      (defclass slow () ()) (defmethod print-object ((x slow) stream) (loop))`);
    expect(await inspect("(list (make-instance 'rude) 1)")).to.match(/^\[1\] 1 /m);
    expect(await inspect("(list (make-instance 'slow) 1)")).to.match(
      /takes too long to print[\s\S]*^\[1\] 1 [\s\S]*^Cut: /m,
    );
  });

  it("refuses bad input, and says what to do", async () => {
    expect(await inspect(123_456_789)).to.match(/^There is no object 123456789\.\nInspect the object again/);
    expect(await inspect(" ; nothing")).to.match(/^The code contains no form/);
    expect(await inspect("(values)")).to.match(/^; No values/);
    expect(await inspect("(list 1)", { part: 5 })).to.match(/^There is no part 5\. It has parts 0 to 0/);
    expect(await inspect("17", { frame: 0 })).to.match(/^inspect-object: An id needs no frame/);
    expect(await inspect("(list 1)", { thread: "1" })).to.match(/^inspect-object: A thread needs a frame/);
    expect(await inspect("(list 1)", { part: "first" })).to.match(/^inspect-object: "first" is no path/);
  });
});
