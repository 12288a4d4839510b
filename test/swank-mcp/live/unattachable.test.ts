import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { connect, type SwankClient } from "swank-client";
import { blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

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
