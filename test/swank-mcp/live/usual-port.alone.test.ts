import { createServer } from "node:net";
import { expect } from "chai";
import { McpStdio } from "../../support/mcp-stdio.js";

// Runs alone: the machine has only one such port, and other servers would report it, too.
if (process.platform === "linux") {
  describe("swank-mcp on a machine with a Swank on the usual port", () => {
    it("reports it without connecting to it", async () => {
      const connections: unknown[] = [];
      const listener = createServer((socket) => connections.push(socket));
      const tried = new Promise((resolve) => listener.once("listening", resolve).once("error", resolve));
      listener.listen(4005, "127.0.0.1");
      // If the port is in use, it already has a listener.
      await tried;
      const server = await McpStdio.start();
      try {
        const { structuredContent } = await server.call("lisp-status");
        expect(structuredContent?.["hint"]).to.match(/port 4005.*--attach 4005\.$/);
        expect(connections).to.deep.equal([]);
      } finally {
        await server.end();
        listener.close();
      }
    });
  });
}
