import { setTimeout as pause } from "node:timers/promises";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import * as z from "zod";
import { attachedTo, liveEditor, liveServer, liveSwank } from "../../support/live-server.js";
import { blocks, refusalType } from "../../support/mcp-results.js";
import type { McpStdio } from "../../support/mcp-stdio.js";

type Server = Pick<McpStdio, "call">;

const factsSchema = z.looseObject({
  id: z.number(),
  state: z.string(),
  seconds: z.number(),
  thread: z.number().optional(),
  doing: z.string().optional(),
});

/** What the answer says about the evaluation as data. */
function facts({ _meta }: CallToolResult) {
  return factsSchema.parse(_meta?.["swank-mcp/background"]);
}

function begin(server: Server, code: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
  return server.call("evaluate-lisp", { code, background: true, ...args });
}

function look(server: Server, id: number, args: Record<string, unknown> = {}): Promise<CallToolResult> {
  return server.call("evaluate-lisp", { id, ...args });
}

/** Looks until the evaluation is in another state. Returns that look, and the first blocks of all. */
async function lookUntilNot(server: Server, id: number, state = "running") {
  const seen: string[] = [];
  for (;;) {
    const answer = await look(server, id);
    seen.push(blocks(answer)[0] ?? "");
    if (facts(answer).state !== state) return { answer, seen };
    await server.call("evaluate-lisp", { code: "(sleep 0.05)" });
  }
}

const listSchema = z.array(factsSchema.extend({ code: z.string(), since: z.iso.datetime() })).default([]);

/** The answer that begins an evaluation, or on a busy machine the first look after its end. */
async function ended(server: Server, beginning: Promise<CallToolResult>): Promise<CallToolResult> {
  let answer = await beginning;
  for (;;) {
    const { data } = factsSchema.safeParse(answer._meta?.["swank-mcp/background"]);
    if (data?.state !== "running") return answer;
    answer = await look(server, data.id);
  }
}

/** What lisp-status lists. */
async function listed(server: Server) {
  const { structuredContent } = await server.call("lisp-status");
  return listSchema.parse(structuredContent?.["background"]);
}

/** Code that goes on when `*go*` is set. */
const GATE = "(defvar *go* nil) (defun await-go () (loop until *go* do (sleep 0.01)))";

const OPEN = "(setf *go* t)";

describe("evaluate-lisp in the background", function () {
  this.timeout(180_000);
  const server = liveServer({ each: true, code: GATE });

  it("answers at once with an id and a thread, and says how to look and how to end it", async () => {
    const answer = await begin(server, "(await-go) 42");
    const { id, thread, state } = facts(answer);
    expect(state).to.equal("running");
    const [text = "", advice] = blocks(answer);
    expect(text).to.match(
      new RegExp(`^; Background evaluation ${id} has not ended\\. It has run for [\\d.]+ s in thread ${thread}: .+$`),
    );
    expect(advice).to.equal(
      `evaluate-lisp with id ${id} shows its new output, its state and its result. interrupt-thread with thread ${thread} and mode abort ends it.`,
    );
    expect(answer.isError).to.equal(false);
    await server.evaluate(OPEN);
    const { answer: end } = await lookUntilNot(server, id);
    expect(blocks(end)[0]).to.equal("=> 42");
    expect(facts(end)).to.include({ id, state: "returned" });
  });

  it("tells output since the last look, and repeats the result without it", async () => {
    const { id } = facts(await begin(server, '(format t "one~%") (finish-output) (await-go) (format t "two~%") :done'));
    await server.evaluate("(sleep 0.1)");
    // The first answer has it if it came soon enough.
    expect(blocks(await look(server, id))[0]).to.match(/^(?:\[stdout\]\none\n\n)?; Background evaluation/);
    expect(blocks(await look(server, id))[0]).to.match(/^; Background evaluation/);
    await server.evaluate(OPEN);
    const { answer } = await lookUntilNot(server, id);
    expect(blocks(answer)[0]).to.equal("[stdout]\ntwo\n\n=> :DONE");
    expect(blocks(await look(server, id))[0]).to.equal("=> :DONE");
  });

  it("cuts output to max-output, and keeps what it cuts", async () => {
    const { id } = facts(await begin(server, '(await-go) (dotimes (i 2000) (format t "line ~d~%" i)) nil'));
    await server.evaluate(`${OPEN} (sleep 0.3)`);
    const [text = ""] = blocks(await look(server, id, { "max-output": 1000 }));
    expect(text).to.include("line 0\n").and.include("line 1999");
    const [, output, offset] = /\{"output":(\d+),"offset":(\d+)\}/.exec(text) ?? [];
    const [more = ""] = blocks(await server.call("evaluate-lisp", { output: Number(output), offset: Number(offset) }));
    expect(more).to.include("line 100\n");
  });

  it("goes on telling new output after more than is kept at once", async () => {
    const flood = `(dotimes (i 210000) (format t "line ~6,'0d~%" i))`;
    const code = `${flood} (format t "after the flood~%") (finish-output) (await-go) ${flood} (format t "second~%") :done`;
    // The first answer has all of it if the image is fast.
    const begun = await begin(server, code);
    const { id } = facts(begun);
    let [seen = ""] = blocks(begun);
    while (!seen.includes("after the flood")) [seen = ""] = blocks(await look(server, id));
    expect(seen).to.match(/\nline 209999\nafter the flood\n/);
    await server.evaluate(OPEN);
    const { answer } = await lookUntilNot(server, id);
    expect(blocks(answer)[0]).to.match(/second\n\n=> :DONE$/);
  });

  it("takes package, stdin and conditions as usual", async () => {
    const { id } = facts(
      await begin(
        server,
        '(cl-user::await-go) (cl:ignore-errors (cl:error "no")) (cl:list (cl:package-name cl:*package*) (cl:read-line))',
        {
          package: "KEYWORD",
          stdin: "typed\n",
          conditions: true,
        },
      ),
    );
    await server.evaluate(OPEN);
    const { answer } = await lookUntilNot(server, id);
    expect(blocks(answer)[0]).to.equal('=> ("KEYWORD" "typed")');
    expect(blocks(answer)[1]).to.match(/^Conditions: 1\n {2}SIMPLE-ERROR/m);
  });

  it("reports at once what ends at once, and refuses what cannot begin", async () => {
    const quick = await ended(server, begin(server, "(+ 1 2)"));
    expect(blocks(quick)[0]).to.equal("=> 3");
    const unbalanced = await ended(server, begin(server, "(list 1"));
    expect(unbalanced.isError).to.equal(true);
    expect(blocks(unbalanced)[0]).to.match(/^\[ERROR\] END-OF-FILE\n/);
    const unknown = await ended(server, begin(server, "1", { package: "NO-SUCH" }));
    expect(refusalType(unknown)).to.equal("NO_SUCH_PACKAGE");
    expect((await listed(server)).map(({ state }) => state).slice(-2)).to.deep.equal(["failed", "returned"]);
  });

  it("refuses an unknown id, and code with an id", async () => {
    const unknown = await look(server, 99);
    expect(refusalType(unknown)).to.equal("NO_SUCH_EVALUATION");
    expect(blocks(unknown)).to.deep.equal([
      "There is no background evaluation 99.\nlisp-status lists the background evaluations.",
    ]);
    expect(refusalType(await server.call("evaluate-lisp", { id: 1, code: "1" }))).to.equal("INVALID_ARGUMENTS");
  });

  it("stops at an error, of which the next answer tells, and which can be corrected and continued", async () => {
    await server.evaluate('(defun part () (await-go) (error "not yet"))');
    const { id } = facts(await begin(server, "(princ :before) (list (part))"));
    await server.evaluate(OPEN);
    for (;;) if ((await listed(server)).some(({ state }) => state === "stopped")) break;
    const [stopped] = await listed(server);
    const { structuredContent } = await server.call("lisp-status");
    expect(structuredContent?.["stopped"]).to.have.lengthOf(1);
    // An error changes the last error when it is told.
    expect(blocks(await server.call("describe-last-error"))[0]).to.match(/^No error/);
    const answer = await look(server, id);
    expect(answer.isError).to.equal(true);
    const [report = "", stop = ""] = blocks(answer);
    expect(report).to.match(/\[ERROR\] SIMPLE-ERROR\nnot yet\n/);
    expect(stop).to.include(`Stopped, nothing unwound: thread ${stopped?.thread}/1.`);
    expect(blocks(await server.call("describe-last-error"))[0]).to.include("not yet");
    await server.evaluate("(defun part () 7)");
    const resumed = await server.call("debugger_invoke_restart", {
      restart: "RETRY",
      thread: String(stopped?.thread),
    });
    expect(blocks(resumed)[0]).to.include("=> (7)");
    const last = await look(server, id);
    expect(blocks(last)[0]).to.equal("=> (7)");
  });

  it("announces its stop or its end once, in the next answer", async () => {
    const { id } = facts(await begin(server, '(await-go) (error "odd")'));
    const other = facts(await begin(server, "(await-go) 1"));
    const notices: string[] = [];
    // The answer that opens the gate may have the first of them.
    for (let turn = 0; turn < 10; turn += 1)
      notices.push(...blocks(await server.call("evaluate-lisp", { code: `${OPEN} (sleep 0.1)` })).slice(1));
    expect(notices.join("\n").split("\n")).to.have.members([
      `Background evaluation ${id} has stopped: SIMPLE-ERROR: odd. evaluate-lisp with id ${id} shows its report.`,
      `Background evaluation ${other.id} has ended. evaluate-lisp with id ${other.id} shows its report.`,
    ]);
  });

  it("is interrupted after its timeout, and can then be continued", async () => {
    const { id } = facts(await begin(server, "(await-go) :late", { timeout: 1 }));
    const { answer } = await lookUntilNot(server, id);
    expect(blocks(answer)[0]).to.match(/^\[TIMEOUT\] TIMEOUT\n(?:.*\n)*?.*The evaluation gave no value within 1 s\./);
    await server.evaluate(OPEN);
    expect(blocks(await server.call("debugger_continue", { thread: String(facts(answer).thread) }))[0]).to.equal(
      "=> :LATE",
    );
    expect(blocks(await look(server, id))[0]).to.equal("=> :LATE");
  });

  it("ends by interrupt-thread", async () => {
    const { id, thread } = facts(await begin(server, "(princ :x) (await-go)"));
    expect(blocks(await server.call("interrupt-thread", { thread, mode: "abort" }))[0]).to.equal(
      `; Thread ${thread} (worker) ended`,
    );
    const { answer } = await lookUntilNot(server, id);
    expect(blocks(answer)[0]).to.match(/^(?:\[stdout\]\nX\n\n)?; Evaluation aborted$/);
    expect(answer.isError).to.equal(false);
  });

  it("stops by interrupt-thread, whose answer reports the stop", async () => {
    const { id, thread } = facts(await begin(server, "(await-go) :on"));
    const stopped = blocks(await server.call("interrupt-thread", { thread, mode: "stop" }));
    expect(stopped.join("\n")).to.include("[INTERRUPT]").and.not.include("Background evaluation");
    expect(facts(await look(server, id)).state).to.equal("stopped");
    await server.evaluate(OPEN);
    await server.call("debugger_continue", { thread: String(thread) });
    expect(blocks(await look(server, id))[0]).to.equal("=> :ON");
  });

  it("runs two at once, and says for which lock one waits", async () => {
    await server.evaluate('(defvar *lock* (sb-thread:make-mutex :name "gate"))');
    const first = facts(await begin(server, "(sb-thread:with-mutex (*lock*) (await-go)) :first"));
    const second = facts(await begin(server, "(sb-thread:with-mutex (*lock*) :second)"));
    const waiting = await look(server, second.id);
    expect(facts(waiting).doing).to.equal(`waiting for MUTEX "gate" held by ${first.thread}`);
    expect((await listed(server)).map(({ id, state, code }) => [id, state, code.slice(0, 12)])).to.deep.equal([
      [second.id, "running", "(sb-thread:w"],
      [first.id, "running", "(sb-thread:w"],
    ]);
    await server.evaluate(OPEN);
    expect(blocks((await lookUntilNot(server, first.id)).answer)[0]).to.equal("=> :FIRST");
    expect(blocks((await lookUntilNot(server, second.id)).answer)[0]).to.equal("=> :SECOND");
  });

  it("is aborted when the call that begins it is cancelled, since the client does not learn its id", async () => {
    server.startCall("evaluate-lisp", { code: "(await-go)", background: true });
    server.cancel();
    for (;;) {
      const { structuredContent: status } = await server.call("lisp-status");
      if (status?.["background"] === undefined && status?.["running"] === undefined) break;
    }
  });

  it("is lost with its image, whose end a look tells without a new image", async () => {
    const { id } = facts(await begin(server, "(await-go)"));
    process.kill(await server.imagePid(), "SIGKILL");
    for (;;) {
      const answer = await look(server, id);
      if (facts(answer).state === "running") continue;
      expect(blocks(answer)[0]).to.match(/^\[ERROR\] IMAGE-LOST\n/);
      break;
    }
    const next = facts(await begin(server, "1"));
    expect(next.id).to.equal(id + 1);
    expect(facts(await look(server, id)).state).to.equal("lost");
  });

  it("ends with reset-session, which forgets it", async () => {
    const { id } = facts(await begin(server, "(loop (sleep 1))"));
    await server.call("reset-session");
    expect(refusalType(await look(server, id))).to.equal("NO_SUCH_EVALUATION");
    expect(await listed(server)).to.deep.equal([]);
    expect(blocks(await server.call("evaluate-lisp", { code: "1" }))).to.deep.equal(["=> 1"]);
  });

  it("keeps 20 that have ended, and those that run", async () => {
    const running = facts(await begin(server, "(await-go)"));
    const ids: number[] = [];
    for (let count = 0; count < 22; count += 1) ids.push(facts(await ended(server, begin(server, `${count}`))).id);
    expect((await listed(server)).map(({ id }) => id)).to.deep.equal([running.id, ...ids.slice(2).reverse()]);
    expect(refusalType(await look(server, ids[0] ?? 0))).to.equal("NO_SUCH_EVALUATION");
    expect(blocks(await look(server, ids[21] ?? 0))[0]).to.equal("=> 21");
  });

  it("ends when the server ends", async () => {
    await begin(server, "(loop (sleep 1))");
    const image = await server.imagePid();
    await server.close();
    expect(() => process.kill(image, 0)).to.throw("ESRCH");
  });
});

describe("evaluate-lisp in the background of an attached image", function () {
  this.timeout(180_000);
  const image = liveSwank({ each: true });
  const server = liveServer({ each: true, args: attachedTo(image), code: GATE });
  const editor = liveEditor(image);

  async function isRunning(): Promise<boolean> {
    return JSON.stringify(await editor.type("(get :background :running)")).includes('"T"');
  }

  /** Waits until the code has been unwound. */
  async function untilIdle(): Promise<void> {
    while (await isRunning()) await pause(50);
  }

  // A reset would undefine a variable.
  const RUNNING = `(unwind-protect (progn (setf (get :background :running) t) (loop (sleep 1)))
    (setf (get :background :running) nil))`;

  it("ends with reset-session, which forgets it", async () => {
    const { id } = facts(await begin(server, RUNNING));
    expect(await isRunning()).to.equal(true);
    const [text = ""] = blocks(await server.call("reset-session"));
    expect(text).to.include("[aborted]\n1 evaluation");
    expect(refusalType(await look(server, id))).to.equal("NO_SUCH_EVALUATION");
    await untilIdle();
  });

  it("ends when the server ends", async () => {
    await begin(server, RUNNING);
    expect(await isRunning()).to.equal(true);
    await server.close();
    await untilIdle();
  });
});
