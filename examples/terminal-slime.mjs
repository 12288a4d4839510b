// A small SLIME in a terminal: a prompt that evaluates, and a debugger that shows errors and invokes restarts.
// `node examples/terminal-slime.mjs` starts a Lisp. In the debugger, a number invokes that restart, with the values after it if it takes some:
// `1 (+ 1 2)`; other input is evaluated. Input of the program, such as `read-line`, comes from the same lines. Ctrl-C interrupts, Ctrl-D ends.
import { launch, outlineCode, SwankError } from "swank-client";
import { LineReader } from "./support/line-reader.mjs";

/** @typedef {import("swank-client").Stop} Stop */
/** @typedef {import("swank-client").Evaluation} Evaluation */
/** @typedef {Exclude<import("swank-client").Outcome, import("swank-client").Stopped>} Ending */

/** The frames of the program that are shown at a stop. */
const FRAME_COUNT = 4;

const client = await launch();
const input = new LineReader(() => void interrupt());
/** Evaluations that have not ended, the latest last: code that is evaluated in the debugger comes after that of the stop. @type {Evaluation[]} */
const running = [];
let packageName = client.info.package.name;
/** The last line of the output, if it has no end yet: the prompt of the program for its input. */
let lastLine = "";

/** Reads lines up to the end of a form; `undefined` at the end of input. @param {number} level how many stops are open */
async function readCode(level) {
  const name = packageName === client.info.package.name ? client.info.package.prompt : packageName;
  print("");
  let code = await input.read(level === 0 ? `${name}> ` : `${name} [${level}]> `);
  while (code !== undefined && outlineCode(code).state === "unfinished") {
    const more = await input.read("... ");
    code = more === undefined ? undefined : `${code}\n${more}`;
  }
  return code === undefined && !input.isAtEnd ? "" : code;
}

/** @param {string} text */
function write(text) {
  process.stdout.write(text);
  lastLine = `${lastLine}${text}`.split("\n").at(-1) ?? "";
}

/** Prints lines, on a new line. @param {string} text */
function print(text) {
  if (lastLine !== "") write("\n");
  if (text !== "") write(`${text}\n`);
}

/** Interrupts the running evaluation; at a prompt, forgets the input. */
async function interrupt() {
  write("\n");
  const isInterrupted = await running
    .at(-1)
    ?.interrupt()
    .catch(() => false);
  if (isInterrupted !== true) input.forget();
}

/** The input of a program, which ends with its evaluation. @param {AbortSignal} signal */
async function readInput(signal) {
  const line = await input.read(lastLine, signal);
  lastLine = "";
  return line === undefined ? undefined : `${line}\n`;
}

/** The next outcome, whose warnings are printed. @param {Evaluation} evaluation */
async function nextOutcome(evaluation) {
  const outcome = await evaluation.next();
  for (const { type, message } of outcome.warnings) print(`; ${type}: ${message}`);
  return outcome;
}

/** Evaluates code, and debugs its stops, to its end. @param {string} code @param {number} level */
async function evaluate(code, level) {
  const ended = new AbortController();
  const onRead = () => readInput(ended.signal);
  const evaluation = client.evaluate(code, { onOutput: ({ text }) => write(text), onRead });
  running.push(evaluation);
  let outcome = await nextOutcome(evaluation);
  for (; outcome.status === "stopped"; outcome = await nextOutcome(evaluation)) await debug(outcome.stop, level + 1);
  running.pop();
  ended.abort();
  packageName = outcome.package;
  printEnding(outcome);
}

/** @param {Ending} outcome */
function printEnding(outcome) {
  if (outcome.status === "lost") throw outcome.cause;
  if (outcome.status === "returned") print(outcome.values.join("\n") || "; No values");
  else print(outcome.error === undefined ? "; Aborted" : `; ${outcome.error.type}: ${outcome.error.message}`);
}

/** @param {Stop} stop */
function printStop({ thread, evaluation, condition, restarts }) {
  if (evaluation === undefined) print(`Background thread ${thread}:`);
  print(`${condition.type}: ${condition.message}`);
  for (const { index, name, description } of restarts) print(`  ${index}: [${name}] ${description}`);
  const frames = condition.frames.filter(({ kind }) => kind === "user").slice(0, FRAME_COUNT);
  for (const { call } of frames) print(`  in ${call}`);
}

/** Reads commands until the thread has left the stop. @param {Stop} stop @param {number} level */
async function debug(stop, level) {
  printStop(stop);
  while (stop.isLive) {
    const code = await readCode(level);
    const [, restart, values = ""] = /^\s*(\d+)(?:\s+(.*))?$/s.exec(code ?? "") ?? [];
    if (code === undefined) await stop.abort();
    else if (restart !== undefined) await invokeRestart(stop, Number(restart), values);
    else if (code.trim() !== "") await evaluate(code, level);
  }
}

/** Invokes a restart, or prints why that is not possible. @param {Stop} stop @param {number} index @param {string} values expressions */
async function invokeRestart(stop, index, values) {
  try {
    const forms = outlineCode(values).forms.map(({ offset, end }) => values.slice(offset, end));
    await stop.invokeRestart(index, forms);
  } catch (error) {
    if (!(error instanceof SwankError) || !client.isOpen) throw error;
    print(error.message);
  }
}

try {
  for (let code = await readCode(0); code !== undefined; code = await readCode(0)) {
    if (code.trim() !== "") await evaluate(code, 0);
    for (const stop of client.stops) if (stop.evaluation === undefined) await debug(stop, 1);
  }
} catch (error) {
  if (!(error instanceof SwankError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  input.close();
  await client.close();
}
