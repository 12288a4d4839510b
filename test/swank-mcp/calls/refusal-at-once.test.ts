import { expect } from "chai";
import { closeServer, toolServer } from "../../support/mcp-server.js";

describe("ToolServer during a launch", () => {
  it("refuses wrong arguments at once", async () => {
    let fail = (_: Error) => {};
    const launching = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const tools = toolServer(() => launching);
    const call = (name: string, args: object) =>
      tools.call({ name, args, signal: new AbortController().signal, progress: () => {} });
    const waiting = call("lisp-status", {});
    const { structured } = await call("debugger_frames", { thread: "bogus" });
    expect(structured).to.have.nested.property("error.data.type", "INVALID_ARGUMENTS");
    fail(new Error("the launch failed"));
    expect((await waiting).isError).to.equal(true);
    await closeServer(tools);
  });
});
