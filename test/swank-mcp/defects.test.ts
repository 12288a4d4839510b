import { expect } from "chai";
import { Refusal, readConfig, ToolServer } from "swank-mcp";
import { McpStdio } from "../support/mcp-stdio.js";

class Broken extends Error {}

function toolServer(error: Error, defects: unknown[]): ToolServer {
  return new ToolServer(
    readConfig([], {}),
    async () => {
      throw error;
    },
    (defect) => defects.push(defect),
  );
}

function call(tools: ToolServer, name = "lisp-status") {
  return tools.call({ name, args: {}, signal: new AbortController().signal, progress: () => {} });
}

describe("ToolServer, on an error that no tool expects", () => {
  it("reports the error itself, with its stack, besides the refusal", async () => {
    const defects: unknown[] = [];
    const error = new Broken("x is not a function");
    const { structured } = await call(toolServer(error, defects));
    expect(structured).to.have.nested.property("error.data.type", "INTERNAL_ERROR");
    expect(structured).to.have.nested.property("error.data.next").that.includes("standard error");
    expect(defects).to.deep.equal([error]);
  });

  it("reports no refusals", async () => {
    const defects: unknown[] = [];
    await call(toolServer(new Refusal("LISP_UNREACHABLE", "It is not there."), defects));
    await call(toolServer(new Broken(), defects), "no-such-tool");
    expect(defects).to.deep.equal([]);
  });
});

describe("swank-mcp, on an error that no tool expects", () => {
  it("writes its stack to standard error, and goes on", async () => {
    const broken =
      "AbortSignal.any = () => { throw new TypeError('any is broken', { cause: new Error('the cause') }); };";
    const server = await McpStdio.start([], {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(broken)}`,
    });
    const { structuredContent } = await server.call("lisp-status");
    expect(structuredContent).to.have.nested.property("error.data.type", "INTERNAL_ERROR");
    expect((await server.call("no-such-tool")).isError).to.equal(true);
    expect((await server.end()).code).to.equal(0);
    expect(server.errorText).to.match(
      /^swank-mcp: defect: TypeError: any is broken\n {4}at [\s\S]*run-tool\.js[\s\S]*Error: the cause\n/,
    );
    expect(server.errorText.match(/defect:/g)).to.have.length(1);
  });
});

describe("swank-mcp, on answers to no question that JSON.stringify cannot write", () => {
  it("goes on, whether they have an id or not", async () => {
    const server = await McpStdio.start();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    for (const id of ["", '"id":7,', '"id":"x",']) server.write(`{"jsonrpc":"2.0",${id}"result":{"deep":${deep}}}\n`);
    expect(await server.request("ping", {})).to.deep.equal({});
    expect((await server.end()).code).to.equal(0);
  });
});
