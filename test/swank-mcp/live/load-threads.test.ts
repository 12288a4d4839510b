import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { McpStdio } from "../../support/mcp-stdio.js";

/** Starts threads that fail, and waits until each has stopped. */
const FAILING_THREADS = `
(defun stopped-p (thread)
  (plusp (or (sb-thread:symbol-value-in-thread 'swank::*sldb-level* thread nil) 0)))
(dolist (name '("first" "second"))
  (let* ((name name)
         (thread (sb-thread:make-thread (lambda () (error "the ~a thread" name)) :name name)))
    (loop until (stopped-p thread) do (sleep 0.01))))`;

describe("swank-mcp --load with threads that stop", () => {
  let folder: string;
  let server: McpStdio | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "load-threads-"));
  });

  afterEach(async () => {
    server?.process.kill("SIGKILL");
    await server?.exited;
    await rm(folder, { recursive: true });
  });

  async function start(...args: readonly string[]): Promise<McpStdio> {
    const file = join(folder, "threads.lisp");
    await writeFile(file, FAILING_THREADS);
    server = await McpStdio.start(["--load", file, ...args]);
    return server;
  }

  /** A thread has its level of the debugger shortly before the server is told of its stop, so the first answer can come without it. */
  async function notices(agent: McpStdio, expected: readonly RegExp[]): Promise<string> {
    let texts = "";
    while (!expected.every((pattern) => pattern.test(texts))) texts += (await agent.evaluate("(+ 1 2)")).join("\n");
    return texts;
  }

  it("announces them with an answer, lists them, and accepts them in the debugger tools", async () => {
    const agent = await start();
    const texts = await notices(agent, [
      /SIMPLE-ERROR: the first thread\. To look at it, call debugger_frames with thread "\d+\/1"/,
      /SIMPLE-ERROR: the second thread\. To look at it, call debugger_frames with thread "\d+\/1"/,
    ]);
    const { structuredContent } = await agent.call("lisp-status");
    expect(JSON.stringify(structuredContent?.["stopped"]))
      .to.include("the first thread")
      .and.include("the second thread");
    const thread = /the first thread\. [^"]*"(\d+\/1)"/.exec(texts)?.[1];
    const frames = await agent.call("debugger_frames", { thread });
    expect(frames.isError).to.not.equal(true);
    expect((await agent.call("debugger_invoke_restart", { thread, restart: "ABORT" })).isError).to.not.equal(true);
    expect(JSON.stringify((await agent.call("lisp-status")).structuredContent)).to.not.include("the first thread");
  });

  it("counts them towards --max-stops", async () => {
    const agent = await start("--max-stops", "1");
    await notices(agent, [/The stop \d+\/1 \(SIMPLE-ERROR\) was aborted: at most 1 stops are kept/]);
    const { structuredContent } = await agent.call("lisp-status");
    const stopped = structuredContent?.["stopped"];
    expect(stopped).to.have.lengthOf(1);
    expect(JSON.stringify(stopped)).to.match(/the (first|second) thread/);
  });
});
