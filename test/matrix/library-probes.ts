import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  decode,
  followEvaluation,
  lispFunction,
  list,
  ReconnectingClient,
  Sources,
  type Stop,
  type SwankClient,
  SwankError,
  symbol,
  type types,
} from "swank-client";
import { compileFile, Inspector } from "swank-client/swank";
import { testCache } from "../support/test-cache.js";
import { DEFINITIONS } from "../swank-client/live/called-code.js";
import { aborted, returned, stopped, values } from "../swank-client/live/outcomes.js";
import type { Lab } from "./lab.js";
import { expectMatch, type Probes } from "./probe.js";

/** Milliseconds for what a busy machine does in a moment. */
const SOON = 30_000;

type MethodsOf<Type> = {
  [Name in keyof Type]: Name extends string ? (Type[Name] extends (...args: never[]) => unknown ? Name : never) : never;
}[keyof Type];

/** A call of each method of a type: the compiler asks for those of new methods. */
type Calls<Type, Unasked extends string = never> = Readonly<
  Record<Exclude<MethodsOf<Type>, Unasked>, (client: SwankClient, lab: Lab) => Promise<unknown>>
>;

/** Methods of every emitter of events. */
type Emitting = "on" | "once" | "listenerCount" | "emit" | "reportListenerError";

function expectThat(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`Not as expected: ${what}`);
}

async function expectValue(asked: Promise<unknown>, pattern: RegExp): Promise<void> {
  expectMatch(JSON.stringify(await asked) ?? "", pattern);
}

/** The result of a task, or the error of a lost one. */
async function endOf(evaluation: types.Evaluation): Promise<types.Returned> {
  const outcome = await evaluation.next({ timeout: SOON });
  if (outcome.status === "lost") throw outcome.cause;
  return returned(outcome);
}

/** Code that runs until it is stopped, or for long: not every Lisp can stop it. */
const LONG = "(loop repeat 1500 do (sleep 0.02))";

/** A file of two definitions. */
async function fileOfCode(): Promise<string> {
  const path = join(testCache("matrix"), "of-file.lisp");
  await writeFile(path, "(defun of-file (x) x)\n(defun also-of-file (y) (of-file y))\n");
  return path;
}

/** The id of an object that the image keeps. */
async function objectId(client: SwankClient, code: string): Promise<number> {
  const [id] = returned(await client.evaluate(code, { valuesAs: "ids" }).next({ timeout: SOON })).values;
  return Number(id);
}

/** An evaluation that runs, and its thread. */
export async function running(client: SwankClient): Promise<{ evaluation: types.Evaluation; thread: number }> {
  // An image without threads would only be able to wait for the end of the code.
  await client.program.threads();
  const evaluation = client.evaluate(LONG);
  await evaluation.begun();
  // It is listed when it has begun in the image.
  for (;;) {
    const { threads } = await client.program.threads();
    const id = threads.find((thread) => thread.evaluation === evaluation.id)?.id;
    if (id !== undefined) return { evaluation, thread: id };
    await setTimeout(100);
  }
}

/** The frame of a function in a stop. */
export async function frameOf(stop: Stop, name: string): Promise<number> {
  const { frames } = await stop.frames(0, 60);
  // CLISP has the variables in the frames of the forms inside a function.
  const found =
    frames.find(({ locals }) => locals.some((variable) => variable.name === "N")) ??
    frames.find(({ call }) => call.includes(name));
  if (found === undefined)
    throw new Error(
      `No frame of ${name} among ${frames
        .map(({ call }) => call)
        .join(" ")
        .slice(0, 200)}`,
    );
  return found.index;
}

const FAILING = '(defun sc-again (n) (error "boom ~a" n) n) (list (sc-again 1))';

const CLIENT: Calls<SwankClient, Emitting> = {
  onStop: async (client, lab) => {
    const stops: Stop[] = [];
    const end = client.onStop((stop) => stops.push(stop));
    await lab.stopIn('(error "here")');
    expectThat(stops.length === 1, `${stops.length} stops`);
    end();
  },
  foreignStops: (client) => expectValue(client.foreignStops(), /^\[\]$/),
  evaluate: async (client) => {
    const outcome = await endOf(client.evaluate('(format t "out") (format *error-output* "err") (values 1 :two)'));
    expectMatch(JSON.stringify([outcome.stdout, outcome.stderr, outcome.values]), /^\["out","err",\["1",":TWO"\]\]$/);
  },
  eval: async (client) => {
    await expectValue(client.eval("(+ 1 2)"), /^\["3"\]$/);
    await expectValue(client.eval("(floor 7 2)", { as: "data" }), /^\[3,1\]$/);
    await expectValue(client.eval("(floor 7 2)", { decode: decode.integer }), /^3$/);
    await expectValue(client.eval`(list ${"x"} ${[1, 2]})`, /^\["x",\[1,2\]\]$/);
  },
  call: (client) => expectValue(client.call("list", [1, "x", ["a", true]]), /^\[1,"x",\["a",true\]\]$/),
  definitions: async (client) => {
    await client.eval("(defun made-here () 1)");
    await expectValue(client.definitions(), /MADE-HERE/);
  },
  reset: async (client) => {
    await client.eval("(defun undone-by-reset () 1)");
    await expectValue(client.reset(), /"aborted":0/);
  },
  renewOutput: async (client) => client.renewOutput(),
  request: (client) => expectValue(client.request(list(symbol("cl:+"), 1, 2), { label: "adding" }), /^3$/),
  run: async (client) => {
    const plus = lispFunction({ name: "cl:+", encode: () => [1, 2], decode: decode.integer });
    await expectValue(client.run(plus), /^3$/);
  },
  prepare: (client) => client.prepare(),
  hasThread: (client) => expectValue(client.hasThread(99_999_999), /^false$/),
  otherClients: (client) => expectValue(client.otherClients(), /^\d+$/),
  faults: (client) => expectValue(client.faults(), /^\[\]$/),
  canAskUser: (client) => expectValue(client.canAskUser(), /^false$/),
  askUser: (client) => {
    const question = { action: "go on", particulars: [], circumstances: [], seconds: 1 };
    return expectValue(client.askUser(question), /"nobody"/);
  },
  describeSymbol: (client) => expectValue(client.describeSymbol("cl:mapcar"), /COMMON-LISP::MAPCAR/),
  completions: (client) => expectValue(client.completions("multiple-value-b", "CL-USER"), /multiple-value-bind/),
  close: async (client) => {
    await client.close();
    expectThat(!client.isOpen, "The client is open.");
  },
};

const CODE: Calls<types.Code> = {
  showSource: ({ code }) => expectValue(code.showSource("sc-add"), /SC-ADD/),
  showFile: async ({ code }) => expectValue(code.showFile(await fileOfCode()), /defun of-file/),
  apropos: ({ code }) => expectValue(code.apropos("sc-add"), /SC-ADD/),
  outlineFile: async ({ code }) => expectValue(code.outlineFile(await fileOfCode()), /also-of-file/i),
  outlinePackage: ({ code }) => expectValue(code.outlinePackage("CL-USER"), /SC-ADD/i),
  outlineSystem: ({ code }) => expectValue(code.outlineSystem("no-such-system"), /not-found/),
  searchSource: ({ code }) => expectValue(code.searchSource("no such text"), /./),
  findReferences: ({ code }) => expectValue(code.findReferences("sc-add", "callers"), /SC-CALLER/),
  classInfo: ({ code }) => expectValue(code.classInfo("sc-dog"), /SC-ANIMAL/),
  macroexpand: ({ code }) => expectValue(code.macroexpand("(sc-twice 1)"), /progn 1 1/i),
  listChanges: ({ code }) => expectValue(code.listChanges(), /./),
  loadChanges: ({ code }) => expectValue(code.loadChanges().result(), /./),
  undoDefinition: ({ code }) => expectValue(code.undoDefinition("sc-caller").result(), /./),
  compile: async ({ code }) => {
    await expectValue(code.compile({ code: "(defun sound (x) x)" }), /"notes":\[\]/);
    await expectValue(code.compile({ code: "(defun unsound () no-such-variable)" }), /NO-SUCH-VARIABLE/i);
    await expectValue(code.compile({ file: await fileOfCode() }), /"notes":\[\]/);
  },
  saveChanges: ({ code }) => expectValue(code.saveChanges(), /./),
  runTests: ({ code }) => expectValue(code.runTests("no-such-tests").result(), /not-found/),
  loadSystem: async ({ code }) => expectValue(code.loadSystem({ file: await fileOfCode() }).result(), /"loading"/),
};

const PROGRAM: Calls<types.Program> = {
  threads: ({ program }) => expectValue(program.threads(), /"threads":\[\{/),
  state: ({ program }) => expectValue(program.state(), /"threads":\d/),
  stopThread: async (client) => {
    const { evaluation, thread } = await running(client);
    await client.program.stopThread(thread);
    stopped(await evaluation.next({ timeout: SOON }));
  },
  endThread: async (client) => {
    const { evaluation, thread } = await running(client);
    await client.program.endThread(thread, "abort");
    aborted(await evaluation.next({ timeout: SOON }));
  },
  profile: ({ program }) => expectValue(program.profile({ code: "(sc-caller 1)" }).result(), /./),
  timeCode: ({ program }) => expectValue(program.timeCode({ code: "(sc-caller 1)" }).result(), /./),
  inspectObject: async (client) =>
    expectValue(client.program.inspectObject(await objectId(client, "(list 1 2)")), /\(1 2\)/),
  releaseObject: async (client) =>
    expectValue(client.program.releaseObject(await objectId(client, "(list 1 2)")), /^true$/),
  releaseObjects: async (client) => {
    await objectId(client, "(list 1 2)");
    await expectValue(client.program.releaseObjects(), /^[1-9]/);
  },
  traceCalls: ({ program }) =>
    expectValue(program.traceCalls({ code: "(sc-caller 5)" }, { functions: ["sc-add"] }).result(), /SC-ADD/),
};

const HEAP: Calls<types.Heap> = {
  summary: ({ program }) => expectValue(program.heap.summary(), /"CONS"/),
  growth: async ({ program }) => {
    await program.heap.summary();
    await expectValue(program.heap.growth(), /"since":\d/);
  },
  growthOf: ({ program }) => expectValue(program.heap.growthOf("(make-list 10)").result(), /./),
  instances: ({ program }) => expectValue(program.heap.instances("sc-dog"), /./),
  path: async (client) => expectValue(client.program.heap.path(await objectId(client, "(list 1 2)")), /./),
};

const BREAKPOINTS: Calls<types.Breakpoints, "receive"> = {
  set: async ({ breakpoints, ...rest }, lab) => {
    void rest;
    await breakpoints.set("sc-add");
    const { stop } = await lab.stopIn("(sc-caller 1)");
    expectThat(stop.reason === "breakpoint", stop.reason);
  },
  check: ({ breakpoints }) => breakpoints.check("sc-add"),
  list: ({ breakpoints }) => expectValue(breakpoints.list(), /SC-ADD/),
  remove: async ({ breakpoints }) => {
    const { id } = await breakpoints.set("sc-caller");
    await breakpoints.remove(id);
  },
};

const ACTIVITY: Calls<types.AgentActivity> = {
  recordedName: ({ activity }) => expectValue(activity.recordedName(), /^"matrix/),
  running: ({ activity }) => expectValue(activity.running(), /^\[\]$/),
  follow: async ({ activity }) => {
    const followed = await activity.follow({}, () => undefined);
    expectThat(Array.isArray(followed.ledger.agents), "There is a ledger.");
    await followed.end();
  },
  answer: ({ activity }) => expectValue(activity.answer(99_999, "yes"), /^false$/),
  tell: ({ activity }) => expectValue(activity.tell(undefined, "look"), /^\[/),
  pause: ({ activity }) => expectValue(activity.pause("nobody", true), /^false$/),
  kick: async ({ activity }) => expectThat((await activity.kick("nobody")) === undefined, "There is no such agent."),
  noteQuestion: async ({ activity }) => activity.noteQuestion("(go on)"),
  noteAnswer: async ({ activity }) =>
    activity.noteAnswer((await activity.noteQuestion("(go on)")) ?? 1, true, "a test"),
  settle: ({ activity }) => expectValue(activity.settle("no-such-key", "yes"), /nobody/),
  noteRefusal: ({ activity }) => activity.noteRefusal({ tool: "heap", code: "", package: "CL-USER", reason: "a test" }),
};

const STOP: Calls<Stop> = {
  open: async (_client, lab) => {
    const { stop } = await lab.stopIn(FAILING);
    expectMatch((await stop.open()).condition.message, /boom 1/);
  },
  run: async (_client, lab) => {
    const { stop } = await lab.stopIn(FAILING);
    await expectValue(stop.run(lispFunction({ name: "cl:+", encode: () => [1, 2], decode: decode.integer })), /^3$/);
  },
  frames: async (_client, lab) => {
    const { stop } = await lab.stopIn(FAILING);
    await frameOf(stop, "SC-AGAIN");
  },
  frameLocals: async (_client, lab) => {
    const { stop } = await lab.stopIn(FAILING);
    await expectValue(stop.frameLocals(await frameOf(stop, "SC-AGAIN")), /"name":"N","value":"1"/);
  },
  evaluateInFrame: async (_client, lab) => {
    const { stop } = await lab.stopIn(FAILING);
    await expectValue(stop.evaluateInFrame(await frameOf(stop, "SC-AGAIN"), "(+ n 1)"), /"values":\["2"\]/);
  },
  invokeRestart: async (_client, lab) => {
    const { stop, evaluation } = await lab.stopIn('(restart-case (error "no") (use-value (x) x))');
    const index = stop.restarts.findIndex(({ name }) => name === "USE-VALUE");
    await stop.invokeRestart(index, ["(+ 40 2)"]);
    expectMatch((await endOf(evaluation)).values.join(), /^42$/);
  },
  restartFrame: async (_client, lab) => {
    const { stop, evaluation } = await lab.stopIn(FAILING);
    await stop.restartFrame(await frameOf(stop, "SC-AGAIN"));
    stopped(await evaluation.next({ timeout: SOON }));
  },
  returnFromFrame: async (_client, lab) => {
    const { stop, evaluation } = await lab.stopIn(FAILING);
    await stop.returnFromFrame(await frameOf(stop, "SC-AGAIN"), "77");
    expectMatch((await endOf(evaluation)).values.join(), /^\(77\)$/);
  },
  continue: async (_client, lab) => {
    const { stop, evaluation } = await lab.stopIn('(progn (break "here") 8)');
    await stop.continue();
    expectMatch((await endOf(evaluation)).values.join(), /^8$/);
  },
  step: async (_client, lab) => {
    const { stop, evaluation } = await lab.stopIn('(defun sc-step (n) (list n)) (progn (break "here") (sc-step 1))');
    await stop.step("into");
    await evaluation.next({ timeout: SOON });
  },
  abort: async (_client, lab) => {
    const { stop, evaluation } = await lab.stopIn(FAILING);
    await stop.abort();
    aborted(await evaluation.next({ timeout: SOON }));
  },
};

const TASK: Calls<types.Evaluation> = {
  begun: (client) => expectValue(client.evaluate("1").begun(), /^true$/),
  next: async (client) => {
    expectMatch((await endOf(client.evaluate("(+ 1 2)"))).values.join(), /^3$/);
  },
  result: (client) => expectValue(client.evaluate("(+ 1 2)").result(), /"values":\["3"\]/),
  interrupt: async (client) => {
    const evaluation = client.evaluate(LONG);
    await evaluation.begun();
    expectThat(await evaluation.interrupt(), "It was interrupted.");
    stopped(await evaluation.next({ timeout: SOON }));
  },
  abort: async (client) => {
    const evaluation = client.evaluate('(error "no")');
    stopped(await evaluation.next({ timeout: SOON }));
    aborted(await evaluation.abort());
  },
  takeTranscript: async (client, lab) => {
    const { evaluation } = await lab.stopIn('(format t "said") (error "no")');
    void client;
    // the outcome has taken the output
    expectThat(evaluation.takeTranscript().stdout === "", "There is no more output.");
  },
};

const INSPECTOR: Calls<Inspector> = {
  parts: async (client) => expectValue((await inspector(client)).parts(), /one/),
  part: async (client) => {
    const opened = await inspector(client);
    const { parts } = await opened.parts();
    const value = parts.find((part) => part.kind === "value");
    expectThat(value?.kind === "value", "There are values.");
    if (value?.kind === "value") await opened.part(value.index);
  },
  action: async (client) => {
    const opened = await Inspector.open(client.lisp, "(let ((h (make-hash-table))) (setf (gethash 1 h) 2) h)");
    const action = (await opened.parts()).parts.find((part) => part.kind === "action");
    if (action?.kind !== "action") throw new Error("A hash table has actions.");
    await opened.action(action.index);
  },
  refresh: async (client) => (await inspector(client)).refresh(),
  describe: async (client) => expectValue((await inspector(client)).describe(), /./),
  close: async (client) => (await inspector(client)).close(),
};

function inspector(client: SwankClient): Promise<Inspector> {
  return Inspector.open(client.lisp, '(vector "one" (list 2 3))');
}

/** Calls that are no methods. */
const FUNCTIONS: Readonly<Record<string, (client: SwankClient, lab: Lab) => Promise<unknown>>> = {
  "Inspector.open": inspector,
  compileFile: async ({ lisp }) => expectValue(compileFile(lisp, await fileOfCode()), /"succeeded":true/),
  followEvaluation: async (client) => {
    const followed = await followEvaluation(client.evaluate(LONG), { timeout: 300 });
    if (followed.kind !== "timed-out") throw new Error(followed.kind);
    if (followed.outcome.status === "lost") throw followed.outcome.cause;
    stopped(followed.outcome);
  },
  "the option timeout": async (client) => {
    const evaluation = client.evaluate(LONG, { timeout: 300 });
    const outcome = await evaluation.next({ timeout: SOON });
    if (outcome.status === "lost") throw outcome.cause;
    stopped(outcome);
  },
  "the option stdin": async (client) => {
    const evaluation = client.evaluate("(read-line)", { stdin: "typed" });
    expectMatch((await endOf(evaluation)).values.join(), /^"typed"/);
  },
  "for await (… of evaluation)": async (client) => {
    const types: string[] = [];
    for await (const { type } of client.evaluate('(format t "said") 1')) types.push(type);
    expectMatch(types.join(), /^output/);
  },
  "two evaluations at once": (client) =>
    expectValue(Promise.all([client.eval("(progn (sleep 0.2) 1)"), client.eval("2")]), /^\[\["1"\],\["2"\]\]$/),
  "an evaluation beside a stop": async (client, lab) => {
    await lab.stopIn('(error "here")');
    expectMatch((await endOf(client.evaluate("(+ 1 2)"))).values.join(), /^3$/);
  },
  "new Sources().locate": async (client) => {
    const path = await fileOfCode();
    const found = await new Sources({ features: client.info.features }).locate({ file: path, line: 2, column: 1 });
    expectThat(found.status === "found", found.status);
  },
  "ReconnectingClient.client": async (_client, lab) => {
    const port = await lab.port();
    await lab.disconnect();
    const reconnecting = new ReconnectingClient({ port, secret: false });
    await expectValue((await reconnecting.client()).eval("1"), /^\["1"\]$/);
    await reconnecting.close();
  },
};

/** A function or method that fails with this error is refused as it should be. */
async function called(call: (client: SwankClient, lab: Lab) => Promise<unknown>, lab: Lab): Promise<undefined> {
  const client = await lab.client();
  await values(client, DEFINITIONS);
  await call(client, lab).catch((error: unknown) => {
    // A task wraps why it was refused.
    throw error instanceof SwankError && error.cause instanceof SwankError ? error.cause : error;
  });
  return undefined;
}

function probes(
  owner: string,
  calls: Readonly<Record<string, (client: SwankClient, lab: Lab) => Promise<unknown>>>,
): Probes {
  return Object.entries(calls).map(([name, call]) => [`${owner}${name}`, (lab) => called(call, lab)]);
}

/** Each method of the library's classes, and each function that asks an image. */
export const LIBRARY_PROBES: Probes = [
  ...probes("client.", CLIENT),
  ...probes("client.code.", CODE),
  ...probes("client.program.", PROGRAM),
  ...probes("client.program.heap.", HEAP),
  ...probes("client.breakpoints.", BREAKPOINTS),
  ...probes("client.activity.", ACTIVITY),
  ...probes("stop.", STOP),
  ...probes("evaluation.", TASK),
  ...probes("inspector.", INSPECTOR),
  ...probes("", FUNCTIONS),
];
