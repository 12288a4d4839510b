import { expect } from "chai";
import type { ToolServer } from "swank-mcp";
import { returned } from "../../support/mcp-outcomes.js";
import { scriptedSession, settled } from "../../support/mcp-scripted.js";
import { closeServer, toolServer } from "../../support/mcp-server.js";

function server(open: () => ReturnType<typeof scriptedSession>): ToolServer {
  return toolServer(async () => open(), ["console"]);
}

function evaluate(tools: ToolServer): Promise<unknown> {
  const { signal } = new AbortController();
  return tools.call({ name: "evaluate-lisp", args: { code: "1" }, signal, progress: () => {} });
}

describe("AgentSession.place", () => {
  it("is undefined without an image, and launches none", async () => {
    const tools = server(() => {
      throw new Error("Nothing was to be launched.");
    });
    expect(await tools.agent.place()).to.equal(undefined);
    expect(await tools.agent.complete("ca")).to.deep.equal([]);
  });

  it("follows the package; complete returns nothing if Lisp cannot complete", async () => {
    const tools = server(() => scriptedSession(() => settled({ ...returned(["1"]), package: "ZOO" })));
    await evaluate(tools);
    expect(await tools.agent.place()).to.deep.equal({ packageName: "ZOO", stops: [] });
    expect(await tools.agent.complete("ca")).to.deep.equal([]);
    await closeServer(tools);
  });

  it("is undefined after the image is lost", async () => {
    const session = scriptedSession(() => settled(returned(["1"])));
    const tools = server(() => session);
    await evaluate(tools);
    session.lose();
    await session.client.closed;
    expect(await tools.agent.place()).to.equal(undefined);
    await closeServer(tools);
  });
});
