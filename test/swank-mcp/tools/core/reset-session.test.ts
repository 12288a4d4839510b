import { expect } from "chai";
import { SwankError } from "swank-client";
import type { ToolAnswer, ToolServer } from "swank-mcp";
import { NO_ERROR } from "#swank-mcp/report/stop.js";
import { lispSession } from "#swank-mcp/session/image.js";
import { frames, restarts, SILENT, snapshot } from "../../../support/mcp-outcomes.js";
import { type ScriptedOutcome, scriptedSession, settled } from "../../../support/mcp-scripted.js";
import { closeServer, toolServer } from "../../../support/mcp-server.js";
import { only } from "../../../support/only.js";

const FAILED: ScriptedOutcome = {
  ...SILENT,
  status: "aborted",
  error: snapshot({ type: "OLD-ERROR", restarts: restarts("ABORT - Out"), frames: frames("(F)") }),
};

async function call(tools: ToolServer, name: string, args: object = {}): Promise<ToolAnswer> {
  return tools.call({ name, args, signal: new AbortController().signal, progress: () => {} });
}

describe("reset-session", () => {
  it("keeps the last error if the reset fails in the image", async () => {
    const parts = scriptedSession(() => settled(FAILED));
    const session = lispSession({
      client: only("client", {
        ...parts.client,
        reset: () => Promise.reject(new SwankError("REQUEST_TIMEOUT", "No reply.")),
      }),
      origin: { kind: "attached", address: "127.0.0.1:4005" },
      identity: "1",
      directory: async () => "/",
      explainLoss: async () => "",
      close: async () => {},
    });
    const tools = toolServer(async () => session);
    await call(tools, "evaluate-lisp", { code: "x" });
    const told = await call(tools, "describe-last-error");
    const refusal = await call(tools, "reset-session");
    expect(refusal.isError).to.equal(true);
    expect(refusal.structured).to.have.nested.property("error.data.type", "REQUEST_TIMEOUT");
    expect(await call(tools, "describe-last-error")).to.deep.equal(told);
    await closeServer(tools);
  });

  it("forgets the last error with the image, even if no new image starts", async () => {
    const session = scriptedSession(() => settled(FAILED));
    let launches = 0;
    const tools = toolServer(async () => {
      launches += 1;
      if (launches === 2) throw new SwankError("LAUNCH_FAILED", "No memory.");
      return session;
    });
    await call(tools, "evaluate-lisp", { code: "x" });
    const refusal = await call(tools, "reset-session");
    expect(refusal.structured).to.have.nested.property("error.data.type", "LAUNCH_FAILED");
    expect(session.isClosed()).to.equal(true);
    expect((await call(tools, "describe-last-error")).blocks).to.deep.equal([NO_ERROR]);
    expect((await call(tools, "reset-session")).blocks).to.deep.equal(["Session reset. No image was in use."]);
    await closeServer(tools);
  });

  it("says why there is no image", async () => {
    const sessions = [1, 2].map((pid) => scriptedSession(() => settled(FAILED), { pid, loss: "It was killed." }));
    const queue = [...sessions];
    const tools = toolServer(async () => {
      const session = queue.shift();
      if (session === undefined) throw new Error("Two images were enough.");
      return session;
    });
    await call(tools, "evaluate-lisp", { code: "x" });
    sessions[0]?.lose();
    await sessions[0]?.client.closed;
    const gone = "Session reset. It was killed. The next call that needs an image launches a fresh one.";
    expect((await call(tools, "reset-session")).blocks).to.deep.equal([gone]);
    expect((await call(tools, "reset-session")).blocks).to.deep.equal([gone]);
    expect((await call(tools, "describe-last-error")).blocks).to.deep.equal([NO_ERROR]);
    expect((await call(tools, "lisp-status")).structured)
      .to.have.nested.property("notices[0]")
      .that.matches(/^It was killed\. This answer comes from a new image/);
    await closeServer(tools);
  });

  it("does not report a loss that it caused", async () => {
    const sessions = [1, 2].map((pid) => scriptedSession(() => settled(FAILED), { pid }));
    const queue = [...sessions];
    const tools = toolServer(async () => {
      const session = queue.shift();
      // its connection ends before the new one is there
      if (queue.length === 0) sessions[0]?.lose();
      if (session === undefined) throw new Error("Two images were enough.");
      return session;
    });
    await call(tools, "evaluate-lisp", { code: "x" });
    expect((await call(tools, "reset-session")).blocks).to.deep.equal([
      "Session reset. A fresh image (pid 2) has replaced the old one.",
    ]);
    expect((await call(tools, "lisp-status")).structured).to.include({ pid: 2 });
    await closeServer(tools);
  });
});
