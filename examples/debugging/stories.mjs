import { load } from "./load.mjs";

/** @param {import("../support/agent.mjs").Agent} agent */
export async function recursion(agent) {
  await agent.evaluate(load("recursion"), /=> T/);
  agent.think("Which of these are lucky? 25, 34 and 7 should be.");
  await agent.evaluate("(recursion:lucky-numbers '(25 100 34 7))", /\[ERROR\] TYPE-ERROR/);

  agent.think(
    "A value that is not a number is added deep in the recursion. Which arguments did the innermost call get?",
  );
  const frame = await agent.frameOf("RECURSION::DIGIT-SUM");
  await agent.call("debugger_eval_in_frame", { frame, code: "(values n (digit-sum (floor n 10)))" }, /^=> 2\n=> NIL$/m);

  agent.think("The digits of 0 add up to NIL: the base case is wrong. Correct it while the thread stays stopped.");
  const fix =
    "(in-package :recursion)\n(defun digit-sum (n)\n  (if (zerop n)\n      0\n      (+ (mod n 10) (digit-sum (floor n 10)))))";
  await agent.evaluate(fix, /=> DIGIT-SUM/);

  agent.think(
    "Restart the frame of the call that failed, with the new definition. The answer is the value of the first call.",
  );
  const again = { restart: "RESTART-FRAME", values: [String(frame)] };
  await agent.call("debugger_invoke_restart", again, /^=> \(25 34 7\)$/);
}

/** @param {import("../support/agent.mjs").Agent} agent */
export async function pipeline(agent) {
  await agent.evaluate(load("pipeline"), /=> T/);
  const orders = `'((1 100 "EUR") (2 50 "usd") (3 10 "GBP"))`;
  agent.think("100 euros, 50 dollars and 10 pounds: that should be worth 157 euros.");
  await agent.evaluate(`(pipeline:turnover ${orders})`, /\[ERROR\] TYPE-ERROR/);

  agent.think("One of the factors is NIL. Inspect the order in the frame that multiplies.");
  const { frames } = await agent.call("debugger_frames", { end: 4 }, /RUN-STAGE/);
  const multiplying = frames.find(({ call }) => call.includes(":ADD-UP"));
  const id = multiplying.locals.find(({ name }) => name === "ORDER").object_id;
  const slots = `(let ((order (swank-objects:ref ${id})))\n  (list (pipeline::amount order) (pipeline::currency order) (pipeline::rate order)))`;
  await agent.evaluate(slots, /=> \(50 "usd" NIL\)/);

  agent.think(
    "The rate is NIL, and another stage wrote it. Set a breakpoint that stops when NIL is written into a rate.",
  );
  await agent.call("debugger_invoke_restart", { restart: "ABORT" }, /; Evaluation aborted/);
  const where = { function: "(setf pipeline::rate)", condition: "(null (first args))" };
  const breakpoint = await agent.call("breakpoint_set", where, /"state":"armed"/);
  await agent.evaluate(`(pipeline:turnover ${orders})`, /\[BREAKPOINT\]/);
  const processing = await agent.frameOf("PIPELINE::PROCESS");
  const look = {
    frame: processing,
    code: "(values (rate-of (currency order)) (rate-of (string-upcase (currency order))))",
  };
  await agent.call("debugger_eval_in_frame", look, /^=> NIL\n=> 9\/10$/m);

  agent.think("The lookup of currencies is case-sensitive. Ignore case, and process the order again.");
  const fix =
    "(in-package :pipeline)\n(defun rate-of (currency)\n  (cdr (assoc currency *rates* :test #'string-equal)))";
  await agent.evaluate(fix, /=> RATE-OF/);
  await agent.call("breakpoint_remove", { id: breakpoint.id }, /"removed"/);
  const again = { restart: "RESTART-FRAME", values: [String(processing)] };
  await agent.call("debugger_invoke_restart", again, /^=> 157$/);

  agent.think("Which methods does the conversion of an order run?");
  const call = { name: "pipeline::run-stage", arguments: [":convert", "pipeline::order"] };
  await agent.call("describe-symbol", call, /runs:\n {2}1\. \(METHOD/);
  agent.think(
    "Does the stage find the rate of every currency now? A breakpoint on the method of that stage alone prints it, and does not stop.",
  );
  const stage = "(method pipeline::run-stage ((eql :convert) pipeline::order))";
  const watched = {
    function: stage,
    log: "(list (pipeline::currency order) (pipeline::rate-of (pipeline::currency order)))",
  };
  const watch = await agent.call("breakpoint_set", watched, /"state":"armed"/);
  await agent.evaluate(`(pipeline:turnover ${orders})`, /hit 3: \("GBP" .*\n\n=> 157/);
  await agent.call("breakpoint_remove", { id: watch.id }, /"removed"/);

  agent.think("Stop where that method begins, for one order only.");
  const stopping = { function: stage, condition: '(equal (pipeline::currency order) "usd")' };
  const last = await agent.call("breakpoint_set", stopping, /"state":"armed"/);
  await agent.evaluate(`(pipeline:turnover ${orders})`, /\[BREAKPOINT\]/);
  await agent.call("breakpoint_remove", { id: last.id }, /"removed"/);
  await agent.call("debugger_continue", {}, /^=> 157$/);
}

/** @param {import("../support/agent.mjs").Agent} agent */
export async function race(agent) {
  await agent.evaluate(load("race"), /=> T/);
  agent.think(
    "Two threads withdraw 100 each from an account that holds 100. Stop each of them where it asks for approval.",
  );
  const breakpoint = { function: "race::approve", thread: "any" };
  const { id } = await agent.call("breakpoint_set", breakpoint, /"thread":"any"/);
  const start =
    "(setf race::*balance* 100)\n(defvar *threads*)\n(setf *threads* (race:start-withdrawals 100))\n(length *threads*)";
  await agent.evaluate(start, /=> 2/);
  const [first, second] = await stops(agent, 2);

  agent.think("Both threads are stopped there at the same time. Which balance has each of them read?");
  for (const thread of [first, second]) {
    const frame = await agent.frameOf("RACE::WITHDRAW", { thread, end: 3 });
    await agent.call("debugger_eval_in_frame", { thread, frame, code: "balance" }, /^=> 100$/m);
  }
  agent.think(
    "Both have read a balance of 100: no lock keeps the other thread out between the check and the payment. Continue both.",
  );
  for (const thread of [first, second]) await agent.call("debugger_continue", { thread }, /resumed|ended/);
  await agent.evaluate(
    "(values (mapcar #'sb-thread:join-thread *threads*) race::*balance*)",
    /=> \(:PAID :PAID\)\n.*=> 0/,
  );

  agent.think("The same money was paid twice. Check and payment must be one atomic step.");
  const fix = `(in-package :race)
(defun withdraw (amount)
  (sb-thread:with-mutex (*lock*)
    (let ((balance *balance*))
      (if (approve amount balance)
          (progn (setf *balance* (- balance amount))
                 :paid)
          :refused))))
(in-package :cl-user)`;
  await agent.evaluate(fix, /=> #<PACKAGE "COMMON-LISP-USER">/);
  await agent.evaluate(start, /=> 2/);
  const [only] = await stops(agent, 1);

  agent.think("Now one thread is stopped there, and the other one waits for the lock.");
  await agent.evaluate("(count-if #'sb-thread:thread-alive-p *threads*)", /=> 2/);
  await agent.call("debugger_continue", { thread: only }, /resumed|ended/);
  const [other] = await stops(agent, 1);
  const frame = await agent.frameOf("RACE::WITHDRAW", { thread: other, end: 3 });
  await agent.call("debugger_eval_in_frame", { thread: other, frame, code: "balance" }, /^=> 0$/m);
  await agent.call("debugger_continue", { thread: other }, /resumed|ended/);
  await agent.call("breakpoint_remove", { id }, /"removed"/);
  const outcome = "(values (sort (mapcar #'sb-thread:join-thread *threads*) #'string<) race::*balance*)";
  await agent.evaluate(outcome, /=> \(:PAID :REFUSED\)\n.*=> 0/);
}

/** Waits until `count` threads are stopped, and returns their addresses. @param {import("../support/agent.mjs").Agent} agent @param {number} count */
async function stops(agent, count) {
  const expected = new RegExp(`"stopped":\\[(?:\\{[^}]*\\},?){${count}}\\]`);
  const { stopped } = await agent.callUntil("lisp-status", {}, expected);
  return stopped.map(({ thread }) => thread);
}
