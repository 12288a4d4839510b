import { expect } from "chai";
import { attachedOrigin, LispSession, readConfig, ToolServer } from "swank-mcp";
import { SILENT } from "../support/mcp-outcomes.js";
import { scriptedSession, settled } from "../support/mcp-scripted.js";

const FAR = { port: 4005, isLoopback: false };
const WARNING =
  "The connection to lisp.example:4005 is not encrypted, and whoever can reach that port can run anything in the Lisp. Safer: have its Swank listen on its own machine only, forward its port, ssh -N -L 4005:127.0.0.1:4005 lisp.example, and start swank-mcp with --attach 4005.";

describe("an attached image", () => {
  it("is named by its address, without a warning when the connection stays on the machine", () => {
    const peer = { port: 4005, isLoopback: true };
    for (const [host, address] of [
      ["127.0.0.1", "127.0.0.1:4005"],
      ["::1", "[::1]:4005"],
    ] as const) {
      expect(attachedOrigin({ host, port: 4005 }, peer)).to.deep.equal({ kind: "attached", address });
    }
  });

  it("comes with a warning when the connection leaves the machine: once with an answer, always in lisp-status", async () => {
    const origin = attachedOrigin({ host: "lisp.example", port: 4005 }, FAR);
    expect(origin).to.deep.equal({ kind: "attached", address: "lisp.example:4005", warning: WARNING });
    const { client } = scriptedSession(() => settled({ ...SILENT, status: "returned", values: ["3"], valueCount: 1 }));
    const session = new LispSession({
      client,
      origin,
      remarks: [WARNING],
      identity: "1",
      directory: async () => "/",
      explainLoss: async () => "",
      close: async () => {},
    });
    const tools = new ToolServer(readConfig([], {}), async () => session);
    const call = (name: string, args: object) =>
      tools.call({ name, args, signal: new AbortController().signal, progress: () => {} });
    expect((await call("evaluate-lisp", { code: "(+ 1 2)" })).blocks).to.deep.equal(["=> 3", WARNING]);
    expect((await call("evaluate-lisp", { code: "(+ 1 2)" })).blocks).to.deep.equal(["=> 3"]);
    expect((await call("lisp-status", {})).structured).to.include({ address: "lisp.example:4005", warning: WARNING });
    await tools.close();
  });
});
