import { cp, readdir, readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { liveFolder } from "../../support/live-server.js";
import type { Message } from "../../support/mcp-driver.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { LAUNCH_CACHE } from "../../support/test-cache.js";

const INITIALIZE = {
  id: 100,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "hasty", version: "0" },
  },
};
const INITIALIZED = { method: "notifications/initialized" };
const DISCOVER = {
  id: 99,
  method: "server/discover",
  params: {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "hasty", version: "0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
};

const call = (id: number, name: string, args: object) => ({
  id,
  method: "tools/call",
  params: { name, arguments: args },
});
const inOneChunk = (messages: readonly object[]) =>
  messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");

describe("swank-mcp with a client that calls before it has read the answer to initialize", () => {
  let server: McpStdio;

  beforeEach(() => {
    server = new McpStdio();
  });
  afterEach(() => server.close());

  /** Waits until as many messages have come in, and returns them. */
  async function received(count: number): Promise<readonly Message[]> {
    while (server.notifications.length < count) await new Promise((resolve) => setTimeout(resolve, 10));
    return server.notifications;
  }

  for (const before of [[], [DISCOVER]]) {
    const what = before.length === 0 ? "first" : "after a probe with server/discover";
    it(`answers initialize before the calls that came with it, ${what}`, async () => {
      const calls = [call(101, "get-backtrace", {}), call(102, "nonexistent", {})];
      server.write(inOneChunk([...before, INITIALIZE, INITIALIZED, ...calls]));
      const ids = (await received(before.length + 3)).map(({ id }) => id);
      expect(ids.slice(0, -2)).to.deep.equal([...before.map(({ id }) => id), 100]);
      expect(ids.slice(-2)).to.have.members([101, 102]);
    });
  }

  it("asks the user that initialize has announced", async () => {
    const other = call(101, "evaluate-lisp", { code: "(+ 1 2)" });
    server.write(
      inOneChunk([INITIALIZE, INITIALIZED, other, call(102, "breakpoint_set", { function: "uiop:getcwd" })]),
    );
    const question = await server.notified("elicitation/create");
    expect(question.params?.["message"]).to.include("breakpoint");
    server.send({ id: question.id, result: { action: "decline" } });
    const answers = await received(4);
    const refused = answers.find(({ id, method }) => id === 102 && method === undefined);
    expect(refused?.result).to.have.nested.property("structuredContent.error.data.type", "APPROVAL_DENIED");
  });

  it("cancels a call that began before the client sent initialized again", async () => {
    server.write(inOneChunk([INITIALIZE, INITIALIZED]));
    await received(1);
    await server.evaluate("(defvar *ended* nil)");
    server.send(call(7, "evaluate-lisp", { code: "(unwind-protect (sleep 600) (setf *ended* t))" }));
    await server.evaluate("(sleep 0.3)");
    server.send(INITIALIZED);
    server.cancel(7);
    while ((await server.evaluate("*ended*"))[0] !== "=> T") await new Promise((resolve) => setTimeout(resolve, 50));
  });

  it("ends the second of two calls with the same id if it is cancelled while the first, cancelled call still unwinds", async () => {
    server.write(inOneChunk([INITIALIZE, INITIALIZED]));
    await received(1);
    const endless = "(unwind-protect (sleep 600) (sleep 1.5))";
    server.send(call(7, "evaluate-lisp", { code: endless }));
    await server.evaluate("(sleep 0.3)");
    server.cancel(7);
    server.send(call(7, "evaluate-lisp", { code: "(sleep 600)" }));
    await server.evaluate("(sleep 2)");
    server.cancel(7);
    const threads = "(count \"worker\" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal)";
    const idle = async () => (await server.evaluate(threads))[0] === "=> 1";
    while (!(await idle())) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.notifications.filter(({ id }) => id === 7)).to.deep.equal([]);
  });
});

const CONNECTED = /connected to the image with pid (?<pid>\d+)/;

describe("swank-mcp before the first call", () => {
  const folder = liveFolder("early-image", { each: true });

  it("launches the image when the client lists the tools, and no earlier", async () => {
    const log = join(folder, "log");
    const server = await McpStdio.start(["--log-file", log]);
    await server.request("ping", {});
    await pause(300);
    expect(await readFile(log, "utf8")).to.not.match(CONNECTED);
    await server.request("tools/list", {});
    let pid: string | undefined;
    while (pid === undefined) {
      await pause(20);
      pid = CONNECTED.exec(await readFile(log, "utf8"))?.groups?.["pid"];
    }
    expect(await server.imagePid()).to.equal(Number(pid));
    await server.end();
  });

  it("ends without waiting for an image that no call needs", async () => {
    const server = await McpStdio.start(["--cache-dir", folder]);
    await server.request("tools/list", {});
    expect(await server.end()).to.deep.equal({ code: 0, signal: null });
    expect((await readdir(folder)).filter((name) => name.endsWith(".core"))).to.deep.equal([]);
  });

  it("says that there is no core, and answers the first call while one for later launches is built", async function () {
    // The build has a lower priority than everything else on the machine.
    this.timeout(300_000);
    // Compiling Swank and the runtime would take most of the time.
    await cp(LAUNCH_CACHE, folder, { recursive: true, filter: (file) => !file.endsWith(".core") });
    const log = join(folder, "log");
    const server = await McpStdio.start(["--cache-dir", folder, "--log-file", log]);
    const call = server.startCall("evaluate-lisp", { code: "(+ 1 2)" });
    const { params } = await server.progressOf(call);
    expect(params?.["message"]).to.match(/^There is no Lisp core for this SBCL and Swank yet\. Swank is loaded/);
    expect(server.errorText).to.match(
      /^swank-mcp: There is no Lisp core for this SBCL and Swank yet\. Swank is loaded.*\n$/,
    );
    expect(blocks(await call.result)).to.deep.equal(["=> 3"]);
    let text = "";
    while (!/launched SBCL .*, without a core/.test(text) || !text.includes("the core for later launches: ")) {
      await pause(50);
      text = await readFile(log, "utf8");
    }
    expect(text).to.include("launch: the core for later launches: built");
    await server.end();
    expect((await readdir(folder)).filter((name) => name.endsWith(".core"))).to.have.length(1);
  });

  it("does not connect to an attached image", async () => {
    let connections = 0;
    const swank = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => swank.listen(0, "127.0.0.1", resolve));
    const { port } = addressOf(swank.address());
    const server = await McpStdio.start(["--attach", String(port)]);
    await server.request("tools/list", {});
    await pause(300);
    expect(connections).to.equal(0);
    await server.call("evaluate-lisp", { code: "1" });
    // A connection that is reset is tried again.
    expect(connections).to.be.at.least(1);
    await server.end();
    swank.close();
  });
});

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === "string") throw new Error("It does not listen on a port.");
  return address;
}
