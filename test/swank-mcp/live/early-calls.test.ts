import { expect } from "chai";
import type { Message } from "../../support/mcp-driver.js";
import { McpStdio } from "../../support/mcp-stdio.js";

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
