import { expect } from "chai";
import * as z from "zod";
import type { McpStdio } from "../support/mcp-stdio.js";
import { eachUser } from "./user.js";

const status = z.object({
  stopped: z.array(
    z.object({
      thread: z.string(),
      message: z.string(),
      owner: z.string().optional(),
      foreign: z.boolean().optional(),
    }),
  ),
});

/** Returns code that starts a thread that fails with this message. */
function failing(message: string): string {
  return `(progn (sb-thread:make-thread (lambda () (error "${message}")) :name "agent's") :started)`;
}

/** Ways in which code starts threads. */
const WAYS: Readonly<Record<string, string>> = {
  "a thread": failing("agent's"),
  "a thread that such a thread starts": `(progn (sb-thread:make-thread (lambda () ${failing("agent's")})) :started)`,
  "a timer with a thread of its own": `(sb-ext:schedule-timer (sb-ext:make-timer (lambda () (error "agent's")) :thread t) 0.1)`,
  "a timer that may run in any thread": `(sb-ext:schedule-timer (sb-ext:make-timer (lambda () (error "agent's")) :thread nil) 0.1)`,
  "(break) in a thread": `(progn (sb-thread:make-thread (lambda () (break "agent's"))) :started)`,
};

/** Lisp code that lists every encapsulation that clients put around Lisp's functions. */
const LAYERS = `(count-if (lambda (name) (sb-impl::encapsulation-info (sb-kernel:%coerce-name-to-fun name)))
  '(sb-thread:make-thread sb-thread:terminate-thread sb-ext:make-timer sb-ext:exit sb-ext:quit sb-ext:save-lisp-and-die swank:quit-lisp swank:debug-nth-thread))`;

async function stopped(agent: McpStdio) {
  return status.parse((await agent.call("lisp-status")).structuredContent).stopped;
}

/** Waits until `count` threads are stopped. */
async function untilStopped(agent: McpStdio, count: number) {
  let found = await stopped(agent);
  while (found.length !== count) found = await stopped(agent);
  return found;
}

describe("thread started by the agent's code", function () {
  this.timeout(300_000);
  const user = eachUser();
  it("stops at the agent and never in Emacs, however it is started", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    for (const [way, code] of Object.entries(WAYS)) {
      const answers = [...(await agent.evaluate(code))];
      while (!answers.join().includes("stopped with")) answers.push(...(await agent.evaluate("(sleep 0.05)")));
      const [, name = ""] =
        /Thread \d+, started by your code, stopped with SIMPLE-\w+: agent's\. To look at it, call debugger_frames with thread "(\d+\/1)"/.exec(
          answers.join("\n"),
        ) ?? [];
      expect(await stopped(agent), way).to.have.nested.property("[0].thread", name);
      expect((await stopped(agent))[0], way).to.not.have.any.keys("owner", "foreign");
      expect((await agent.call("debugger_frames", { thread: name })).isError, way).to.not.equal(true);
      const ended = await agent.call("debugger_invoke_restart", { restart: "ABORT", thread: name });
      expect(ended, way).to.have.nested.property("content[0].text", `; Thread ${name} ended`);
      await untilStopped(agent, 0);
    }
    expect(await emacs.debuggerBuffers()).to.deep.equal([]);
    await emacs.evaluateInRepl(failing("the user's"));
    await emacs.debuggerShowing("the user's");
  });

  it("shows only its own frames, offers its restarts, and resumes through one", async () => {
    const agent = await user().agent();
    await agent.evaluate(
      '(defun inner (x) (restart-case (error "no ~a" x) (give (y) (list y)))) (defvar *own* (sb-thread:make-thread (lambda (x) (first (inner x))) :arguments (list 5)))',
    );
    const [{ thread }] = z.tuple([z.object({ thread: z.string() })]).parse(await untilStopped(agent, 1));
    const { restarts } = z
      .object({ restarts: z.array(z.object({ name: z.string(), description: z.string() })) })
      .parse((await agent.call("debugger_restarts", { thread })).structuredContent);
    expect(restarts.map(({ name }) => name)).to.deep.equal(["GIVE", "ABORT"]);
    expect(restarts[1]?.description).to.equal("End this thread");
    const { frames } = z
      .object({ frames: z.array(z.object({ call: z.string() })) })
      .parse((await agent.call("debugger_frames", { thread })).structuredContent);
    expect(frames.slice(0, 2).map(({ call }) => call)).to.deep.equal(["(INNER 5)", "((LAMBDA (X)) 5)"]);
    await agent.call("debugger_invoke_restart", { thread, restart: "GIVE", values: [":given"] });
    expect(await agent.evaluate("(sb-thread:join-thread *own*)")).to.deep.equal(["=> :GIVEN"]);
  });

  it("is ended by its error under --on-error unwind, and the agent is notified", async () => {
    const agent = await user().agent("--on-error", "unwind");
    const answers = [...(await agent.evaluate(failing("agent's")))];
    while (!answers.join().includes("ended by")) answers.push(...(await agent.evaluate("(sleep 0.05)")));
    expect(answers.at(-1)).to.match(
      /^Thread \d+ \(agent's\), started by your code, was ended by SIMPLE-ERROR: agent's$/,
    );
    expect(await user().emacs.debuggerBuffers()).to.deep.equal([]);
  });

  for (const how of ["is killed", "has no more to do"])
    it(`is ended if it is stopped when the agent's server ${how}, and no encapsulation remains`, async () => {
      const { emacs } = user();
      const agent = await user().agent();
      await agent.evaluate(failing("agent's"));
      await untilStopped(agent, 1);
      expect(await emacs.evaluateInRepl(LAYERS)).to.equal("8");
      if (how === "is killed") agent.process.kill("SIGKILL");
      else await agent.end();
      await agent.exited;
      expect(await emacs.evaluateInRepl(`(loop until (zerop ${LAYERS}) do (sleep 0.02))`)).to.equal("NIL");
      const threads =
        '(count "agent\'s" (sb-thread:list-all-threads) :key (function sb-thread:thread-name) :test (function equal))';
      expect(await emacs.evaluateInRepl(`(loop until (zerop ${threads}) do (sleep 0.02))`)).to.equal("NIL");
      expect(await emacs.debuggerBuffers()).to.deep.equal([]);
    });

  it("can be a Swank server, through which another Emacs works undisturbed", async () => {
    const agent = await user().agent();
    const [port = ""] =
      /\d+/.exec((await agent.evaluate("(swank:create-server :port 0 :dont-close t)"))[0] ?? "") ?? [];
    const other = await user().anotherEmacs();
    await other.connect(Number(port));
    await other.typeInRepl('(error "the user\'s")');
    const { thread } = await other.debuggerShowing("the user's");
    await other.pressInDebugger(thread, "q");
    await other.debuggerClosed(thread);
    await other.evaluateInRepl(failing("the user's thread"));
    await other.debuggerShowing("the user's thread");
    expect(await agent.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
  });
});
