import { expect } from "chai";
import { ALL_GO_ON, BUSY_THREADS, listThreads } from "../support/listed-threads.js";
import { blocks } from "../support/mcp-results.js";
import { McpStdio } from "../support/mcp-stdio.js";
import { encapsulated, PROFILER_OFF } from "../support/watched-functions.js";

/** Minutes for which the tools are called in turn. */
const MINUTES = Number(process.env["SOAK_MINUTES"] ?? 3);

const OBJECTS = `
(defstruct item number next)
(defvar *items* (let ((items (make-array 1000000))) (dotimes (i 1000000 items) (setf (aref items i) (make-item :number i)))))
(sb-thread:make-thread (lambda () (loop (sleep 0.05) (gc))) :name "collector")
nil`;

/** A call of each tool of the family, in turn. */
const CALLS = [
  ["list-threads", { stacks: 5 }],
  ["trace-calls", { functions: ["work"], seconds: 0.2 }],
  ["trace-calls", { functions: ["work"], code: "(work 1)" }],
  ["profile-code", { seconds: 0.2 }],
  ["profile-code", { seconds: 0.2, mode: "alloc" }],
  ["profile-code", { seconds: 0.2, mode: "calls", functions: ["work"] }],
  ["profile-code", { code: "(dotimes (i 100) (work i))", mode: "calls", functions: ["work"] }],
  ["heap", { mode: "summary" }],
  ["heap", { mode: "path", object: "(aref *items* 777777)" }],
  ["inspect-object", { object: "*items*", start: 999_990, depth: 2 }],
] as const;

describe("the tools of the family runtime under load", function () {
  this.timeout(MINUTES * 60_000 + 600_000);

  it("watch sixteen busy threads and a million objects again and again, and leave nothing on", async () => {
    const server = await McpStdio.start();
    try {
      await server.evaluate(OBJECTS);
      await server.evaluate(BUSY_THREADS);
      const end = Date.now() + MINUTES * 60_000;
      while (Date.now() < end) {
        for (const [tool, args] of CALLS) {
          const answer = await server.call(tool, { ...args });
          expect(answer.isError, `${tool} ${JSON.stringify(args)}: ${blocks(answer).join("\n")}`).to.equal(false);
        }
        const { threads } = await listThreads(server, { name: "busy-" });
        const [first] = threads;
        await server.call("interrupt-thread", { thread: first?.id ?? 0, mode: "stop" });
        await server.call("debugger_continue", { thread: String(first?.id ?? 0) });
        expect(await server.evaluate(encapsulated(["work"]))).to.deep.equal(["=> 0"]);
        expect(await server.evaluate(PROFILER_OFF)).to.deep.equal(["=> T"]);
        expect(threads).to.have.length(16);
      }
      expect(await server.evaluate(ALL_GO_ON)).to.deep.equal(["=> 16"]);
    } finally {
      await server.close();
    }
  });
});
