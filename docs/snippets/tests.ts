import { launch } from "swank-client";

const client = await launch();
await client.code.loadSystem("fiveam", { timeout: 120_000 }).result();
await client.eval(`
  (defun median (numbers) (nth (floor (length numbers) 2) numbers))
  (fiveam:def-suite statistics)
  (fiveam:in-suite statistics)
  (fiveam:test median-of-sorted (fiveam:is (= 2 (median '(1 2 3)))))
  (fiveam:test median-of-unsorted (fiveam:is (= 2 (median '(2 3 1)))))`);

const results = await client.code.runTests("statistics", { timeout: 60_000, onError: "unwind" }).result();
if (results.status === "run") {
  console.log(`${results.passed} passed, ${results.failed} failed`);
  for (const { test, form, expected, actual } of results.failures) console.log(test, form, actual, "is not", expected);
}

await client.close();
