import { expect } from "chai";
import { readConfig, ToolServer } from "swank-mcp";
import { returned } from "../../support/mcp-outcomes.js";
import { scriptedSession, settled } from "../../support/mcp-scripted.js";

function server(open: () => ReturnType<typeof scriptedSession>): ToolServer {
  return new ToolServer(readConfig(["console"], {}), async () => open());
}

function evaluate(tools: ToolServer): Promise<unknown> {
  const { signal } = new AbortController();
  return tools.call({ name: "evaluate-lisp", args: { code: "1" }, signal, progress: () => {} });
}

describe("what the console knows of where it is", () => {
  it("is nothing before there is an image, and none is launched for it", async () => {
    const tools = server(() => {
      throw new Error("Nothing was to be launched.");
    });
    expect(await tools.place()).to.equal(undefined);
    expect(await tools.complete("ca")).to.deep.equal([]);
  });

  it("follows the package, and is told nothing where Lisp cannot complete", async () => {
    const tools = server(() => scriptedSession(() => settled({ ...returned(["1"]), package: "ZOO" })));
    await evaluate(tools);
    expect(await tools.place()).to.deep.equal({ packageName: "ZOO", stops: [] });
    expect(await tools.complete("ca")).to.deep.equal([]);
    await tools.close();
  });

  it("is nothing again when the image is gone", async () => {
    const session = scriptedSession(() => settled(returned(["1"])));
    const tools = server(() => session);
    await evaluate(tools);
    session.lose();
    await session.client.closed;
    expect(await tools.place()).to.equal(undefined);
    await tools.close();
  });
});
