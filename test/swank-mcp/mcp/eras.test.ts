import { expect } from "chai";
import { INSTRUCTIONS } from "#swank-mcp/mcp/instructions.js";
import { NO_ERROR } from "#swank-mcp/report/stop.js";
import { connectInProcess } from "../../support/mcp-client.js";
import { McpInProcess } from "../../support/mcp-in-process.js";
import { toolServer } from "../../support/mcp-server.js";

const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "old", version: "0" },
};

describe("a connection with protocol revision 2026-07-28, without Lisp", () => {
  let peer: McpInProcess;
  let attempts = 0;

  beforeEach(() => {
    attempts = 0;
    peer = McpInProcess.modern(
      toolServer(() => {
        attempts += 1;
        return Promise.reject(new Error("no Lisp here"));
      }),
    );
  });
  afterEach(() => peer.close());

  it("receives the server's description, and how long to cache it", async () => {
    const result = await peer.request("server/discover");
    expect(result).to.deep.include({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: {
        tools: {},
        resources: { subscribe: true },
        prompts: {},
        extensions: { "io.modelcontextprotocol/skills": {} },
      },
      instructions: INSTRUCTIONS,
      ttlMs: 3_600_000,
      cacheScope: "private",
    });
    expect(result).to.have.nested.property("_meta.io\\.modelcontextprotocol/serverInfo.name", "swank-mcp");
  });

  it("lists the same tools as older clients, always in the same order", async () => {
    const older = await connectInProcess(() => Promise.reject(new Error("no Lisp here")));
    const { tools } = await older.client.listTools();
    await older.close();
    for (let times = 0; times < 2; times += 1) {
      const result = await peer.request("tools/list");
      expect(result).to.deep.include({ tools, ttlMs: 3_600_000, cacheScope: "private" });
    }
  });

  it("opens no Lisp for server/discover and tools/list", async () => {
    await peer.request("server/discover");
    await peer.request("tools/list");
    expect(attempts).to.equal(0);
    await peer.finish("lisp-status", {});
    expect(attempts).to.equal(1);
  });

  it("receives refusals, not protocol errors, for malformed calls", async () => {
    const unknown = await peer.finish("evaluate_lisp", { code: "1" });
    expect(unknown.content[0]?.text).to.equal('There is no tool "evaluate_lisp".\nDid you mean evaluate-lisp?');
    for (const params of [{}, { name: 5 }, { name: "get-backtrace", arguments: [1] }]) {
      const result = await peer.request("tools/call", params);
      expect(result, JSON.stringify(params)).to.have.nested.property(
        "structuredContent.error.data.type",
        "INVALID_ARGUMENTS",
      );
    }
  });

  it("can switch to an older revision after server/discover", async () => {
    await peer.request("server/discover");
    const { result } = await peer.exchange("initialize", INITIALIZE);
    expect(result).to.deep.include({ protocolVersion: "2025-11-25", instructions: INSTRUCTIONS });
    const listed = await peer.exchange("tools/list", {});
    expect(listed.result).to.have.property("tools").that.has.length.above(10);
  });

  it("is refused a request of another revision, also after its first call", async () => {
    await peer.request("tools/list");
    for (const method of ["tools/list", "tools/call"]) {
      const _meta = { "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
      const request = peer.inRevision({ name: "get-backtrace", arguments: {}, _meta });
      expect((await peer.exchange(method, request)).error).to.deep.include({
        code: -32022,
        data: { supported: ["2026-07-28"], requested: "2099-01-01" },
      });
    }
  });

  it("keeps the revision of its first call", async () => {
    await peer.request("tools/list");
    expect((await peer.exchange("initialize", INITIALIZE)).error).to.have.property("code", -32022);
    expect((await peer.exchange("ping", peer.inRevision({}))).error).to.have.property("code", -32601);
    expect((await peer.exchange("tools/list", {})).error).to.have.property("code", -32602);
  });
});

describe("a request of a wrong shape", () => {
  let peer: McpInProcess;
  beforeEach(() => {
    peer = McpInProcess.modern(toolServer(() => Promise.reject(new Error("no Lisp here"))));
  });
  afterEach(() => peer.close());

  it("is refused with what is wrong, and the connection goes on", async () => {
    const wrong = { ...INITIALIZE, protocolVersion: 5, capabilities: undefined };
    expect((await peer.exchange("initialize", wrong)).error).to.deep.equal({
      code: -32602,
      message:
        "Invalid params: params.protocolVersion: expected string, received number; " +
        "params.capabilities: expected object, received undefined.",
    });
    expect((await peer.exchange("initialize", INITIALIZE)).result).to.have.property("protocolVersion", "2025-11-25");
  });

  it("is refused with the missing key if it is server/discover, and the client can ask again", async () => {
    for (const params of [{}, { _meta: {} }]) {
      const { error } = await peer.exchange("server/discover", params);
      expect(error).to.have.property("code", -32602);
      expect(error?.message).to.include('needs the key "io.modelcontextprotocol/protocolVersion" in params._meta');
    }
    expect(await peer.request("server/discover")).to.have.property("supportedVersions");
  });
});

describe("a host that sends null and texts for other types", () => {
  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    it(`is understood in revision ${revision}`, async () => {
      const peer = new McpInProcess(
        toolServer(() => Promise.reject(new Error("no Lisp here"))),
        { revision },
      );
      if (revision === "2025-11-25") {
        const initialize = { ...INITIALIZE, capabilities: null, _meta: null };
        expect((await peer.exchange("initialize", initialize)).result).to.have.property("protocolVersion", revision);
        peer.send({ id: null, method: "notifications/initialized", params: null });
      }
      const calls: readonly (readonly [name: string, args: unknown])[] = [
        ["get-backtrace", null],
        ["get-backtrace", []],
        ["get-backtrace", ""],
        ["get-backtrace", '{"max_frames": "5"}'],
        ["get-backtrace", { arguments: { maxFrames: " 5.0 " } }],
      ];
      for (const [name, args] of calls) {
        const capabilities = { "io.modelcontextprotocol/clientCapabilities": null, progressToken: null };
        const params = peer.inRevision({ name, arguments: args, _meta: capabilities });
        const { result, error } = await peer.exchange("tools/call", params);
        expect(error, JSON.stringify(args)).to.equal(undefined);
        expect(result, JSON.stringify(args)).to.have.nested.property("content[0].text", NO_ERROR);
      }
      await peer.close();
    });
  }
});

describe("two simultaneous connections to one process", () => {
  it("share its tools, and one can end without the other", async () => {
    const tools = toolServer(() => Promise.reject(new Error("no Lisp here")));
    const [probe, user] = [McpInProcess.modern(tools), McpInProcess.modern(tools)];
    await probe.request("server/discover");
    await user.exchange("initialize", INITIALIZE);
    await probe.close();
    const { result } = await user.exchange("tools/call", { name: "get-backtrace", arguments: {} });
    expect(result).to.have.property("isError", false);
    await user.close();
  });
});
