import { expect } from "chai";
import { ALL_GO_ON, BUSY_THREADS, listThreads } from "../support/listed-threads.js";
import { blocks } from "../support/mcp-results.js";
import { McpStdio } from "../support/mcp-stdio.js";

const COLLECTOR = '(sb-thread:make-thread (lambda () (loop (sleep 0.05) (gc))) :name "collector") nil';

describe("interrupt-thread under garbage collections", function () {
  this.timeout(600_000);

  it("stops and continues sixteen busy threads, again and again", async () => {
    const server = await McpStdio.start();
    try {
      await server.evaluate(BUSY_THREADS);
      await server.evaluate(COLLECTOR);
      for (let round = 0; round < 5; round += 1) {
        const { threads } = await listThreads(server, { name: "busy-" });
        expect(threads).to.have.length(16);
        for (const { id } of threads) {
          const [report] = blocks(await server.call("interrupt-thread", { thread: id, mode: "stop" }));
          expect(report).to.match(/^\[INTERRUPT\] /);
          await server.call("debugger_continue", { thread: String(id) });
        }
      }
      expect(await server.evaluate(ALL_GO_ON)).to.deep.equal(["=> 16"]);
    } finally {
      await server.close();
    }
  });
});
