import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { connect, type SwankClient } from "swank-client";
import { NO_ERROR } from "#swank-mcp/report/stop.js";
import { expectFacts } from "../../support/facts.js";
import { attachedTo, liveEditor, liveFolder, liveServer, liveSwank } from "../../support/live-server.js";
import { blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

describe("swank-mcp --attach", () => {
  const folder = liveFolder("attach", { each: true });
  const log = join(folder, "log");
  const lisp = liveSwank({ each: true });
  const server = liveServer({ each: true, args: attachedTo(lisp, "--log-file", log) });

  it("leaves no thread behind and the image unchanged", async () => {
    const other = await connect({ port: lisp.port });
    const threads = "(length (remove-if-not #'sb-thread:thread-alive-p (sb-thread:list-all-threads)))";
    const count = async () => {
      const outcome = await other.evaluate(threads).next();
      return outcome.status === "returned" ? Number(outcome.values[0]) : Number.NaN;
    };
    // The first evaluation creates what the image needs once for all evaluations.
    await count();
    // Threads of earlier requests may still be ending.
    let before = await count();
    for (let round = 0; round < 10; round += 1) before = Math.min(before, await count());
    await server.evaluate('(error "stopped")');
    await server.evaluate("(loop)", { timeout: 0.2 });
    const running = server.evaluate("(loop)").catch(() => []);
    expect(await count()).to.be.above(before);
    server.process.kill("SIGTERM");
    expect((await server.exited).code).to.equal(143);
    await running;
    let now = await count();
    while (now > before) now = await count();
    expect(now).to.equal(before);
    await other.close();
  });

  it("fails the running call when the image is killed, names the remedy, and launches no other image", async () => {
    const running = server.evaluate("(loop (sleep 0.01))");
    await server.evaluate("1");
    lisp.process.kill("SIGKILL");
    const [report] = await running;
    expect(report).to.match(
      new RegExp(`^\\[ERROR\\] IMAGE-LOST\\nThe connection to 127\\.0\\.0\\.1:${lisp.port} was lost`),
    );
    const lost = /the connection to the image with pid (\d+) was lost: .*127\.0\.0\.1:/;
    while (!lost.test(await readFile(log, "utf8"))) await setTimeout(20);
    expect(lost.exec(await readFile(log, "utf8"))?.[1]).to.equal(String(lisp.process.pid));
    // The port can still be open after a connection has closed.
    await lisp.stop();
    const refusal = await server.call("evaluate-lisp", { code: "1" });
    expect(refusal.isError).to.equal(true);
    expect(refusal.structuredContent).to.have.nested.property("error.data.type", "LISP_UNREACHABLE");
    expect(blocks(refusal)[0]).to.include(`\n  (swank:create-server :port ${lisp.port} :dont-close t)\n`);
    expect(blocks(await server.call("describe-last-error"))[0]).to.match(/^Error: IMAGE-LOST\n/);
  });
});

describe("swank-mcp --attach to an unusable Swank", () => {
  let lisp: RealSwank;
  let server: McpStdio;

  afterEach(async () => {
    await server.end();
    await lisp.stop();
  });

  it("attaches to a Swank in use by another client after the refusal's form is evaluated", async () => {
    lisp = await startRealSwank();
    const port = await freePort();
    lisp.type(`(sb-thread:make-thread (lambda () (swank:create-server :port ${port} :dont-close nil)))`);
    const emacs = await connectAsSoonAsPossible(port);
    server = await McpStdio.start(["--attach", String(port)]);
    const { type, text } = await refusal(server);
    expect(type).to.equal("LISP_UNREACHABLE");
    expect(text).to.include("A Swank without :dont-close t stops listening as soon as one client, such as Emacs, is");
    expect(await emacs.evaluate(form(text)).next()).to.include({ status: "returned" });
    expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
    expect(await emacs.evaluate("(length swank::*connections*)").next()).to.deep.include({ values: ["2"] });
    await emacs.close();
  });

  it("attaches to a Swank without a secret with the option that the refusal names", async () => {
    lisp = await startRealSwank();
    const home = await mkdtemp(join(tmpdir(), "secret-"));
    await writeFile(join(home, ".slime-secret"), "open sesame\n");
    server = await McpStdio.start(["--attach", String(lisp.port)], { HOME: home });
    const { type, text } = await refusal(server);
    expect(type).to.equal("SECRET_REJECTED");
    const option = / with (--[a-z-]+) it sends none\.$/.exec(text)?.[1] ?? "an option was expected";
    await server.end();
    server = await McpStdio.start(["--attach", String(lisp.port), option], { HOME: home });
    expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
    await rm(home, { recursive: true });
  });

  for (const style of [":fd-handler", "nil"]) {
    it(`attaches to a threaded server from the refusal's form beside one without threads (style ${style})`, async () => {
      lisp = await startRealSwank();
      const port = await freePort();
      lisp.type(`(swank:create-server :port ${port} :dont-close t :style ${style})`);
      server = await McpStdio.start(["--attach", String(port)]);
      const { type, text } = await refusalOfServer(server);
      expect(type).to.equal("NO_THREADS");
      expect(text).to.include(`127.0.0.1:${port} serves without threads (style ${style.replace(":", "")}).`);
      expect(text).to.include(` swank-mcp must then be started with --attach ${port + 1}.`);
      await server.end();
      const other = await connect({ port: lisp.port });
      expect(await other.evaluate(form(text)).next()).to.include({ status: "returned" });
      await other.close();
      server = await McpStdio.start(["--attach", String(port + 1)]);
      expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
    });
  }
});

/** Waits until a Swank server refuses the connection, and returns evaluate-lisp's refusal. */
async function refusalOfServer(server: McpStdio): Promise<{ type: unknown; text: string }> {
  for (;;) {
    const refused = await refusal(server);
    if (refused.type !== "LISP_UNREACHABLE") return refused;
  }
}

async function refusal(server: McpStdio): Promise<{ type: unknown; text: string }> {
  const result = await server.call("evaluate-lisp", { code: "1" });
  return { type: refusalType(result), text: blocks(result).join() };
}

/** Returns the form that a text recommends to evaluate. */
function form(text: string): string {
  const found = /\(swank:create-server [^)]*\)/.exec(text)?.[0];
  if (found === undefined) throw new Error(`There is no form in: ${text}`);
  return found;
}

/** Returns a free port whose successor is free, too. */
async function freePort(): Promise<number> {
  for (;;) {
    const first = await listenOn(0);
    const second = await listenOn(first.port + 1).catch(() => undefined);
    await Promise.all([first.close(), second?.close()]);
    if (second !== undefined) return first.port;
  }
}

async function listenOn(wanted: number): Promise<{ readonly port: number; readonly close: () => Promise<unknown> }> {
  const server = createServer().listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return { port: address.port, close: () => once(server.close(), "close") };
}

/** Connects at the first opportunity. The server accepts only one connection, so a test connection would use it up. */
async function connectAsSoonAsPossible(port: number): Promise<SwankClient> {
  for (;;) {
    const client = await connect({ port }).catch(() => undefined);
    if (client !== undefined) return client;
  }
}

describe("swank-mcp --attach to an image restarted on the same port", () => {
  let lisp: RealSwank;
  let server: McpStdio;

  beforeEach(async () => {
    lisp = await startRealSwank();
    server = await McpStdio.start(["--attach", String(lisp.port)]);
  });

  afterEach(async () => {
    await server.end();
    await lisp.stop();
  });

  async function restart(): Promise<void> {
    await lisp.stop();
    lisp = await startRealSwank(undefined, lisp.port);
  }

  it("reconnects with a notice at the next call, and keeps only the last error of the old image", async () => {
    const oldPid = lisp.process.pid;
    await server.evaluate("(defun ri-half (n) (/ n 2))");
    const set = await server.call("breakpoint_set", { function: "ri-half" });
    expect(set.structuredContent).to.include({ state: "armed" });
    const [, next] = await server.evaluate('(error "of the old image")');
    const thread = /thread (\d+\/1)/.exec(next ?? "")?.[1];
    const { structuredContent } = await server.call("debugger_frame_locals", { frame: 0 });
    expect(structuredContent).to.have.property("locals");
    const remembered = blocks(await server.call("describe-last-error"));

    await restart();
    expect(blocks(await server.call("describe-last-error"))).to.deep.equal(remembered);
    const status = await server.call("lisp-status");
    expect(status.structuredContent).to.include({ pid: lisp.process.pid }).and.deep.include({ stopped: [] });
    expect(status.structuredContent)
      .to.have.nested.property("notices[0]")
      .that.matches(
        new RegExp(
          `^The connection to 127\\.0\\.0\\.1:${lisp.port} was lost: .* This answer comes from a new image \\(pid ${lisp.process.pid}\\): definitions of the previous image are gone\\. `,
        ),
      );
    expect(lisp.process.pid).to.not.equal(oldPid);
    expect(blocks(await server.call("describe-last-error"))).to.deep.equal(remembered);
    expect((await server.call("breakpoint_list")).structuredContent).to.deep.equal({ breakpoints: [] });
    expect((await server.call("debugger_frames", { thread })).isError).to.equal(true);
    expect((await server.evaluate("(swank-objects:ref 1)"))[0]).to.match(/^\[ERROR\] /);
    expect((await server.evaluate("(ri-half 4)"))[0]).to.match(/\[ERROR\] UNDEFINED-FUNCTION\n/);
    expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
  });
});

describe("reset-session on an attached image", () => {
  const lisp = liveSwank();
  const editor = liveEditor(lisp);
  const server = liveServer({ each: true, args: attachedTo(lisp) });

  async function others(code: string): Promise<readonly string[]> {
    const outcome = await editor.client.evaluate(code).next();
    return outcome.status === "returned" ? outcome.values : [outcome.status];
  }

  it("lists what it has undefined and what it has left", async () => {
    await others("(defun ra-theirs () 1) (defvar *ra-theirs* 1)");
    await server.evaluate(
      '(defpackage :ra-app (:use :cl)) (in-package :ra-app) (defun run () 1) (defmacro with-run (x) x) (defvar *state* 1) (defclass thing () ()) (defun cl-user::ra-theirs () 2) (load "/dev/null")',
    );
    await server.evaluate("(car 7)");
    const result = await server.call("reset-session");
    expectFacts(
      blocks(result).join("\n\n"),
      "Session reset. The package is COMMON-LISP-USER.\n\n[aborted]\n1 evaluation\n\n[undefined]\nfunction RA-APP::RUN\nmacro RA-APP::WITH-RUN\nvariable RA-APP::*STATE*\n",
      "[left]\npackage RA-APP: only functions, macros and variables are undefined\n…function COMMON-LISP-USER::RA-THEIRS: existed before this session\n",
      "[left, loaded from files]\n/dev/null",
    );
    expect(result.isError).to.equal(false);
    expect(result._meta?.["swank-mcp/reset"]).to.containSubset({
      aborted: 1,
      still_running: 0,
      loaded: [{ kind: "file", name: "/dev/null", times: 1 }],
    });
    expect(blocks(await server.call("describe-last-error"))).to.deep.equal([NO_ERROR]);
    expect((await server.call("lisp-status")).structuredContent).to.include({
      package: "COMMON-LISP-USER",
      pid: lisp.process.pid,
    });
    expect(
      await others("(list (fboundp 'ra-app::run) (ra-theirs) *ra-theirs* (and (find-class 'ra-app::thing) t))"),
    ).to.deep.equal(["(NIL 2 1 T)"]);
    expect(blocks(await server.call("reset-session"))).to.deep.equal([
      "Session reset. The package is COMMON-LISP-USER.",
    ]);
  });

  it("ends only its session's evaluations and stops", async () => {
    const theirs = editor.client.evaluate('(error "theirs")');
    await theirs.next();
    await server.evaluate('(error "mine")');
    const running = server.startCall("evaluate-lisp", { code: "(progn (print 1) (loop (sleep 0.01)))" });
    await server.progressOf(running);
    expect(blocks(await server.call("reset-session"))[0]).to.match(/\n\n\[aborted\]\n2 evaluations$/);
    expect(blocks(await running.result)[0]).to.equal("[stdout]\n\n1 \n\n; Evaluation aborted: the session was reset");
    expect(blocks(await server.call("describe-last-error"))).to.deep.equal([NO_ERROR]);
    const stops = (await server.call("lisp-status")).structuredContent?.["stopped"];
    expect(stops).to.have.lengthOf(1);
    expect(stops).to.have.nested.property("[0].message", "theirs");
    expect(editor.client.stops).to.have.lengthOf(1);
    await theirs.abort();
  });
});
