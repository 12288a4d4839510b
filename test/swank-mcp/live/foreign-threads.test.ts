import { expect } from "chai";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { startRealSwank } from "../../support/real-swank.js";

const FAIL_ELSEWHERE = '(progn (sb-thread:make-thread (lambda () (error "elsewhere"))) nil)';

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
