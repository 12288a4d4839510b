import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { liveFolder } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { startRealSwank } from "../../support/real-swank.js";

const FAIL_ELSEWHERE = '(progn (sb-thread:make-thread (lambda () (error "elsewhere"))) nil)';

/** Starts threads that fail, and waits until each has stopped. */
const FAILING_THREADS = `
(defun stopped-p (thread)
  (plusp (or (sb-thread:symbol-value-in-thread 'swank::*sldb-level* thread nil) 0)))
(dolist (name '("first" "second"))
  (let* ((name name)
         (thread (sb-thread:make-thread (lambda () (error "the ~a thread" name)) :name name)))
    (loop until (stopped-p thread) do (sleep 0.01))))`;

interface Listed {
  readonly thread: string;
  readonly foreign?: boolean;
}

async function stopped(server: McpStdio): Promise<readonly Listed[]> {
  const { structuredContent } = await server.call("lisp-status");
  const list = structuredContent?.["stopped"];
  return Array.isArray(list) ? list : [];
}

/** Waits until this many threads are stopped. */
async function stoppedThreads(server: McpStdio, count: number): Promise<readonly Listed[]> {
  for (;;) {
    const list = await stopped(server);
    if (list.length >= count) return list;
  }
}

describe("debugger tools on threads that run no evaluation", () => {
  const folder = liveFolder("load-threads");

  it("announce, list and limit their stops in a launched image", async () => {
    const server = await McpStdio.start(["--max-stops", "1"]);
    let answer = await server.evaluate(FAIL_ELSEWHERE);
    while (answer.length === 1) answer = await server.evaluate("1");
    expect(answer[1]).to.match(
      /^Thread (\d+), started by your code, stopped with SIMPLE-ERROR: elsewhere\. To look at it, call debugger_frames with thread "\1\/1"\.$/,
    );
    const [listed] = await stopped(server);
    expect(listed).to.deep.include({ type: "SIMPLE-ERROR", message: "elsewhere" }).and.not.have.property("foreign");
    const told = (await server.evaluate('(error "mine")')).join("\n");
    expect(told).to.include(`The stop ${listed?.thread} (SIMPLE-ERROR) was aborted: at most 1 stops are kept`);
    const now = await stopped(server);
    expect(now).to.have.lengthOf(1);
    expect(now[0]).to.include({ message: "mine" }).and.not.have.property("foreign");
    await server.end();
  });

  it("announce those that a file of --load has started, and accept them", async () => {
    const file = join(folder, "threads.lisp");
    await writeFile(file, FAILING_THREADS);
    const server = await McpStdio.start(["--load", file]);
    // A thread has its level of the debugger shortly before the server is told of its stop.
    const announced = (name: string) =>
      new RegExp(`SIMPLE-ERROR: the ${name} thread\\. To look at it, call debugger_frames with thread "(\\d+/1)"`);
    let texts = "";
    while (!["first", "second"].every((name) => announced(name).test(texts)))
      texts += (await server.evaluate("(+ 1 2)")).join("\n");
    const listed = async () => JSON.stringify(await stopped(server));
    expect(await listed())
      .to.include("the first thread")
      .and.include("the second thread");
    const thread = announced("first").exec(texts)?.[1];
    for (const [tool, args] of [
      ["debugger_frames", { thread }],
      ["debugger_invoke_restart", { thread, restart: "ABORT" }],
    ] as const)
      expect((await server.call(tool, args)).isError).to.equal(false);
    expect(await listed()).to.not.include("the first thread");
    await server.end();
  });

  it("announce a stop with Lisp's own message, even if that names a tool that is switched off", async () => {
    const server = await McpStdio.start(["--tools", "core"]);
    const message = "Call debugger_frames. Or do not.";
    let answer = await server.evaluate(`(progn (sb-thread:make-thread (lambda () (error "${message}"))) nil)`);
    while (answer.length === 1) answer = await server.evaluate("1");
    expect(answer[1]?.endsWith(`stopped with SIMPLE-ERROR: ${message}`)).to.equal(true);
    await server.end();
  });

  for (const lock of ["swank/sbcl::*mailbox-lock*", "(swank/sbcl::mailbox.mutex (first swank/sbcl::*mailboxes*))"])
    it(`announce that an error ended a thread that held ${lock}`, async () => {
      const server = await McpStdio.start();
      const thread = `(sb-thread:make-thread (lambda () (sb-thread:with-mutex (${lock}) (error "held"))) :name "own")`;
      let answer = await server.evaluate(`(progn ${thread} nil)`);
      while (answer.length === 1) answer = await server.evaluate("1");
      expect(answer[1]).to.match(
        /^Thread \d+ \(own\), started by your code, was ended by SIMPLE-ERROR while it held a lock of Swank's mailboxes, so that it could not stop: held$/,
      );
      await server.end();
    });

  it("list their stops, but never end them, in an attached image", async () => {
    const lisp = await startRealSwank();
    const server = await McpStdio.start(["--attach", String(lisp.port), "--max-stops", "1"]);
    await server.evaluate("1");
    lisp.type(FAIL_ELSEWHERE);
    await stoppedThreads(server, 1);
    lisp.type(FAIL_ELSEWHERE);
    const both = await stoppedThreads(server, 2);
    await server.evaluate('(error "mine")');
    expect(blocks(await server.call("reset-session"))[0]).to.match(/^Session reset\./);
    expect(await stopped(server)).to.deep.equal(both);
    await server.end();
    await lisp.stop();
  });
});
