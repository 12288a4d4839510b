import { launch } from "swank-client";

const lisp = await launch();

const evaluation = lisp.evaluate(`
  (dotimes (step 3 :finished)
    (format t "step ~d~%" step)
    (sleep 0.1))`);

for await (const { stream, text } of evaluation.chunks()) {
  if (stream === "stdout") process.stdout.write(text);
}

const outcome = await evaluation.next();
if (outcome.status === "returned") console.log(outcome.values);

await lisp.close();
