const FIRST_TEST = `
(test a-reserved-book-goes-to-who-waits
  (let ((book (lend (new-book) "Ann")))
    (reserve book "Bob")
    (is (equal "Bob" (borrower (give-back book))))))
`;

const SLOT = `who has it, or NIL.")
   (waiting :initform '() :accessor waiting :documentation "Members who want it next, the first one first.")))`;

const GIVE_BACK = `"Take BOOK back from its borrower, and lend it to the first member who waits."
  (setf (borrower book) (pop (waiting book)))`;

const RESERVE = `
(defun reserve (book member)
  "Let MEMBER have BOOK next, or at once if nobody has it. Signal NOT-AVAILABLE if MEMBER has it."
  (cond ((null (borrower book)) (lend book member))
        ((equal member (borrower book)) (error 'not-available :book book))
        (t (setf (waiting book) (append (waiting book) (list member)))
           book)))
`;

const MORE_TESTS = `
(test a-free-book-is-not-reserved-but-lent
  (is (equal "Bob" (borrower (reserve (new-book) "Bob")))))

(test nobody-reserves-the-book-they-have
  (signals not-available (reserve (lend (new-book) "Ann") "Ann")))

(test books-go-to-those-who-wait-in-their-order
  (let ((book (lend (new-book) "Ann")))
    (reserve book "Bob")
    (reserve book "Cleo")
    (is (equal "Cleo" (borrower (give-back (give-back book)))))))
`;

/** @param {import("../support/agent.mjs").Agent} agent */
export async function addFeature(agent) {
  await look(agent);
  await testFirst(agent);
  await write(agent);
  await cover(agent);

  agent.think("Do the files alone make a correct system? Load them into a fresh image.");
  await agent.call("reset-session", {}, /fresh/);
  await agent.call("load-system", { file: "lending.asd", test: true }, /^System lending is loaded: 4 files/);
  await agent.call("run-tests", { name: "lending" }, /^System lending: 8 passed, 0 failed/);
}

/** Where the feature belongs. */
async function look(agent) {
  agent.think(
    "A member who wants a book that somebody has should be able to reserve it. What is there, and does it work?",
  );
  await agent.call("load-system", { file: "lending.asd", test: true }, /^System lending is loaded: 4 files/);
  await agent.call("outline", { system: "lending" }, /books\.lisp, 27 lines: 2 defun/);
  await agent.call("show-source", { name: "lending:book lending:lend lending:give-back" }, /borrower :initform nil/);
  await agent.call("run-tests", { name: "lending" }, /^System lending: 4 passed, 0 failed/);
}

/** A test of the feature, which fails for the right reason. */
async function testFirst(agent) {
  agent.think("The one who waits longest gets the book as soon as it is given back. First a test, and the name.");
  await agent.edit("package.lisp", "#:give-back", "#:give-back #:reserve");
  await agent.edit("tests.lisp", "", FIRST_TEST);
  await agent.call("load-changes", {}, /form \(test a-reserved-book/);
  const failing = { name: "lending-tests::a-reserved-book-goes-to-who-waits" };
  await agent.call("run-tests", failing, /: 0 passed, 1 failed[\s\S]*LENDING:RESERVE is undefined/);
}

/** The feature. Books that exist get the new slot. */
async function write(agent) {
  agent.think("It fails because the function is missing. A book has to know who waits; then the function.");
  await agent.edit("books.lisp", 'who has it, or NIL.")))', SLOT);
  await agent.edit("books.lisp", '"Take BOOK back from its borrower."\n  (setf (borrower book) nil)', GIVE_BACK);
  await agent.edit("books.lisp", "", RESERVE);
  await agent.call("load-changes", {}, /class LENDING:BOOK[\s\S]*function LENDING:GIVE-BACK/);
  await agent.call("run-tests", { name: "lending", coverage: true }, /5 passed, 0 failed[\s\S]*ran in part: 32-33/);
}

/** What no test has run. */
async function cover(agent) {
  agent.think(
    "The test passes, but two clauses of the new function did not run: for a free book, and for the member who has it. Nor do the tests say in which order several members wait.",
  );
  await agent.edit("tests.lisp", "", MORE_TESTS);
  await agent.call("load-changes", {}, /^Loaded:\nform \(test a-free-book/);
  await agent.call("run-tests", { name: "lending", coverage: true }, /8 passed, 0 failed[\s\S]*books\.lisp (?!.*32)/);
  agent.think("All of the new code has run. What did not run was there before.");
}
