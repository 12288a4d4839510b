import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { evaluation, scriptedSession } from "../../support/mcp-scripted.js";
import { closeServer, toolServer } from "../../support/mcp-server.js";

/** Collects garbage, which takes a flag that only new contexts see. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

describe("ToolServer", () => {
  it("keeps no answer alive after returning it", async () => {
    const tools = toolServer(async () => scriptedSession(() => evaluation({})));
    const answers: WeakRef<object>[] = [];
    for (let index = 0; index < 20; index += 1) {
      const signal = new AbortController().signal;
      answers.push(new WeakRef(await tools.call({ name: "no-tool", args: {}, signal, progress: () => {} })));
    }
    // A WeakRef keeps its object until the end of the turn.
    await setImmediate();
    collectGarbage();
    // The last one may still be on the stack.
    expect(answers.slice(0, -1).filter((answer) => answer.deref() !== undefined)).to.deep.equal([]);
    await closeServer(tools);
  });
});
