import { expect } from "chai";
import { lispSession } from "#swank-mcp/session/image.js";
import { attachedOrigin } from "#swank-mcp/session/open-image.js";
import { returned } from "../../support/mcp-outcomes.js";
import { scriptedSession, settled } from "../../support/mcp-scripted.js";
import { closeServer, toolServer } from "../../support/mcp-server.js";

const FAR = { port: 4005, isLoopback: false };
const WARNING =
  "The connection to lisp.example:4005 is not encrypted, and anyone who can reach that port can run any code in the Lisp. Safer: let its Swank listen only on its own machine, forward its port, ssh -N -L 4005:127.0.0.1:4005 lisp.example, and start swank-mcp with --attach 4005.";

describe("attachedOrigin", () => {
  it("has the address, and no warning for a connection within the machine", () => {
    const peer = { port: 4005, isLoopback: true };
    for (const [host, address] of [
      ["127.0.0.1", "127.0.0.1:4005"],
      ["::1", "[::1]:4005"],
    ] as const) {
      expect(attachedOrigin({ host, port: 4005 }, peer)).to.deep.equal({ kind: "attached", address });
    }
  });

  it("warns about a connection that leaves the machine: once in an answer, always in lisp-status", async () => {
    const origin = attachedOrigin({ host: "lisp.example", port: 4005 }, FAR);
    expect(origin).to.deep.equal({ kind: "attached", address: "lisp.example:4005", warning: WARNING });
    const { client } = scriptedSession(() => settled(returned(["3"])));
    const session = lispSession({
      client,
      origin,
      remarks: [WARNING],
      identity: "1",
      directory: async () => "/",
      explainLoss: async () => "",
      close: async () => {},
    });
    const tools = toolServer(async () => session);
    const call = (name: string, args: object) =>
      tools.call({ name, args, signal: new AbortController().signal, progress: () => {} });
    expect((await call("evaluate-lisp", { code: "(+ 1 2)" })).blocks).to.deep.equal(["=> 3", WARNING]);
    expect((await call("evaluate-lisp", { code: "(+ 1 2)" })).blocks).to.deep.equal(["=> 3"]);
    const { structured } = await call("lisp-status", {});
    expect(structured).to.include({ address: "lisp.example:4005", warning: WARNING });
    expect(structured?.["process_output"]).to.match(/^not seen here: /);
    await closeServer(tools);
  });
});
