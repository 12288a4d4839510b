// The library in one page: an image of our own, a value, an error that stops alive, and the way on from it.
import { connect } from "swank-client";
import { launchImage } from "swank-client/launch";

const image = await launchImage();
const lisp = await connect({ transport: image.transport });
console.log(`${lisp.info.implementation.type} ${lisp.info.implementation.version}, process ${image.pid}`);

// A value, and what was printed on the way.
const sum = await lisp.evaluate('(format t "adding~%") (+ 1 2)').next();
console.log(sum.status, sum.values, JSON.stringify(sum.stdout));

// An error does not end the evaluation: its thread stands still, with every frame and variable in place.
const evaluation = lisp.evaluate(
  "(defun divide (a b) (/ a b)) (defun mean (list) (divide (reduce #'+ list) (length list))) (mean '())",
);
const stop = await evaluation.next();
console.log(stop.status, stop.error.type, "-", stop.error.message.split("\n")[0]);
for (const frame of (await stop.session.frames()).frames.filter(({ kind }) => kind === "user")) {
  console.log(`  ${frame.index}: ${frame.call}`, frame.locals.map(({ name, value }) => `${name}=${value}`).join(" "));
}

// Redefine the function while the thread is stopped, then let it run the form again: the first evaluation gives its value.
await lisp.evaluate("(defun divide (a b) (if (zerop b) 0 (/ a b)))").next();
const retry = stop.session.restarts.find(({ name }) => name === "RETRY");
await stop.session.invokeRestart(retry.index);
const fixed = await evaluation.next();
console.log(fixed.status, fixed.values);

await lisp.close();
await image.stop();
