import { expect } from "chai";
import { Refusal, type ToolServer } from "swank-mcp";
import { brokenCall } from "../../support/broken-call.js";
import { toolServer } from "../../support/mcp-server.js";
import { McpStdio } from "../../support/mcp-stdio.js";

class Broken extends Error {}

function failing(error: Error, defects: unknown[]): ToolServer {
  return toolServer(
    async () => {
      throw error;
    },
    [],
    { onDefect: (defect) => defects.push(defect) },
  );
}

function call(tools: ToolServer, name = "lisp-status") {
  return tools.call({ name, args: {}, signal: new AbortController().signal, progress: () => {} });
}

describe("ToolServer on a defect", () => {
  it("reports the error with its stack in addition to the refusal", async () => {
    const defects: unknown[] = [];
    const error = new Broken("x is not a function");
    const { structured } = await call(failing(error, defects));
    expect(structured).to.have.nested.property("error.data.type", "INTERNAL_ERROR");
    expect(structured).to.have.nested.property("error.data.next").that.includes("standard error");
    expect(defects).to.deep.equal([error]);
  });

  it("does not report refusals", async () => {
    const defects: unknown[] = [];
    await call(failing(new Refusal("LISP_UNREACHABLE", "It is not there."), defects));
    await call(failing(new Broken(), defects), "no-such-tool");
    expect(defects).to.deep.equal([]);
  });
});

describe("swank-mcp on a defect", () => {
  it("writes the stack to standard error and keeps serving", async () => {
    const server = await McpStdio.start([], brokenCall());
    const { structuredContent } = await server.call("lisp-status");
    expect(structuredContent).to.have.nested.property("error.data.type", "INTERNAL_ERROR");
    expect((await server.call("no-such-tool")).isError).to.equal(true);
    expect((await server.end()).code).to.equal(0);
    expect(server.errorText).to.match(
      /^swank-mcp: defect: TypeError: find is broken\n {4}at [\s\S]*swank-mcp\.cjs[\s\S]*Error: the cause\n/,
    );
    expect(server.errorText.match(/defect:/g)).to.have.length(1);
  });
});

describe("swank-mcp on stray responses that JSON.stringify cannot write", () => {
  it("keeps serving, with or without an id", async () => {
    const server = await McpStdio.start();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    for (const id of ["", '"id":7,', '"id":"x",']) server.write(`{"jsonrpc":"2.0",${id}"result":{"deep":${deep}}}\n`);
    expect(await server.request("ping", {})).to.deep.equal({});
    expect((await server.end()).code).to.equal(0);
  });
});
