import { decode, launch } from "swank-client";

const lisp = await launch();
await lisp.eval(`(require :asdf) (asdf:load-system "fiveam")`, { timeout: 120_000 });
await lisp.eval(`
  (defun median (numbers) (nth (floor (length numbers) 2) numbers))
  (fiveam:def-suite statistics)
  (fiveam:in-suite statistics)
  (fiveam:test median-of-sorted (fiveam:is (= 2 (median '(1 2 3)))))
  (fiveam:test median-of-unsorted (fiveam:is (= 2 (median '(2 3 1)))))`);

const result = decode.record({ name: decode.string, passed: decode.boolean, reason: decode.string });
const results = await lisp.eval(
  `(loop for result in (let ((fiveam:*test-dribble* (make-broadcast-stream))) (fiveam:run 'statistics))
         collect (list (string (fiveam::name (fiveam::test-case result)))
                       (typep result 'fiveam::test-passed)
                       (or (ignore-errors (fiveam::reason result)) "")))`,
  { decode: decode.list(result), timeout: 60_000 },
);
for (const { name, passed, reason } of results)
  console.log(passed ? "ok    " : "FAILED", name, reason.replaceAll(/\s+/g, " "));

await lisp.close();
