import { expect } from "chai";
import type { Evaluation, Stop, SwankClient, types } from "swank-client";
import { Inspector, image } from "swank-client/swank";
import { evaluate, stopped, values } from "../../swank-client/live/outcomes.js";

/** Code that the calls below ask about. */
export const PROGRAM = `
(defclass bad-thing () ((size :initarg :size :reader size)))
(defgeneric weigh (thing)) (defmethod weigh ((thing bad-thing)) (size thing))
(defmacro twice (form) \`(progn ,form ,form))
(defvar *things* (list (make-instance 'bad-thing :size 1)))
(defun good (x) (list x))
(defun halting (x) (list x))
(defun bad (x) (error "bad ~a" x))
(defun calls-bad (x) (let ((y (+ x 1))) (list (bad y) y)))`;

type Use = (client: SwankClient, file: string) => Promise<unknown>;

/** What must go on without any internal. */
export const BASIC: Readonly<Record<string, Use>> = {
  evaluation: async (client) => expect(await values(client, "(values (+ 1 2) 4)")).to.deep.equal(["3", "4"]),
  "error reports and restarts": async (client) => {
    const { stop } = stopped(await evaluate(client, "(restart-case (bad 1) (use () 7))"));
    expect(stop.condition.message).to.equal("bad 1");
    expect(stop.restarts[0]?.name).to.equal("USE");
    await stop.abort();
  },
  completion: async (client) => expect(await client.completions("mapca", "CL-USER")).to.include("mapcar"),
};

/** What may need an internal, by the names that the table in docs/compatibility.md has. */
export const ABILITIES: Readonly<Record<string, Use>> = {
  frames: atStop((stop) => stop.frames()),
  variables: atStop((stop) => stop.frameLocals(0)),
  "evaluation in a frame": atStop((stop) => stop.evaluateInFrame(0, "(list x)")),
  "restarting a frame": resuming((stop) => stop.restartFrame(1)),
  "returning from a frame": resuming((stop) => stop.returnFromFrame(1, "5")),
  restarts: resuming(
    (stop) => stop.invokeRestart(0, ["1"]),
    "(restart-case (bad 1) (use (x) :interactive (lambda () (list 1)) x))",
  ),
  steps: resuming((stop) => stop.step("into"), "(let ((x 1)) (break) (list x (good 2)))"),
  interrupts: async (client) => {
    const evaluation = client.evaluate("(loop (sleep 0.01))");
    const first = evaluation.next();
    expect(await evaluation.interrupt()).to.equal(true);
    await stopped(await first).stop.abort();
  },
  breakpoints: async (client) => {
    const { id } = await client.breakpoints.set("halting");
    const evaluation = client.evaluate("(halting 3)");
    const { stop } = stopped(await evaluation.next());
    await client.breakpoints.remove(id);
    if (stop.condition.message.includes("lacks")) return refuse(stop);
    await stop.continue();
    await evaluation.next();
  },
  description: (client) => client.describeSymbol("bad"),
  "classes and methods": (client) => client.code.classInfo("bad-thing"),
  apropos: (client) => client.code.apropos("bad"),
  source: (client) => client.code.showSource("calls-bad"),
  "searching source": (client) => client.code.searchSource("bad"),
  callers: (client) => client.code.findReferences("bad", "callers"),
  callees: (client) => client.code.findReferences("calls-bad", "callees"),
  expansion: (client) => client.code.macroexpand("(twice (good 1))"),
  compiling: (client) => client.code.compile({ code: "(defun other (x) (undefined-one x))" }),
  "loading code": (client, file) => ended(client.code.loadSystem({ file })),
  "running tests": (client) => ended(client.code.runTests("no-such-suite")),
  "listing changes": (client) => client.code.listChanges(),
  "loading changes": (client) => ended(client.code.loadChanges()),
  "saving changes": (client) => client.code.saveChanges({ dryRun: true }),
  "list of threads": (client) => client.program.threads({ frames: 3 }),
  "stopping threads": async (client) => {
    const id = await threadNamed(client, "probe");
    await client.program.endThread(id, "kill");
  },
  traces: (client) => ended(client.program.traceCalls({ code: "(good 1)" }, { functions: ["good"] })),
  profiles: (client) => ended(client.program.profile({ code: "(loop repeat 100 do (good 1))" })),
  "counts of calls": (client) =>
    ended(client.program.profile({ code: "(good 1)" }, { mode: "calls", functions: ["good"] })),
  objects: async (client) => client.program.inspectObject(await objectId(client), { depth: 2 }),
  "the inspector": (client) => Inspector.open(client.lisp, "*things*"),
  "heap summaries": (client) => client.program.heap.summary(),
  "instances in the heap": (client) => client.program.heap.instances("bad-thing"),
  "paths in the heap": async (client) => client.program.heap.path(await objectId(client)),
  "growth of the heap": async (client) => {
    await client.program.heap.summary();
    return client.program.heap.growth();
  },
  definitions: (client) => client.definitions(),
  "other clients": (client) => client.otherClients(),
  "resetting a session": (client) => client.reset(),
};

function atStop(use: (stop: Stop) => Promise<unknown>): Use {
  return async (client) => {
    const { stop } = stopped(await evaluate(client, "(calls-bad 1)"));
    await use(stop).finally(() => stop.abort());
  };
}

function resuming(use: (stop: Stop) => Promise<unknown>, code = "(calls-bad 1)"): Use {
  return async (client) => {
    const evaluation = client.evaluate(code);
    const { stop } = stopped(await evaluation.next());
    try {
      await use(stop);
    } catch (error) {
      await stop.abort();
      throw error;
    }
    await endOf(evaluation);
  };
}

/** Runs code to its end. Rejects with the message of the error that stops it. */
async function run(
  client: SwankClient,
  code: string,
  options: Parameters<SwankClient["evaluate"]>[1],
): Promise<string> {
  return ended(client.evaluate(code, options));
}

async function ended(task: types.Task): Promise<string> {
  const outcome = await task.next();
  if (outcome.status === "stopped") return refuse(outcome.stop);
  if (outcome.status !== "returned") throw new Error(`The code was ${outcome.status}.`);
  return outcome.values[0] ?? "";
}

async function refuse(stop: Stop): Promise<never> {
  await stop.abort();
  throw new Error(stop.condition.message);
}

/** Aborts the stops that follow. */
async function endOf(evaluation: Evaluation): Promise<void> {
  for (;;) {
    const outcome = await evaluation.next();
    if (outcome.status !== "stopped") return;
    await outcome.stop.abort();
  }
}

async function threadNamed(client: SwankClient, name: string): Promise<number> {
  await run(client, `(progn (sb-thread:make-thread (lambda () (sleep 3600)) :name "${name}") nil)`, {});
  for (;;) {
    const found = (await client.run(image.threads)).find((thread) => thread.name === name);
    if (found?.id !== undefined) return found.id;
  }
}

async function objectId(client: SwankClient): Promise<number> {
  return Number(await run(client, "(first *things*)", { valuesAs: "ids" }));
}
