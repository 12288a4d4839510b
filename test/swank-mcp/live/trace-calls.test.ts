import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../../support/facts.js";
import { liveFolder, liveServer } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

/** A system with a generic function, and another one that adds methods to it. */
const SYSTEMS = {
  "toys/toys.asd": '(defsystem "toys" :components ((:file "toys")))',
  "toys/toys.lisp": `(defpackage :toys (:use :cl) (:export #:toy #:ball #:play #:join))
(in-package :toys)
(defclass toy () ()) (defclass ball (toy) ())
(defgeneric play (toy how))
(defmethod play ((toy toy) how) (list how))
(defmethod play ((toy ball) how) (cons :ball (call-next-method)))
(defmethod play ((toy ball) (how (eql :throw))) (error "no throwing"))
(defmethod play :before ((toy ball) how) nil)
(defmethod play :after ((toy toy) how) nil)
(defgeneric join (a b) (:method-combination append))
(defmethod join append (a b) (list a)) (defmethod join append ((a integer) b) (list b))`,
  "audit/audit.asd": '(defsystem "audit" :depends-on ("toys") :components ((:file "audit")))',
  "audit/audit.lisp": `(defpackage :audit (:use :cl :toys))
(in-package :audit)
(defclass doll (toy) ())
(defmethod play ((toy doll) how) :doll)
(defmethod play :around ((toy ball) (how symbol)) (list :audited (call-next-method)))`,
};

const PROGRAM = `
(defpackage :shop (:use :cl))
(in-package :shop)
(defun price (x) (if (eql x 3) (error "no price for ~a" x) (* x 10)))
(defun safe-price (x) (handler-case (price x) (error () 0)))
(defun total (xs) (reduce #'+ (mapcar 'safe-price xs)))
(defun tick () :tock)
(defun ticks (n) (dotimes (i n) (tick)))
(defun leave () (throw 'out (values 1 2)))
(defgeneric act (x))
(defmethod act ((x integer)) (list x)) (defmethod act ((x symbol)) (cons x (call-next-method)))
(defmethod act ((x t)) '())
(declaim (inline near)) (defun near (x) x)
(in-package :cl-user)`;

/** The text without times. */
const timeless = (text: string) =>
  text
    .replace(/\d+(?:\.\d+)? (?:ms|µs|us|s)\b/g, "<time>")
    .replace(/^Thread \d+/gm, "Thread <id>")
    .replaceAll(", own <time>", "");

describe("trace-calls", function () {
  this.timeout(180_000);
  const folder = liveFolder("swank-mcp trace-calls");
  const server = liveServer({ code: PROGRAM });

  const traced = async (args: object) => timeless(blocks(await server.call("trace-calls", args)).join("\n--\n"));

  it("traces as many codes at once as the client asks for", async () => {
    const code = "(shop::total '(1))";
    const args = { code, package: "shop" };
    const answers = await Promise.all(Array.from({ length: 16 }, () => traced(args)));
    for (const answer of answers) expect(answer).to.match(/\(SHOP::PRICE 1\)/);
  });

  it("signals no error into the program if an argument cannot be shown", async () => {
    await server.evaluate("(defun rank-of (array) (array-rank array))");
    const text = await traced({ code: "(rank-of (make-array 3 :element-type nil))", functions: ["rank-of"] });
    expect(text).to.match(/\(RANK-OF #<cannot be shown>\) => 1\b/);
  });

  it("shows a tree of calls, with values, conditions, exits and folded repetitions", async () => {
    const code = "(shop::total '(1 3 4)) (shop::ticks 1204) (list (catch 'shop::out (shop::leave)))";
    expectFacts(
      await traced({ code, package: "shop" }),
      "1,213 calls of 8 functions in <time>. Recording took <time> of it, and switching on and off <time>.\n=> (1)\n",
      'Thread <id> "worker", the code:\n(SHOP::TOTAL (1 3 4)) => 50  <time>\n  (SHOP::SAFE-PRICE 1) => 10  <time>\n    (SHOP::PRICE 1) => 10  <time>\n',
      "    (SHOP::PRICE 3) left without a value  <time>\n      ! SIMPLE-ERROR: no price for 3 (handled as ERROR in SHOP::SAFE-PRICE)\n",
      "  (SHOP::TICK) x 1,204 => :TOCK  <time>\n(SHOP::LEAVE) left without a value",
      "SHOP::NEAR: It is declared inline: calls that were compiled inline are not recorded.",
    );
  });

  it("shows methods, and only calls for which the condition holds", async () => {
    const functions = ["(method shop::act (symbol))", "(method shop::act (t))"];
    expectFacts(
      await traced({ code: "(shop::act :a) (shop::act 1)", functions }),
      "((METHOD SHOP::ACT (SYMBOL)) :A) => (:A)  <time>\n  ((METHOD SHOP::ACT (T)) :A) => NIL  <time>",
    );
    const condition = "(> x 3)";
    expectFacts(
      await traced({ code: "(shop::total '(1 3 4))", functions: ["shop::safe-price"], condition }),
      "1 call of 1 function",
      '=> 50\n\nThread <id> "worker", the code:\n(SHOP::SAFE-PRICE 4) => 40  <time>',
    );
  });

  it("names the methods that a call of a generic function runs, and those of other systems", async () => {
    for (const [name, text] of Object.entries(SYSTEMS)) {
      await mkdir(join(folder, name.split("/")[0] ?? ""), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    for (const name of ["toys", "audit"]) await server.call("load-system", { file: join(folder, name, `${name}.asd`) });
    // The functions of a package are also those of others that it has methods for.
    expectFacts(
      await traced({ code: "(toys:play (make-instance 'audit::doll) 2)", package: "audit" }),
      "1 call of 1 function in",
      "(TOYS:PLAY #<DOLL> 2) => :DOLL",
    );
    const code = `(let ((ball (make-instance 'toys:ball)))
      (list (toys:play ball 1) (toys:play ball :kick) (toys:play (make-instance 'audit::doll) 2) (toys:join 1 2)
            (ignore-errors (toys:play ball :throw)) (ignore-errors (toys:play 1 1))))`;
    const text = await traced({ code, functions: ["toys:play", "toys:join"] });
    expectFacts(
      text,
      // without :AROUND, :BEFORE and :AFTER methods have run, but CALL-NEXT-METHOD may not have been called
      "(TOYS:PLAY #<BALL> 1) => (:BALL 1)  <time>; value of (TOYS:BALL T); ran :BEFORE (TOYS:BALL T), :AFTER (TOYS:TOY T); applicable (TOYS:TOY T)\n",
      "(TOYS:PLAY #<BALL> :KICK) => (:AUDITED (:BALL :KICK))  <time>; value of :AROUND (TOYS:BALL SYMBOL) of system audit; applicable :BEFORE (TOYS:BALL T), (TOYS:BALL T), (TOYS:TOY T), :AFTER (TOYS:TOY T)\n",
      // a method on a class of its own system is none of another system
      "(TOYS:PLAY #<DOLL> 2) => :DOLL  <time>; value of (AUDIT::DOLL T); ran :AFTER (TOYS:TOY T); applicable (TOYS:TOY T)\n",
      // of other combinations it is not known which methods ran
      "(TOYS:JOIN 1 2) => (2 1)  <time>; applicable APPEND (INTEGER T), APPEND (T T)\n",
      "(TOYS:PLAY #<BALL> :THROW) left without a value  <time>; applicable :AROUND (TOYS:BALL SYMBOL) of system audit, :BEFORE (TOYS:BALL T), (TOYS:BALL (EQL :THROW)), (TOYS:BALL T), (TOYS:TOY T), :AFTER (TOYS:TOY T)\n",
    );
    expect(text).to.match(/\(TOYS:PLAY 1 1\) left without a value {2}<time>$/m);
    await server.evaluate("(defmethod toys:play ((toy (eql 5)) how) (defmethod toys:play ((toy (eql 6)) how) 6) 5)");
    const redefined = await traced({ code: "(toys:play 5 1)", functions: ["toys:play"] });
    expect(redefined).to.match(
      /\(TOYS:PLAY 5 1\) => 5 {2}<time>$/m,
      "nothing is said of methods that have changed since",
    );
  });

  it("tells in one line which calls the compiler has replaced", async () => {
    await server.evaluate(`(declaim (inline shop::far)) (defun shop::far (x) x) (defun shop::brief (x) x)
      (define-compiler-macro shop::brief (x) x)`);
    expect(await traced({ code: "1", functions: ["shop::near", "shop::brief", "shop::far"] })).to.match(
      /^SHOP::NEAR, SHOP::FAR: They are declared inline: calls that were compiled inline are not recorded\. SHOP::BRIEF: It has a compiler macro: calls that this macro replaced are not recorded\.$/m,
    );
  });

  it("ends at its limit, and says which calls it misses", async () => {
    const functions = ["shop::tick", "shop::near"];
    expectFacts(
      await traced({ code: "(shop::ticks 100)", functions, limit: 10 }),
      "10 calls of 2 functions",
      "(SHOP::TICK) x 10 => :TOCK",
      "The trace ended at its limit of 10 calls. A condition records fewer.\nSHOP::NEAR",
    );
  });

  it("reports a stop of the code with the calls until then, and the value after it was resumed", async () => {
    const code = "(list (restart-case (shop::price 3) (use-value (x) x)))";
    const stopped = blocks(await server.call("trace-calls", { code, package: "shop" })).join("\n");
    expect(stopped).to.match(/^\[ERROR\] SIMPLE-ERROR\nno price for 3/);
    expect(stopped).to.match(/^\(SHOP::PRICE 3\) \.\.\. not ended/m);
    expect(stopped).to.include("The trace ended when the code stopped.");
    const resumed = blocks(await server.call("debugger_invoke_restart", { restart: "USE-VALUE", values: ["7"] }));
    expect(resumed.join("\n")).to.match(/^=> \(7\)$/m);
  });

  it("refuses what it cannot trace, with what to do", async () => {
    const refused = async (args: object) => blocks(await server.call("trace-calls", args))[0];
    expect(await refused({ code: "1", functions: ["shop::prise"] })).to.equal(
      "shop::prise: There is no such function. Similar: SHOP::PRICE.\nDefine the function first, or write its package, as in my-app:process.",
    );
    expect(await refused({ code: "1", package: "cl" })).to.include(
      "Name a package of the program, or single functions.",
    );
    expect(await refused({ code: "1", functions: ["shop::price"], condition: "(car" })).to.match(/condition|ends/);
    expect(await refused({ code: "1" })).to.include("Name functions, or the package whose functions are traced.");
    expect(await refused({ functions: ["shop::price"] })).to.include("Give either code or seconds.");
  });
});
