// Counts the modules of swank-client that take part in an evaluation and in a stop: `node scripts/journeys.mjs`.
// A module counts if one of its functions runs between the call and the outcome. Code that runs during imports does not count.
// The heartbeat is off, because its timer can fire at any time. The script fails if a count exceeds its limit.
import { Session } from "node:inspector/promises";
import { launch } from "swank-client";

const EVALUATION = { name: "an evaluation", limit: 20 };
const STOP = { name: "a stop that is inspected and resumed", limit: 30 };

const lisp = await launch({ heartbeat: false });
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await evaluateOnce();
await inspectOnce();
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
await session.post("Profiler.takePreciseCoverage");
await evaluateOnce();
report(EVALUATION, await modulesPassed());
await inspectOnce();
report(STOP, await modulesPassed());
session.disconnect();
await lisp.close();

async function evaluateOnce() {
  const outcome = await lisp.evaluate("(print (+ 1 2))").next();
  if (outcome.status !== "returned") throw new Error(`The evaluation is ${outcome.status}.`);
}

async function inspectOnce() {
  const evaluation = lisp.evaluate('(restart-case (error "x") (go-on () 1))');
  const outcome = await evaluation.next();
  if (outcome.status !== "stopped") throw new Error(`The evaluation is ${outcome.status}.`);
  await outcome.stop.frames();
  await outcome.stop.evaluateInFrame(0, "(+ 1 2)");
  await outcome.stop.invokeRestart(0);
  await evaluation.next();
}

/** Returns the modules with a function that has run since the previous call. */
async function modulesPassed() {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result
    .filter(({ url }) => url.includes("/swank-client/dist/"))
    .filter(({ functions }) =>
      functions.some(({ ranges: [whole] }) => whole && whole.startOffset > 0 && whole.count > 0),
    )
    .map(({ url }) => url.replace(/^.*\/swank-client\/dist\//, ""))
    .sort();
}

/** @param {typeof EVALUATION} journey @param {readonly string[]} modules */
function report({ name, limit }, modules) {
  console.log(`${modules.length} of at most ${limit} modules: ${name}\n  ${modules.join("\n  ")}`);
  if (modules.length > limit) process.exitCode = 1;
}
