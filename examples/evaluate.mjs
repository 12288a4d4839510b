// The library on one page: launch an image, get a value, stop at an error, and resume from it.
import { launch } from "swank-client";

const client = await launch();
console.log(`${client.info.implementation.type} ${client.info.implementation.version}, process ${client.image.pid}`);

// A value, and the output of the evaluation.
const sum = await client.evaluate('(format t "adding~%") (+ 1 2)').next();
console.log(sum.status, sum.values, JSON.stringify(sum.stdout));

// An error does not end the evaluation: its thread stops, with every frame and variable.
const evaluation = client.evaluate(
  "(defun divide (a b) (/ a b)) (defun mean (list) (divide (reduce #'+ list) (length list))) (mean '())",
);
const { status, stop } = await evaluation.next();
console.log(status, stop.condition.type, "-", stop.condition.message.split("\n")[0]);
for (const frame of (await stop.frames()).frames.filter(({ kind }) => kind === "user")) {
  console.log(`  ${frame.index}: ${frame.call}`, frame.locals.map(({ name, value }) => `${name}=${value}`).join(" "));
}

// Redefine the function while the thread is stopped, then retry the form: the first evaluation returns its value.
await client.evaluate("(defun divide (a b) (if (zerop b) 0 (/ a b)))").next();
const retry = stop.restarts.find(({ name }) => name === "RETRY");
await stop.invokeRestart(retry.index);
const fixed = await evaluation.next();
console.log(fixed.status, fixed.values);

await client.close();
