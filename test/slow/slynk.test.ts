import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { connect, type SwankClient } from "swank-client";
import { findSwank } from "swank-client/launch";
import * as swank from "swank-client/swank";
import { rejection } from "../support/caught.js";
import { expectApprovalExample, expectSymbolExamples } from "../support/contract-examples.js";
import { EmacsProcess } from "../support/emacs-process.js";
import { EVERY_CALL } from "../support/every-call.js";
import { testAttachedLastErrors } from "../support/last-error-runs.js";
import { McpDebugger } from "../support/mcp-debugger.js";
import { blocks } from "../support/mcp-results.js";
import { McpStdio } from "../support/mcp-stdio.js";
import { McpUser } from "../support/mcp-user.js";
import { type RealSwank, startRealSwank } from "../support/real-swank.js";

/** Milliseconds in which a busy machine compiles the runtime for a first client. */
const PATIENCE = 120_000;

const SOURCES = process.env["SLY_SOURCES"];

/** What swank-mcp.el asks SLIME, and SLY in another way. */
const OF_SLIME_ONLY: readonly string[] = ["slime-threads-buffer-name", "sldb-frame-region"];

const SWANK_MCP_EL = fileURLToPath(new URL("../../../packages/swank-mcp/emacs/", import.meta.url));

/** An answer of Slynk to a message of SLY. */
async function asSly(port: number, form: string): Promise<string> {
  const socket = createConnection({ port, host: "127.0.0.1" });
  const message = Buffer.from(`(:emacs-rex ${form} "COMMON-LISP-USER" t 1)`);
  socket.write(`${message.length.toString(16).padStart(6, "0")}${message.toString()}`);
  let answers = "";
  for await (const chunk of socket) {
    answers += String(chunk);
    const answer = /\(:return (.*) 1\)/.exec(answers)?.[1];
    if (answer !== undefined) {
      socket.destroy();
      return answer;
    }
  }
  return answers;
}

/** The value of code that is evaluated. */
async function evaluated(client: SwankClient, code: string): Promise<string> {
  const outcome = await client.evaluate(code).next();
  return outcome.status === "returned" ? outcome.values.join() : outcome.status;
}

describe("An SBCL with SLY's Slynk", function () {
  this.timeout(600_000);
  let image: RealSwank;
  const attached = () => ["--attach", String(image.port)];

  before(async () => {
    if (SOURCES === undefined) throw new Error("SLY_SOURCES must name a folder with the sources of SLY.");
    image = await startRealSwank(undefined, 0, undefined, "slynk");
  });

  after(() => image.stop());

  it("serves every tool", async () => {
    const server = await McpStdio.start(attached());
    for (const [name, args, expected] of EVERY_CALL) {
      // The main thread of an attached image is the program's.
      const pattern = name === "list-threads" ? /^\d+ main thread, the program/ : expected;
      expect(blocks(await server.call(name, args)).join("\n"), name).to.match(pattern);
    }
    await server.close();
  });

  it("is named by lisp-status", async () => {
    const server = await McpStdio.start(attached());
    const { structuredContent } = await server.call("lisp-status");
    expect(structuredContent).to.have.property("slynk").that.matches(/^1\./);
    expect(structuredContent).to.not.have.property("swank");
    await server.close();
  });

  it("follows the contract of describe-symbol", async () => {
    const server = await McpStdio.start(attached());
    await expectSymbolExamples(server);
    await server.close();
  });

  it("follows the contract of approvals", async () => {
    const user = new McpUser();
    const lisp = await McpDebugger.start({ answer: user.answer, args: attached() });
    await lisp.evaluate("(defun g (x) (* x 2)) (defun f (x) (list (car x) (g x)))");
    await expectApprovalExample(lisp, user);
    await lisp.close();
  });

  it("follows the contract of condition reports", async () => {
    const server = await McpStdio.start(attached());
    await server.evaluate("(defun halves (x) (let ((y (- x x))) (/ x y)))");
    const [report, more] = await server.evaluate("(halves 21)");
    expect(report).to.equal(`[ERROR] DIVISION-BY-ZERO
arithmetic error DIVISION-BY-ZERO signalled
Operation was (/ 21 0).

[Backtrace]
1: (HALVES 21)`);
    expect(more).to.match(
      /Restarts:\n {2}1\. ABORT - Return to top level\n {2}2\. RETRY - .*\n.*\n {2}X = 21\n {2}Y = 0/,
    );
    await server.close();
  });

  describe("describe-last-error and get-backtrace", () => testAttachedLastErrors(3, "slynk"));

  it("has the functions of SLIME's contribs that are SLY's, too, and refuses others with what works instead", async () => {
    const client = await connect({ port: image.port, timeout: PATIENCE });
    const { completion, repl, tracing } = swank;
    expect(await client.run(completion.autodoc, ["mapcar", "f", null])).to.match(/^\(mapcar ===> function <===/);
    await evaluated(client, "(defun traced-by-dialog (x) x)");
    await client.run(tracing.dialogToggleTrace, "cl-user::traced-by-dialog");
    await evaluated(client, "(traced-by-dialog 5)");
    const { calls } = await client.run(tracing.reportPartialTree, "key");
    expect(calls.map(({ args }) => args[0]?.text)).to.have.length(1);
    expect(calls[0]?.args[0]?.text).to.match(/^5\b/);
    await client.run(tracing.dialogUntraceAll);
    const { message, remedy } = await rejection(client.run(repl.createRepl), "NOT_SUPPORTED");
    expect(message).to.match(/^swank-repl:create-repl: Slynk in SBCL \S+ does not have SLIME's contrib swank-repl\.$/);
    expect(remedy).to.include("client.evaluate");
    await client.close();
  });

  it("reads SWANK as SLYNK for SLY while an agent is connected, and has no trace of the agent afterwards", async () => {
    const agent = await connect({ port: image.port, timeout: PATIENCE });
    expect(await evaluated(agent, "(+ 1 2)")).to.equal("3");
    expect(await asSly(image.port, "(swank:ping 7)")).to.equal("(:ok 7)");
    await agent.close();
    const other = await connect({ port: image.port, timeout: PATIENCE });
    expect(await evaluated(other, "slynk-rpc:*translating-swank-to-slynk*")).to.equal("T");
    // the agent's encapsulations have gone when this client's are the only ones
    const left = "(length (slynk::connection-listeners slynk::*emacs-connection*))";
    expect(await evaluated(other, left)).to.equal("0");
    await other.close();
  });

  it("serves agents when Swank is loaded beside Slynk, on the ports of both", async () => {
    const both = await startRealSwank(undefined, 0, undefined, "slynk");
    const slynk = await connect({ port: both.port, timeout: PATIENCE });
    const loader = join(await findSwank(), "swank-loader.lisp");
    await evaluated(slynk, `(progn (load ${JSON.stringify(loader)}) (funcall (intern "INIT" "SWANK-LOADER")))`);
    const port = Number(await evaluated(slynk, '(funcall (intern "CREATE-SERVER" "SWANK") :port 0 :dont-close t)'));
    const swank = await connect({ port, timeout: PATIENCE });
    for (const client of [slynk, swank]) {
      expect(await evaluated(client, "(+ 1 2)")).to.equal("3");
      const outcome = await client.evaluate('(restart-case (error "no") (use-value (x) x))').next();
      if (outcome.status !== "stopped") throw new Error(outcome.status);
      const index = outcome.stop.restarts.findIndex(({ name }) => name === "USE-VALUE");
      await outcome.stop.invokeRestart(index, ["42"]);
    }
    await Promise.all([slynk.close(), swank.close()]);
    await both.stop();
  });

  it("serves an agent under Swank's name, as sly-retro has it", async () => {
    const retro = await startRealSwank(undefined, 0, undefined, "slynk");
    expect(await asSly(retro.port, `(slynk:slynk-add-load-paths '("${SOURCES}/contrib/"))`)).to.match(/^\(:ok/);
    expect(await asSly(retro.port, '(slynk:slynk-require \'("slynk/retro"))')).to.match(/^\(:ok/);
    const client = await connect({ port: retro.port, timeout: PATIENCE });
    expect(await evaluated(client, "(list (find-package :swank) slynk-rpc:*translating-swank-to-slynk*)")).to.match(
      /SLYNK.*NIL/,
    );
    await client.close();
    await retro.stop();
  });

  describe("beside a user's Emacs with SLY", () => {
    let emacs: EmacsProcess;

    beforeEach(async () => {
      emacs = await EmacsProcess.start(["-L", SOURCES ?? "", "--eval", "(progn (require 'sly) (sly-setup))"]);
      await emacs.eval(`(sly-connect "127.0.0.1" ${image.port})`);
      await until("(and (sly-connected-p) (ignore-errors (sly-mrepl--find-buffer)) t)");
    });

    afterEach(() => emacs.kill());

    async function until(form: string): Promise<void> {
      while ((await emacs.eval(form)) === "nil") await setTimeout(50);
    }

    const showing = (text: string) => `(cl-some (lambda (buffer) (with-current-buffer buffer (save-excursion
      (goto-char (point-min)) (search-forward ${JSON.stringify(text)} nil t)))) (sly-db-buffers))`;

    const fail = (message: string) => image.type(`(sb-thread:make-thread (lambda () (error "${message}")))`);

    it("leaves the errors of background threads to SLY, gets them when SLY has gone, and hands them over when SLY returns", async () => {
      const server = await McpStdio.start(attached());
      await server.evaluate("1");
      fail("while SLY is there");
      await until(showing("while SLY is there"));
      await emacs.eval("(progn (mapc (function delete-process) sly-net-processes) t)");
      await until("(null (sly-connected-p))");
      fail("while SLY is away");
      while (!JSON.stringify(await server.call("lisp-status")).includes("while SLY is away")) await setTimeout(50);
      await emacs.eval(`(sly-connect "127.0.0.1" ${image.port})`);
      await until(showing("while SLY is away"));
      await server.close();
    });

    it("shows SLY the threads that an agent has stopped", async () => {
      const server = await McpStdio.start(attached());
      await server.evaluate('(error "an agent\'s error")');
      const threads = await emacs.eval('(format "%S" (sly-eval \'(slynk:list-threads)))');
      expect(threads).to.include("slynk-worker");
      await server.close();
    });
  });

  describe("with a ~/.sly-secret", () => {
    let home: string;
    const saved = process.env["HOME"];
    before(async () => {
      home = await mkdtemp(join(tmpdir(), "sly-"));
      await writeFile(join(home, ".sly-secret"), "open sesame\n", { mode: 0o600 });
      process.env["HOME"] = home;
    });
    after(() => {
      process.env["HOME"] = saved;
      return rm(home, { recursive: true });
    });

    it("gets it, as does no server that wants none", async () => {
      const guarded = await startRealSwank(home, 0, undefined, "slynk");
      for (const { port } of [guarded, image]) {
        const agent = await connect({ port, timeout: PATIENCE });
        expect(await evaluated(agent, "(+ 1 2)")).to.equal("3");
        await agent.close();
      }
      await guarded.stop();
      const swank = await startRealSwank(undefined, 0, undefined, "swank");
      await (await connect({ port: swank.port, timeout: PATIENCE })).close();
      await swank.stop();
    });
  });

  it("has all names of SLIME that swank-mcp.el uses under SLY's names", async () => {
    const home = await mkdtemp(join(tmpdir(), "sly-"));
    const files = (await readdir(SWANK_MCP_EL)).filter((name) => name.endsWith(".el"));
    const texts = await Promise.all(files.map((name) => readFile(join(SWANK_MCP_EL, name), "utf8")));
    const names = texts.flatMap((text) => [
      ...text.matchAll(/swank-mcp--(?:call|value|name|with-connection) '((?:slime|sldb)-\S+?)\)*(?=\s|\)|$)/gm),
    ]);
    const list = [...new Set(names.map(([, name]) => name))].filter((name) => !OF_SLIME_ONLY.includes(name ?? ""));
    expect(list.length).to.be.above(25);
    const missing = `(princ (cl-remove-if (lambda (name) (or (fboundp name) (boundp name)))
      (mapcar #'swank-mcp--name '(${list.join(" ")}))))`;
    const args = ["-Q", "--batch", "-L", SOURCES ?? "", "-L", SWANK_MCP_EL, "-l", "sly", "-l", "swank-mcp", "--eval"];
    const env = { ...process.env, HOME: home };
    expect((await promisify(execFile)("emacs", [...args, missing], { env })).stdout).to.equal("nil");
    await rm(home, { recursive: true });
  });
});
