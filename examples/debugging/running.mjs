import { load } from "./load.mjs";

/** @param {import("../support/agent.mjs").Agent} agent */
export async function deadlock(agent) {
  await agent.evaluate(load("deadlock"), /=> T/);
  agent.think("Two transfers between two accounts never end.");
  await agent.call("evaluate-lisp", { code: "(deadlock:run-transfers)", timeout: 3 }, /\[TIMEOUT\][\s\S]*DEADLOCK/);

  agent.think(
    "The code waits for a thread that waits for another one. Who holds what? No thread is disturbed by this question.",
  );
  const { threads } = await threadsOf(agent, { name: "to-" }, /^DEADLOCK: /m);
  agent.think(
    "Each transfer holds the account that the other one needs. Where do they wait? Only now are they interrupted, for a moment.",
  );
  await threadsOf(agent, { name: "to-", stacks: 12 }, /DEADLOCK::TRANSFER/);

  agent.think("Both wait in TRANSFER for the second account. Unwind one of them: the other one then goes on.");
  const victim = threads.find(({ name }) => name === "to-savings").id;
  await agent.call("interrupt-thread", { thread: victim, mode: "abort" }, /ended/);
  await agent.call("debugger_continue", {}, /=> \(:DONE :ABORTED\)/);

  agent.think("All transfers must lock the accounts in the same order. Correct it, and run both again.");
  const fix = `(in-package :deadlock)
(defun transfer (amount from to)
  "Move AMOUNT while both accounts are locked, in the order of their names."
  (destructuring-bind (first second)
      (sort (list from to) #'string< :key #'account-name)
    (sb-thread:with-mutex ((account-lock first) :timeout 3600)
      (sleep 0.5)
      (sb-thread:with-mutex ((account-lock second) :timeout 3600)
        (move amount from to)))))
(in-package :cl-user)`;
  await agent.evaluate(fix, /=> #<PACKAGE "COMMON-LISP-USER">/);
  await agent.evaluate("(deadlock:run-transfers)", /=> \(:DONE :DONE\)/);
}

/** Calls list-threads, and returns its data. @param {import("../support/agent.mjs").Agent} agent @param {object} args @param {RegExp} expected */
async function threadsOf(agent, args, expected) {
  const { meta } = await agent.answerOf("list-threads", args, expected);
  return meta["swank-mcp/threads"];
}

/** @param {import("../support/agent.mjs").Agent} agent */
export async function slow(agent) {
  await agent.evaluate(load("slow"), /=> T/);
  agent.think("Counting 4,000 words takes long. How often are the functions called, and how long do their calls take?");
  await agent.evaluate("(defvar *words* (slow:words 4000))", /=> \*WORDS\*/);
  const code = "(length (slow:count-words *words*))";
  await agent.call("profile-code", { code, mode: "calls", package: "slow" }, /SLOW::SAME-WORD-P/);

  agent.think(
    "Two words are compared some millions of times: ENTRY searches the whole list for each word. With a hash table, each word is looked up once. Keep the old function, to compare.",
  );
  const fix = `(in-package :slow)
(setf (fdefinition 'count-words-by-list) #'count-words)
(defun count-words (words)
  "((WORD . COUNT) ...) in the order in which WORDS occur first."
  (let ((counts '()) (entries (make-hash-table :test #'equal)))
    (dolist (word words (reverse counts))
      (let ((entry (gethash word entries)))
        (if entry
            (incf (cdr entry))
            (push (setf (gethash word entries) (cons word 1)) counts))))))
(in-package :cl-user)`;
  await agent.evaluate(fix, /=> #<PACKAGE "COMMON-LISP-USER">/);
  await agent.evaluate("(equal (slow:count-words *words*) (slow::count-words-by-list *words*))", /=> T/);
  agent.think("The result is the same. Is it faster? Both are also run in turn, without counting.");
  const against = "(length (slow::count-words-by-list *words*))";
  await agent.call(
    "profile-code",
    { code, mode: "calls", package: "slow", against },
    /code is (?:[3-9]\d|\d{3,})\.\d+ times as fast as against/,
  );
}
