// Counts the modules of swank-client and sexp-parser that take part in an evaluation and in a stop, and the calls of the parser's functions while a client
// connects: `node bench/journeys.mjs` prints the counts and what they count, and with `--write` writes the counts into docs/architecture.md. A module
// counts if one of its functions runs between the call and the outcome. Code that runs during imports does not count. The heartbeat is off, because its
// timer can fire at any time. The script fails if a count exceeds its limit.
import { readFile, writeFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";
import { decode, read } from "sexp-parser";
import { connect, launch } from "swank-client";

const MODULES_OF_AN_EVALUATION = 32;
const MODULES_OF_A_STOP = 35;
const CALLS_OF_CONNECTING = 2000;

const DOCUMENT = new URL("../docs/architecture.md", import.meta.url);
const BLOCK = /(?<=<!-- Made by `node bench\/journeys.mjs --write`. -->\n).*?(?=<!-- End of the counts. -->)/s;

/** @type {string[]} */
const lines = [];
const lisp = await launch({ heartbeat: false });
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await evaluateOnce();
await inspectOnce();
const server = await lisp.request(read("(swank:create-server :port 0 :dont-close t)"), { label: "another server" });
const port = decode.integer(server);
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
await functionsCalled();
await evaluateOnce();
report("modules", "an evaluation that prints and returns", modules(await functionsCalled()), MODULES_OF_AN_EVALUATION);
await inspectOnce();
report(
  "modules",
  "a stop whose frames are listed, in which one form is evaluated, and which a restart resumes",
  modules(await functionsCalled()),
  MODULES_OF_A_STOP,
);
const other = await connect({ port, heartbeat: false });
const calls = (await functionsCalled()).filter(({ module }) => module.startsWith("sexp-parser"));
report("calls of the parser", "connecting to an image that has the runtime", calls, CALLS_OF_CONNECTING, sumOf(calls));
session.disconnect();
await other.close();
await lisp.close();
if (process.argv.includes("--write")) {
  const text = await readFile(DOCUMENT, "utf8");
  await writeFile(
    DOCUMENT,
    text.replace(BLOCK, () => `${lines.map((line) => `- ${line}\n`).join("")}`),
  );
}

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

/** @typedef {{ module: string, name: string, count: number }} Called */

/** The functions that were called since the previous call. */
async function functionsCalled() {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result.flatMap(({ url, functions }) => {
    const [, name, file] = /\/(swank-client|sexp-parser)\/dist\/(.*)$/.exec(url) ?? [];
    // What the process of the image prints may come at any time.
    if (file === undefined || file.startsWith("launch/")) return [];
    return functions.flatMap(({ functionName, ranges: [whole] }) =>
      whole !== undefined && whole.startOffset > 0 && whole.count > 0
        ? [{ module: `${name}/${file}`, name: functionName, count: whole.count }]
        : [],
    );
  });
}

/** @param {readonly Called[]} called */
function sumOf(called) {
  return called.reduce((sum, { count }) => sum + count, 0);
}

/** @param {readonly Called[]} called */
function modules(called) {
  return [...new Set(called.map(({ module }) => module))].sort();
}

/**
 * @param {string} counted
 * @param {string} journey
 * @param {readonly (string | Called)[]} found
 * @param {number} limit
 */
function report(counted, journey, found, limit, count = found.length) {
  const line = `${journey}: ${count} ${counted}, of at most ${limit}`;
  lines.push(line);
  console.log(line);
  for (const each of found)
    console.log(typeof each === "string" ? `  ${each}` : `  ${each.count} ${each.module} ${each.name}`);
  if (count > limit) process.exitCode = 1;
}
