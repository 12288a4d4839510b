const FIX = `(in-package :visits)
(defvar *listeners* '()
  "((USER . FUNCTION) ...): functions to call with each piece of news.")
(defun enter (user)
  (let ((visit (make-visit :user user)))
    (push (cons user (lambda (news) (push news (visit-news visit)))) *listeners*)
    (setf (gethash user *visits*) visit)))
(defun leave (user)
  (setf *listeners* (delete user *listeners* :key #'car :test #'equal))
  (remhash user *visits*))
(defun announce (news)
  (loop for (nil . listener) in *listeners*
        do (funcall listener news)))
(setf *listeners* '())`;

/** @param {import("../support/agent.mjs").Agent} agent */
export async function leak(agent) {
  await agent.evaluate('(load "examples/leak/visits.lisp")\n(visits:serve 2000)', /=> 2000/);
  agent.think(
    "The memory of this program grows from day to day. All users have left. What is still there after 1,000 more?",
  );
  const more = { mode: "growth", code: "(visits:serve 1000)" };
  await agent.call("heap", more, /=> 1000\n[\s\S]*\+1,000 {2}VISITS::VISIT \(2,000 before\)/);

  agent.think("Every visit stays, although *VISITS* is empty. Which are these?");
  const found = await agent.call(
    "heap",
    { mode: "instances", type: "visits::visit" },
    /^3,000 objects of type VISITS::VISIT/,
  );
  const [, id] = /^id (\d+):/m.exec(found) ?? [];

  agent.think("What keeps one of them alive?");
  const path = /\nvariable VISITS::\*LISTENERS\*: [^\n]*\nelement [\d,]+: [^\n]*\nvariable 0: #S\(VISITS::VISIT/;
  await agent.call("heap", { mode: "path", object: Number(id) }, path);

  agent.think("A function in *LISTENERS* closes over the visit. Who puts it there, and who should remove it?");
  await agent.call("find-references", { name: "visits::*listeners*", mode: "references" }, /defun enter/);

  agent.think(
    "ENTER registers a listener, and LEAVE does not remove it. Keep the user with each listener, and remove it with the visit.",
  );
  await agent.evaluate(FIX, /=> NIL/);

  agent.think("Does a visit leave anything behind now?");
  await agent.call("heap", more, /=> 1000\n(?![\s\S]*VISITS::VISIT)/);
}
