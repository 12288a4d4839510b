// The library on one page: launch an image, get a value, stop at an error, and resume from it.
import { launch } from "swank-client";

const lisp = await launch();
console.log(`${lisp.info.implementation.type} ${lisp.info.implementation.version}, process ${lisp.image.pid}`);

// A value, and the output of the evaluation.
const sum = await lisp.evaluate('(format t "adding~%") (+ 1 2)').next();
console.log(sum.status, sum.values, JSON.stringify(sum.stdout));

// An error does not end the evaluation: its thread stops, with every frame and variable.
const evaluation = lisp.evaluate(
  "(defun divide (a b) (/ a b)) (defun mean (list) (divide (reduce #'+ list) (length list))) (mean '())",
);
const { status, stop } = await evaluation.next();
console.log(status, stop.condition.type, "-", stop.condition.message.split("\n")[0]);
for (const frame of (await stop.frames()).frames.filter(({ kind }) => kind === "user")) {
  console.log(`  ${frame.index}: ${frame.call}`, frame.locals.map(({ name, value }) => `${name}=${value}`).join(" "));
}

// Redefine the function while the thread is stopped, then retry the form: the first evaluation returns its value.
await lisp.evaluate("(defun divide (a b) (if (zerop b) 0 (/ a b)))").next();
const retry = stop.restarts.find(({ name }) => name === "RETRY");
await stop.invokeRestart(retry.index);
const fixed = await evaluation.next();
console.log(fixed.status, fixed.values);

await lisp.close();
