import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { McpDriver } from "../../support/mcp-driver.js";
import { gone } from "../../support/mcp-processes.js";
import { answered, blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { ENVIRONMENT, PROGRAM } from "../../support/server-process.js";

const NOT_JSON =
  /^swank-mcp: received a line that is not JSON\. This command serves MCP clients; for a Lisp prompt, run: .* console\n$/;

describe("swank-mcp process", () => {
  const started: McpStdio[] = [];

  async function start(...args: string[]): Promise<McpStdio> {
    const server = await McpStdio.start(args);
    started.push(server);
    return server;
  }

  afterEach(async () => {
    for (const server of started.splice(0)) {
      server.process.kill("SIGKILL");
      await server.exited;
    }
  });

  it("fails the running call when its image is killed, and announces a new image with the next answer", async () => {
    const server = await start();
    const pid = await server.imagePid();
    const running = server.startCall("evaluate-lisp", { code: "(progn (print :running) (loop (sleep 0.01)))" });
    await server.progressOf(running);
    process.kill(pid, "SIGKILL");
    const lost = await running.result;
    expect(lost.isError).to.equal(true);
    expect(blocks(lost)[0]).to.equal(`[stdout]

:RUNNING 

[ERROR] IMAGE-LOST
The image (pid ${pid}) was killed by SIGKILL.
It is not known how far the evaluation got. The next call that needs an image starts a new one.`);

    const remembered = blocks(await server.call("describe-last-error"));
    expect(remembered[0]).to.match(/^Error: IMAGE-LOST\n {2}The image /);
    expect(blocks(await server.call("debugger_frames"))[0]).to.contain(
      `\nThe image (pid ${pid}) was killed by SIGKILL. Its stops are gone. No thread is stopped.`,
    );
    const [value, notice, ...more] = await server.evaluate("(+ 1 2)");
    expect(value).to.equal("=> 3");
    expect(notice).to.match(
      new RegExp(
        `^The image \\(pid ${pid}\\) was killed by SIGKILL\\. This answer comes from a new image \\(pid \\d+\\)`,
      ),
    );
    expect(more).to.deep.equal([]);
    expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
    await gone(pid);
  });

  it("reports how an image exited", async () => {
    const server = await start();
    expect((await server.evaluate("(sb-ext:exit :code 3 :abort t)"))[0]).to.match(/ended with exit code 3\./);
    expect((await server.evaluate("1"))[0]).to.equal("=> 1");
  });

  it("keeps no stop under --on-error unwind, but reports the error", async () => {
    const server = await start("--on-error", "unwind");
    const result = await server.evaluate('(error "gone")');
    expect(result).to.have.length(1);
    expect(result[0]).to.match(/^\[ERROR\] SIMPLE-ERROR\ngone\n\n\[Backtrace\]\n/);
    expect((await server.call("lisp-status")).structuredContent?.["stopped"]).to.deep.equal([]);
  });

  it("keeps reading after a line that is not a message", async () => {
    const server = await start();
    server.write('garbage\n(+ 1 2)\n{"jsonrpc":"2.0"}\n[]\n\n\u{feff}{}\n');
    expect(blocks(await server.call("describe-last-error"))).to.have.length(1);
    expect(server.errorText).to.match(NOT_JSON);
    expect(await server.end()).to.deep.equal({ code: 0, signal: null });
  });

  it("exits with 1 when no line of its input was a message, and names a command that opens a prompt", async () => {
    for (const [environment, command] of [
      [{ npm_lifecycle_event: "start" }, "npm start -- console"],
      [{ npm_lifecycle_event: "test", PATH: dirname(process.execPath) }, `${PROGRAM} console`],
    ] as const) {
      const server = new McpStdio([], { environment });
      server.write("(+ 1 2)\n");
      expect(await server.end()).to.deep.equal({ code: 1, signal: null });
      expect(server.errorText)
        .to.match(NOT_JSON)
        .and.to.match(new RegExp(`: ${command}\n$`));
    }
  });

  it("does not wait for a subscription when its input ends", async () => {
    const server = new McpStdio([], { revision: "2026-07-28" });
    const listening = server.request("subscriptions/listen", { notifications: {} });
    await server.notified("notifications/subscriptions/acknowledged");
    const began = performance.now();
    expect(await server.end()).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - began).to.be.below(10_000);
    expect(await listening).to.have.property("resultType", "complete");
  });

  it("exits at the end of its input and ends its image", async () => {
    const server = await start();
    const pid = await server.imagePid();
    await server.evaluate('(error "stopped")');
    expect(await server.end()).to.deep.equal({ code: 0, signal: null });
    await gone(pid);
  });

  it("answers a call that it abandons at the end of its input or at a signal", async () => {
    for (const leave of [
      (server: McpStdio) => server.end(),
      async ({ process }: McpStdio) => process.kill("SIGTERM"),
    ]) {
      const server = await start("--timeout", "1");
      await server.evaluate("1");
      const cut = server.startCall("evaluate-lisp", { code: "(progn (print 1) (loop (sleep 0.01)))", timeout: 60 });
      await server.progressOf(cut);
      const [result] = await Promise.all([cut.result, leave(server)]);
      expect(refusalType(result)).to.equal("SHUTTING_DOWN");
      await server.exited;
    }
  });

  it("waits for the image that a call needs even if its input has ended", async () => {
    const folder = await mkdtemp(join(tmpdir(), "swank-mcp-slow-"));
    await writeFile(join(folder, "slow.lisp"), "(sleep 3)");
    const server = await start("--timeout", "2", "--load", join(folder, "slow.lisp"));
    const answer = server.evaluate("(+ 1 2)", { timeout: 5 });
    const [, report] = await Promise.all([server.end(), answer]);
    expect(report).to.deep.equal(["=> 3"]);
    await rm(folder, { recursive: true });
  });

  it("exits at the end of its input even if code runs forever", async () => {
    const server = await start("--timeout", "1");
    const pid = await server.imagePid();
    const running = server.evaluate("(loop (sleep 0.01))", { timeout: 60 }).catch(() => []);
    expect(await server.end()).to.deep.equal({ code: 0, signal: null });
    await running;
    await gone(pid);
  });

  it("exits on a signal with its exit code, even while code runs", async () => {
    const exits = Object.entries({ SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const).map(async ([signal, code]) => {
      const server = await start();
      const pid = await server.imagePid();
      const running = server.evaluate("(loop (sleep 0.01))").catch(() => []);
      process.kill(Number(server.process.pid), signal);
      expect(await server.exited, signal).to.deep.equal({ code, signal: null });
      await running;
      await gone(pid);
    });
    await Promise.all(exits);
  });

  it("does not open Node's inspector at SIGUSR1", async () => {
    const server = await start();
    server.process.kill("SIGUSR1");
    expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
    expect(server.errorText).to.equal("");
  });

  it("exits when its output is closed", async () => {
    const server = await start();
    const pid = await server.imagePid();
    server.process.stdout.destroy();
    server.send({ id: 99, method: "ping" });
    expect((await server.exited).code).to.equal(0);
    await gone(pid);
  });

  it("ends its image even when it is killed", async () => {
    const server = await start();
    const pid = await server.imagePid();
    server.process.kill("SIGKILL");
    await gone(pid);
  });

  for (const [what, isEarly, program] of [
    ["ends with its image when its host is killed though another process holds its input", false, '"$0"'],
    [
      "ends with its image when the host of its launchers is killed",
      false,
      `sh -c 'sh -c "\\"\\$0\\"; true" "$0"; true' "$0"`,
    ],
    ["outlives a launcher that has ended before the client comes", true, '"$0"'],
  ] as const) {
    it(what, async () => {
      // The shell is the host; this process holds the pipe, too. It is no pipe of spawn's, which is closed when the shell ends.
      const folder = await mkdtemp(join(tmpdir(), "swank-mcp-host-"));
      const pipe = join(folder, "input");
      execFileSync("mkfifo", [pipe]);
      const stdin = createWriteStream(pipe, { flags: "r+" });
      const script = `exec 3<"$1"; ${program} <&3 3<&- & echo $! >&2; wait`;
      const host = spawn("sh", ["-c", script, PROGRAM, pipe], { env: { ...process.env, ...ENVIRONMENT } });
      const pid = Number(String((await once(host.stderr, "data"))[0]));
      const driver = new McpDriver({ stdin, stdout: host.stdout });
      const kill = async () => {
        host.kill("SIGKILL");
        await once(host, "exit");
      };
      if (isEarly) await kill();
      await driver.initialize();
      const { structuredContent } = await driver.call("lisp-status");
      if (isEarly) {
        await setTimeout(2500);
        expect(await driver.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
        process.kill(pid);
      } else await kill();
      await Promise.all([gone(pid), gone(Number(structuredContent?.["pid"]))]);
      stdin.destroy();
      await rm(folder, { recursive: true });
    });
  }

  it("reports an invalid command line and exits with 2", async () => {
    const server = new McpStdio(["--atach", "4005"]);
    expect(await server.exited).to.deep.equal({ code: 2, signal: null });
    expect(server.errorText).to.equal("swank-mcp: There is no option --atach: did you mean --attach?\n");
  });
});

function start(...args: string[]): McpStdio {
  return new McpStdio(args, { revision: "2026-07-28", capabilities: { elicitation: {} } });
}

describe("swank-mcp process with a client of protocol revision 2026-07-28", () => {
  it("answers the calls that came before the end of its input", async () => {
    const server = start();
    const late = server.call("evaluate-lisp", { code: "(progn (sleep 0.3) :late)" });
    expect(await server.end()).to.deep.equal({ code: 0, signal: null });
    expect(await late).to.have.nested.property("content[0].text", "=> :LATE");
  });

  it("does not wait for an answer to its question after the end of its input", async () => {
    const server = start();
    await server.call("evaluate-lisp", { code: '(error "stopped")' });
    await server.ask("debugger_eval_in_frame", { frame: 0, code: "(list 1)" });
    const began = performance.now();
    expect(await server.end()).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - began).to.be.below(10_000);
  });

  it("acts on the stop that the question was about, even after later stops", async () => {
    const server = start();
    await server.call("evaluate-lisp", { code: '(defun stop-with (x) (error "stopped with ~a" x))' });
    await server.call("evaluate-lisp", { code: "(stop-with 1)" });
    const peek = { frame: 0, code: "(list :x x)" };
    const question = await server.ask("debugger_eval_in_frame", peek);
    await server.call("evaluate-lisp", { code: "(stop-with 2)" });
    const given = await server.finish("debugger_eval_in_frame", peek, answered(question, "Yes"));
    expect(given).to.have.nested.property("content[0].text", "=> (:X 1)");
    await server.end();
  });

  it("launches no image for a client that only discovers it, even under --share", async () => {
    const folder = await mkdtemp(join(tmpdir(), "modern-lifecycle-"));
    const file = join(folder, "log");
    try {
      const server = start("--share", "--log-file", file);
      await server.request("server/discover");
      await setTimeout(300);
      await server.end();
      expect(server.errorText).to.equal("");
      expect(await readFile(file, "utf8")).to.not.match(/^\S+ \d+ (?:launch|client|image|connected)\b/m);
      const used = start("--share", "--log-file", file);
      await used.request("tools/list");
      while (!used.errorText.includes("shared on 127.0.0.1:")) await setTimeout(20);
      await used.end();
      expect(await readFile(file, "utf8")).to.include("client: test 0");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("is not disturbed by a second server whose client only discovers it", async () => {
    const [probe, used] = [start("--share"), start("--share")];
    await probe.request("server/discover");
    const evaluated = used.call("evaluate-lisp", { code: "(+ 1 2)" });
    expect(await probe.end()).to.deep.equal({ code: 0, signal: null });
    expect(await evaluated).to.have.nested.property("content[0].text", "=> 3");
    await used.end();
  });
});
