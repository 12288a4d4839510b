import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { liveDebugger } from "../../support/live-server.js";
import { McpDebugger, stopName } from "../../support/mcp-debugger.js";
import { blocks } from "../../support/mcp-results.js";

describe("debugger tools with several stops", () => {
  const lisp = liveDebugger();

  /** Stops an evaluation that adds 40 to the value passed to its restart. */
  async function stopAdding(name: string): Promise<string> {
    const code = `(+ 40 (restart-case (error "~a" '${name}) (give (v) v)))`;
    return stopName(await lisp.evaluate(code));
  }

  it("address each stop, with its own evaluation, by its thread", async () => {
    const [a, b] = [await stopAdding("a"), await stopAdding("b")];
    const [threadOfA = ""] = a.split("/");
    expect((await lisp.frames({ thread: threadOfA })).thread).to.equal(a);
    const give = (thread: string, value: string) =>
      lisp.resume("debugger_invoke_restart", { restart: "GIVE", values: [value], thread });
    // The first evaluation returns its own value although the second stopped later.
    expect(await give(threadOfA, "2")).to.deep.equal(["=> 42"]);
    expect(await lisp.stops()).to.deep.equal([b]);
    expect(await give(b, "3")).to.deep.equal(["=> 43"]);
  });

  it("say after ABORT which thread ended and which are still stopped", async () => {
    const [a, b] = [await stopAdding("a"), await stopAdding("b")];
    await lisp.evaluate('(defvar *one* (sb-thread:make-thread (lambda () (error "in a thread")) :name "one"))');
    while ((await lisp.stops()).length < 3) await lisp.evaluate("(sleep 0.02)");
    const c = (await lisp.stops()).find((stop) => stop !== a && stop !== b) ?? "";
    const abort = (thread: string) => lisp.resume("debugger_invoke_restart", { restart: "ABORT", thread });
    const withoutNotices = (blocks: string[]) => blocks.filter((block) => !block.includes("stopped with"));
    expect(withoutNotices(await abort(b))).to.deep.equal([
      "; Evaluation aborted",
      `Thread ${b} ended. Now stopped: ${a} SIMPLE-ERROR, ${c} SIMPLE-ERROR.`,
    ]);
    expect(withoutNotices(await abort(c))).to.deep.equal([`; Thread ${c} ended`, `Now stopped: ${a} SIMPLE-ERROR.`]);
    expect(await abort(a)).to.deep.equal([
      "; Evaluation aborted",
      `Thread ${a} ended. No other thread of this session is stopped.`,
    ]);
    const place = stopName(await lisp.evaluate('(error "one place")'));
    for (const [name, args] of [
      ["debugger_frames", {}],
      ["debugger_frame_locals", { frame: 0 }],
      ["debugger_restarts", {}],
    ] as const)
      expect(await lisp.json(name, args), name).to.have.property("thread", place);
  });

  it("block no other evaluation, even after a RETRY that fails again", async () => {
    const first = stopName(await lisp.evaluate('(error "again and again")'));
    const [report, block] = await lisp.resume("debugger_invoke_restart", { restart: "RETRY", thread: first });
    expect(report).to.match(/^\[ERROR\] SIMPLE-ERROR\nagain and again\n/);
    expect(await lisp.evaluate("(+ 40 2)")).to.deep.equal(["=> 42"]);
    expect(await lisp.stops()).to.deep.equal([stopName([block ?? ""])]);
  });

  it("apply a restart only to the stop it was chosen at, not to the thread's next stop", async () => {
    const [, block = ""] = await lisp.evaluate(
      '(list (restart-case (error "one") (give (v) v)) (restart-case (error "two") (give (v) v)))',
    );
    const thread = stopName([block]);
    const busy = lisp.call("debugger_eval_in_frame", { frame: 0, code: "(sleep 0.2)", thread });
    const give = (value: string) => lisp.call("debugger_invoke_restart", { restart: "GIVE", values: [value], thread });
    const [, first = "", second = ""] = (await Promise.all([busy, give("1"), give("2")])).map(
      (each) => blocks(each)[0],
    );
    expect(first).to.include("[ERROR] SIMPLE-ERROR\ntwo");
    expect(second).to.include("has left the stop");
    expect(await lisp.resume("debugger_invoke_restart", { restart: "GIVE", values: ["3"] })).to.deep.equal([
      "=> (1 3)",
    ]);
  });
});

describe("evaluation timeouts", () => {
  const lisp = liveDebugger({
    args: ["--timeout", "0.5"],
    code: "(defvar *go-on* nil) (defun waiting (n) (loop until *go-on* do (sleep 0.01)) (list :waited n))",
  });
  afterEach(async () => {
    await lisp.evaluate("(setf *go-on* nil)");
  });

  it("pause the evaluation, which can be inspected and continued to its value", async () => {
    const result = await lisp.call("evaluate-lisp", { code: "(waiting 7)", timeout: 0.2 });
    expect(result.isError).to.equal(true);
    expect(blocks(result)[0]).to.match(/^\[TIMEOUT\] TIMEOUT\n/);
    const { index } = await lisp.frame("(WAITING 7)");
    expect(await lisp.valuesInFrame(index, "(list n *go-on*)")).to.deep.equal(["(7 NIL)"]);
    // A second timeout pauses it again.
    const again = await lisp.resume("debugger_continue", { timeout: 0.2 });
    expect(again[0]).to.match(/^\[TIMEOUT\] TIMEOUT\n/);
    await lisp.evaluate("(setf *go-on* t)");
    expect(await lisp.resume("debugger_continue", { thread: stopName(again) })).to.deep.equal(["=> (:WAITED 7)"]);
  });

  it("report the thread and output of an evaluation that cannot be interrupted", async () => {
    const code = `(defvar *thread* (swank/backend:thread-id sb-thread:*current-thread*)) (format t "so far~%") (finish-output)
      (sb-sys:without-interrupts (loop until *go-on* do (sleep 0.01))) (setf *thread* nil)`;
    const result = await lisp.call("evaluate-lisp", { code, timeout: 0.2 });
    const [thread] = await lisp.evaluate("*thread*");
    const number = Number(thread?.slice("=> ".length));
    expect(result._meta?.["swank-mcp/outcome"]).to.include({ status: "running", stdout: "so far\n", thread: number });
    expect(blocks(result)[0]).to.match(
      new RegExp(
        `^\\[stdout\\]\nso far\n\n\\[TIMEOUT\\] TIMEOUT\n.* STILL RUNNING in thread ${number}\\. Code does not react `,
      ),
    );
    await lisp.evaluate("(setf *go-on* t)");
  });

  it("end only the evaluation in a frame, not its stop", async () => {
    const stop = stopName(await lisp.evaluate('(let ((cleaned nil)) (declare (special cleaned)) (error "x"))'));
    const args = { frame: 0, code: "(loop)", thread: stop };
    const refused = await lisp.refusal("debugger_eval_in_frame", args);
    expect(refused).to.include({ type: "FRAME_EVALUATION_TIMEOUT" });
    expect(await lisp.stops()).to.deep.equal([stop]);
    await lisp.evaluate("(defun hold (a) (break) a)");
    await lisp.evaluate("(hold 1)");
    const { index } = await lisp.frame("(HOLD");
    const late = await lisp.refusal("debugger_eval_in_frame", { frame: index, code: "(setf a 2) (loop)" });
    expect(late.next).to.equal("Evaluate code that takes less time. The code has already set A.");
    expect(await lisp.valuesInFrame(0, "(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("do not delay a cancellation, which ends only the evaluation in a frame", async () => {
    const slow = await McpDebugger.start();
    try {
      const stop = stopName(await slow.evaluate('(defvar *seen* nil) (error "x")'));
      const cancel = new AbortController();
      const code = "(unwind-protect (loop) (setf *seen* :cancelled))";
      const call = slow.call("debugger_eval_in_frame", { frame: 0, code }, cancel.signal).catch(() => "cancelled");
      await setTimeout(200);
      cancel.abort();
      expect(await call).to.equal("cancelled");
      while ((await slow.evaluate("*seen*"))[0] !== "=> :CANCELLED");
      expect(await slow.stops()).to.deep.equal([stop]);
      expect(await slow.valuesInFrame(0, ":alive")).to.deep.equal([":ALIVE"]);
    } finally {
      await slow.close();
    }
  });

  it("do not delay a cancellation, which unwinds a resumed evaluation", async () => {
    const code = '(defvar *end* nil) (unwind-protect (progn (cerror "Go on" "x") (waiting 1)) (setf *end* :unwound))';
    await lisp.evaluate(code);
    const cancel = new AbortController();
    const call = lisp.call("debugger_continue", { timeout: 60 }, cancel.signal).catch(() => "cancelled");
    await setTimeout(200);
    cancel.abort();
    expect(await call).to.equal("cancelled");
    while ((await lisp.evaluate("*end*"))[0] !== "=> :UNWOUND");
    expect(await lisp.stops()).to.deep.equal([]);
  });
});

/** Classes whose objects cannot be printed: printing never ends, stops at a break, or invokes ABORT. Most of the time is waiting for limits. */
const CLASSES = `
(defclass endless () ())
(defmethod print-object ((object endless) stream) (loop (sleep 0.01)))
(defclass stopping () ())
(defmethod print-object ((object stopping) stream) (break "while printing"))
(defclass leaving () ())
(defmethod print-object ((object leaving) stream) (invoke-restart 'abort))
(defun hold (number stopper leaver thing) (error "held ~a" (first (list number stopper leaver thing))))
`;

/** How the variables of a stop are shown. */
const SHOWN = [
  "THING #<a COMMON-LISP-USER::ENDLESS takes too long to print>",
  "STOPPER #<a COMMON-LISP-USER::STOPPING cannot be printed>",
  "LEAVER #<error printing a LEAVING: ",
  "NUMBER 7",
];

describe("debugger tools with objects that cannot be printed", () => {
  const lisp = liveDebugger({ code: CLASSES });

  it("inspect and resume a stop with such variables", async () => {
    // What comes after the endless one has no time left.
    const objects = "(make-instance 'stopping) (make-instance 'leaving) (make-instance 'endless)";
    const [report = ""] = await lisp.evaluate(`(hold 7 ${objects})`);
    expect(report).to.contain("held 7");
    const frame = await lisp.frame("(HOLD");
    const values = frame.locals.map(({ name, value }) => `${name} ${value}`).join("\n");
    for (const shown of SHOWN) expect(values).to.contain(shown);
    const { locals } = await lisp.json("debugger_frame_locals", { frame: frame.index });
    for (const shown of SHOWN) expect(JSON.stringify(locals)).to.contain(shown.replace(/^\S+ /, ""));
    expect(await lisp.valuesInFrame(frame.index, "(type-of thing)")).to.deep.equal(["ENDLESS"]);
    const [ended] = await lisp.resume("debugger_invoke_restart", { restart: "ABORT" });
    expect(ended).to.equal("; Evaluation aborted");
  });

  it("list and describe such objects, and leave no printing thread behind", async () => {
    await lisp.evaluate(
      "(defvar *endless* (make-instance 'endless)) (defvar *stopping* (make-instance 'stopping)) (defmethod told ((x (eql *endless*))) 1) nil",
    );
    const described = await lisp.call("describe-symbol", { name: "*stopping*" });
    expect(blocks(described)[0]).to.include("Value: <error printing value>");
    const listed = await lisp.call("list-definitions");
    expect(blocks(listed)[0]).to.include("TOLD #<a COMMON-LISP:CONS takes too long to print>");
    await lisp.setBreakpoint({ function: "(method told ((eql *endless*)))" });
    expect(await lisp.breakpoints()).to.have.lengthOf(1);
    await lisp.removeBreakpoints();
    const workers = "(count \"worker\" (mapcar #'sb-thread:thread-name (sb-thread:list-all-threads)) :test #'string=)";
    expect(
      await lisp.evaluate(`(loop repeat 2000 for n = ${workers} until (= n 1) do (sleep 1/100) finally (return n))`),
    ).to.deep.equal(["=> 1"]);
  });
});
