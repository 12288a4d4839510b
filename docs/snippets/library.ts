import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, decode, LispError, launch, lisp, lispFunction, Sources } from "swank-client";
import * as swank from "swank-client/swank";

const PROGRAM = `
(defpackage :my-app (:use :cl))
(in-package :my-app)
(defvar *orders* (loop for i below 200 collect (list :order i)))
(defgeneric area (shape))
(defclass circle () ())
(defmethod area ((shape circle)) 3)
(defmacro with-shape ((name) &body body) \`(let ((,name (make-instance 'circle))) ,@body))
(defun grow (shape) (area shape))
(defun process (n) (if (evenp n) n (error "bad ~a" n)))
(defun process-all (numbers) (mapcar #'process numbers))
`;
const port = Number(process.env["SWANK_PORT"] ?? 4005);
const file = join(await mkdtemp(join(tmpdir(), "my-app-")), "process.lisp");
await writeFile(file, PROGRAM);

async function attach() {
  // #region connect
  const client = await connect({ port }); // a running image, together with its other clients
  // #endregion connect
  return client;
}

async function start() {
  // #region launch
  const client = await launch(); // starts SBCL; the connection is an inherited socket, so no port is opened
  console.log(client.image.pid > 0);
  // #endregion launch
  return client;
}

const other = await attach();
const client = await start();
await client.eval(`(load (compile-file ${JSON.stringify(file)}))`);

// #region eval
console.log(await client.eval("(floor 7 2)")); // [ '3', '1' ]: the printed values of the last form
const squares = await client.eval("(loop for i below 4 collect (* i i))", { decode: decode.list(decode.integer) });
console.log(squares); // [ 0, 1, 4, 9 ]
try {
  await client.eval("(car 1)", { timeout: 5000 });
} catch (error) {
  if (error instanceof LispError) console.log(error.message, error.report.frames.length, error.transcript.stdout);
}
// #endregion eval

// #region data
await client.call("my-app::process", [2]); // 2
await client.call("list", [1, "x", ["a", true]], { timeout: 5000 }); // [ 1, 'x', [ 'a', true ] ]
const name = 'O"Neil';
await client.eval`(format nil "Hello, ~a" ${name})`; // Hello, O"Neil
await client.eval(lisp`(length ${name})`, { decode: decode.integer }); // 6
await client.eval("(floor 7 2)", { as: "data" }); // [ 3, 1 ]
// #endregion data

// #region task
const task = client.code.loadSystem({ file }, { timeout: 60_000, onError: "unwind" });
for await (const event of task) if (event.type === "output") process.stdout.write(event.text);
const loaded = await task.result(); // { status: "loading", systems, notes, problem, ... }, or there is no such file
console.log(loaded.status);
// #endregion task

// #region evaluate
const evaluation = client.evaluate("(loop for i below 3 do (print i)) (floor 7 2)", {
  package: "CL-USER", // for this evaluation only; default: the session's package, which in-package changes
  stdin: "the text that (read-line) reads, then end of file",
  onRead: async () => "y\n", // instead of the end of file: called when the code reads on, e.g. for y-or-n-p; or a stream
  onOutput: ({ text }) => process.stdout.write(text), // called as output arrives
  onProgress: (text) => console.error(text), // called for each file that the code compiles: Compiling src/model.lisp
  outputLimit: 1_000_000, // characters of each stream; printLength, printLevel and valueLimit do the same for values
  timeout: 60_000, // interrupts code that still runs: it stops, and can be inspected
});
const outcome = await evaluation.next({ timeout: 5000 });
// #endregion evaluate
console.log(outcome.status);

async function debug() {
  const evaluation = client.evaluate('(defun f (n) (restart-case (error "bad ~a" n) (use (value) value))) (f 1)');
  const outcome = await evaluation.next();
  // #region debug
  if (outcome.status === "stopped") {
    const { stop } = outcome;
    console.log(stop.reason, stop.condition.type, stop.condition.message);
    const { frames, totalFrames } = await stop.frames(0, 20);
    console.log(frames[1]?.call, totalFrames > 20);
    const { values } = await stop.evaluateInFrame(1, "(setf n 10)", { package: "CL-USER" }); // by default, that of the function
    console.log(values); // [ '10' ]
    await stop.invokeRestart(0, ["(list 1 2)"]); // index in stop.restarts, from 0, and expressions for the restart's arguments
    console.log(await evaluation.next().then(({ status }) => status)); // the next outcome of the stopped evaluation
  }
  // #endregion debug
}
await debug();

// #region breakpoint
await client.breakpoints.set("my-app:process", { condition: "(> (length args) 2)", hitCount: 3 });
// #endregion breakpoint

// #region foreign
const [foreign] = await client.foreignStops();
if (foreign !== undefined) {
  console.log(`${foreign.condition.message}, in ${foreign.owner?.text}`); // bad 42, in Emacs (Swank connection 1)
  await foreign.open(); // completes its data: frames, variables, reason
}
// #endregion foreign

async function describe() {
  // #region describe
  const symbol = await client.describeSymbol("my-app::process"); // also "|Odd Name|", ":key", "(setf name)"
  if (symbol.status === "found") for (const { kind, name } of symbol.meanings) console.log(kind, name);
  const names = await client.completions("multiple-value-", "MY-APP"); // as code in that package writes them
  const { definitions, loaded } = await client.definitions(); // of this client's evaluations, and the files that they loaded
  console.log(names.length, definitions.length, loaded.length);
  // #endregion describe
}
await describe();

async function code() {
  // #region code
  const shown = await client.code.showSource("(method area (circle))", { package: "my-app" });
  if (shown.status === "found")
    for (const { name, state, line, text } of shown.definitions) console.log(name, state, line, text);
  const around = await client.code.showFile(file, { line: 10, context: 1 });
  const names = await client.code.apropos("^process", { regexp: true, kind: "function", package: "my-app" });
  const lines = await client.code.searchSource("(area", { limit: 10 });
  const callers = await client.code.findReferences("process", "callers", { package: "my-app" });
  const expansions = await client.code.macroexpand("(with-shape (s) (grow s))", { mode: "all", package: "my-app" });
  // #endregion code
  console.log(typeof around, typeof names, typeof lines, typeof callers, typeof expansions);
}
await code();

async function program() {
  // #region program
  const { threads, deadlocks } = await client.program.threads({ name: "loader", frames: 5 });
  for (const { id, state, what, holder, frames } of threads) console.log(id, state, what, holder, frames);
  for (const text of deadlocks) console.log(text); // DEADLOCK: 7 waits for MUTEX "b" held by 9, 9 waits for MUTEX "a" held by 7
  // #endregion program
}

await program();

// #region events
const stopListening = client.on("stop", (stop) => console.log(stop.condition.message));
// #endregion events
stopListening();

// #region agents
const { ledger, end } = await client.activity.follow({ questions: true }, (event) => {
  if (event.type === "begin") console.log(event.call.agent, event.call.operation, event.call.code);
  if (event.type === "ask") void client.activity.answer(event.question.number, "no");
});
console.log(ledger.agents, ledger.calls.length);
const isPaused = await client.activity.pause("claude", true); // false: there is no such agent
// #endregion agents
console.log(isPaused);
await end();

// #region call
const sources = new Sources(); // finds lines and columns: see below
const users = await client.run(swank.definitions.xref, "calls", "my-app::process"); // [{ name, location }]
console.log(users?.map(({ name }) => name));
const { succeeded, notes } = await client.run(swank.compiling.compileFileForEmacs, file);
for (const { severity, message, location } of notes) console.log(severity, message, await sources.locate(location));
console.log(succeeded);
const implementation = lispFunction({ name: "cl:lisp-implementation-type", decode: decode.string });
console.log(await client.run(implementation));
// #endregion call

// #region sources
for (const { name, location } of await client.run(swank.definitions.findDefinitionsForEmacs, "my-app::process")) {
  const found = await sources.locate(location);
  if (found.status === "found") console.log(name, `line ${found.line}, column ${found.column}`);
  else console.log(name, found.reason); // "unreadable": the file is missing, or on another machine; "unknown": Lisp knows no place
}
// #endregion sources

async function compile() {
  // #region compile-file
  const { succeeded, notes, isLoaded, loadError } = await swank.compileFile(client.lisp, file, { load: true });
  for (const { severity, message } of notes) console.log(severity, message);
  console.log(succeeded, isLoaded, loadError?.message); // true true undefined
  // #endregion compile-file
}
await compile();

async function warnings() {
  // #region warnings
  const code = "(defun volume (width height)\n  (* width heigth))";
  const { warnings } = await client.evaluate(code).next();
  for (const warning of warnings) {
    const found = await sources.locate(warning, { code }); // the code is only for warnings about its own forms, not those of files
    if (found.status === "found") console.log(`${found.line}:${found.column}: ${warning.type}: ${warning.message}`);
  }
  // #endregion warnings
}
await warnings();

async function inspect() {
  // #region inspect
  await using inspector = await swank.Inspector.open(client.lisp, "my-app::*orders*"); // the value of any expression, read in the session's package
  console.log(inspector.title, inspector.class);
  let page = await inspector.parts(); // { parts, start, end, hasMore }: about 100 parts
  if (page.hasMore) page = await inspector.parts(page.end);
  const values = page.parts.filter((part) => part.kind === "value");
  console.log(values[0]?.text);
  const first = await inspector.part(0); // another inspector, whose `parent` is this one
  console.log((await first.describe()).split("\n")[0]);
  // #endregion inspect
  // #region inspect-object
  const evaluation = client.evaluate("my-app::*orders*", { valuesAs: "ids" });
  const outcome = await evaluation.next();
  if (outcome.status === "returned") {
    const view = await client.program.inspectObject(Number(outcome.values[0]), {
      expression: "my-app::*orders*",
      count: 2,
    });
    console.log(view.kind, view.count);
    for (const part of view.parts) console.log(part.expression, part.text); // inspectObject(part.id) goes on from there
  }
  // #endregion inspect-object
}
await inspect();

await client.eval("(defstruct visit) (defvar *list* '())");
// #region heap
const { heap } = client.program;
await heap.summary();
await client.eval("(dotimes (n 10) (push (make-visit) *list*))");
const { types } = await heap.growth({ type: "visit" });
console.log(types[0]?.name, types[0]?.count);
const [instance] = (await heap.instances("visit", { limit: 1 })).instances;
const path = await heap.path(instance?.id ?? 0);
console.log(path.end);
for (const step of path.steps) console.log(step.name, step.expression); // the last expression returns the instance
// #endregion heap

await client.eval(`
  (let ((begun (sb-thread:make-semaphore)))
    (sb-thread:make-thread (lambda () (sb-thread:signal-semaphore begun) (sleep 100)) :name "sleeper")
    (sb-thread:wait-on-semaphore begun))`);
// #region threads
const [sleeper] = (await client.program.threads({ name: "sleeper" })).threads;
if (sleeper?.id !== undefined) await client.program.stopThread(sleeper.id); // it stops, and a stop event reports it
if (sleeper?.id !== undefined) console.log(await client.program.endThread(sleeper.id, "kill")); // ended
const all = await client.run(swank.image.threads); // the names and states of all threads; needs no runtime
// #endregion threads
console.log(all.length > 1);

// #region reset
const { undefined: gone, left } = await client.reset();
// #endregion reset
console.log(gone.length > 0, left.length);

await client.run(swank.image.quitLisp).catch(() => undefined);
// #region exit
const { exit } = (await client.closed).details;
console.log(exit?.code, exit?.signal, exit?.heapExhausted, exit?.problem); // 1 undefined true Heap exhausted during garbage collection: ...
// #endregion exit
await client.close();
await other.close();
