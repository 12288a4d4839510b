import { expect } from "chai";
import type { ToolServer } from "swank-mcp";
import { returned } from "../../support/mcp-outcomes.js";
import { scriptedSession, settled } from "../../support/mcp-scripted.js";
import { callTool, closeServer, toolServer } from "../../support/mcp-server.js";

const LOST = /^It was killed\. This answer comes from a new image/;

describe("notices in answers", () => {
  let tools: ToolServer;

  // The first image is lost before the test's call, which gets the second.
  beforeEach(async () => {
    const made = [1, 2].map((pid) =>
      scriptedSession(() => settled(returned(["1"])), {
        pid,
        loss: "It was killed.",
      }),
    );
    const queue = [...made];
    tools = toolServer(async () => {
      const next = queue.shift();
      if (next === undefined) throw new Error("Two images were enough.");
      return next;
    });
    await callTool(tools, "evaluate-lisp", { code: "x" });
    made[0]?.lose();
    await made[0]?.client.closed;
  });
  afterEach(() => closeServer(tools));

  it("are in the JSON and the text of a JSON answer, once", async () => {
    const { blocks, structured } = await callTool(tools, "lisp-status");
    expect(structured?.["notices"]).to.be.an("array").with.lengthOf(1);
    expect(structured?.["notices"]).to.have.nested.property("[0]").that.matches(LOST);
    expect(blocks).to.deep.equal([JSON.stringify(structured)]);
    expect((await callTool(tools, "lisp-status")).structured).to.not.have.property("notices");
  });

  it("wait for the next answer if the call is refused", async () => {
    const refused = await callTool(tools, "breakpoint_set", { function: "f", thread: "nine" });
    expect(refused.structured).to.have.all.keys("error");
    expect((await callTool(tools, "lisp-status")).structured).to.have.property("notices");
  });

  it("are in a separate block of a text answer", async () => {
    const { blocks, structured } = await callTool(tools, "evaluate-lisp", { code: "x" });
    expect(structured).to.equal(undefined);
    expect(blocks).to.have.lengthOf(2);
    expect(blocks[1]).to.match(LOST);
  });
});
