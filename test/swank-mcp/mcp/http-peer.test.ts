import { expect } from "chai";
import type { ToolServer } from "swank-mcp";
import { SessionPeer } from "#swank-mcp/mcp/http-peer.js";
import { closeServer, toolServer } from "../../support/mcp-server.js";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: { form: {} } },
    clientInfo: { name: "test", version: "0" },
  },
} as const;

const ADDRESS = "http://127.0.0.1/mcp";

describe("a session with an HTTP client, without Lisp", () => {
  const accept = "application/json, text/event-stream";
  let tools: ToolServer;
  let peer: SessionPeer;

  before(async () => {
    tools = toolServer(() => Promise.reject(new Error("no Lisp here")));
    const request = new Request(ADDRESS, { method: "POST", headers: { accept, "content-type": "application/json" } });
    const events = { onError: () => {}, onClient: () => {}, onList: () => {} };
    peer = await SessionPeer.begin(tools, events, { id: "the session", request, onEnd: () => {} });
    await (await peer.answer(request, INITIALIZE)).text();
  });
  after(async () => {
    await peer.close();
    await closeServer(tools);
  });

  const listen = (signal: AbortSignal) =>
    peer.answer(
      new Request(ADDRESS, {
        headers: { accept: "text/event-stream", "mcp-session-id": "the session", "mcp-protocol-version": "2025-11-25" },
        signal,
      }),
      undefined,
    );

  it("refuses a second stream, whose end leaves the first one open", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const stream = await listen(first.signal);
    expect(stream.status).to.equal(200);
    expect((await listen(second.signal)).status).to.equal(409);
    second.abort();
    expect(tools.agent.askUser).to.be.a("function");
    expect((await listen(AbortSignal.abort())).status).to.equal(409);
    expect(tools.agent.askUser).to.be.a("function");
    first.abort();
    expect(tools.agent.askUser).to.equal(undefined);
    await stream.text();
    const next = await listen(new AbortController().signal);
    expect(next.status).to.equal(200);
    expect(tools.agent.askUser).to.be.a("function");
  });
});
