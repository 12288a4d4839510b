import { expect } from "chai";
import * as z from "zod";
import { McpStdio } from "../../support/mcp-stdio.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

const status = z.looseObject({
  running: z
    .array(
      z.strictObject({
        agent: z.string(),
        mine: z.boolean().optional(),
        thread: z.number().optional(),
        operation: z.string().optional(),
        code: z.string(),
        since: z.iso.datetime(),
        state: z.string().optional(),
      }),
    )
    .default([]),
});

/** What lisp-status says that agents run, once that is so much. */
async function running(server: McpStdio, count: number) {
  for (;;) {
    const found = status.parse((await server.call("lisp-status")).structuredContent).running;
    // An evaluation that begins has no thread yet.
    if (found.length === count && found.every(({ thread }) => thread !== undefined))
      return found.map(({ since, thread, ...rest }) => ({
        ...rest,
        ...(typeof thread === "number" && { in: "a thread" }),
      }));
  }
}

const WAIT = "(loop until (boundp 'cl-user::*go-on*)\n  do (sleep 0.01))";
const FIRST_LINE = "(loop until (boundp 'cl-user::*go-on*)";

describe("lisp-status: what runs now", function () {
  this.timeout(300_000);

  it("lists the code of each agent of an attached image, and nothing when it has ended", async () => {
    const lisp: RealSwank = await startRealSwank();
    const servers = await Promise.all(
      [1, 2, 3].map(() => McpStdio.start(["--attach", String(lisp.port), "--foreign-errors", "theirs"])),
    );
    try {
      const [one, two, watching] = servers;
      if (one === undefined || two === undefined || watching === undefined) throw new Error("no servers");
      await one.evaluate("1");
      await two.evaluate('(error "stopped")');
      const waiting = one.evaluate(WAIT);
      const call = { agent: "test", code: FIRST_LINE };
      expect(await running(one, 2)).to.deep.equal([
        { ...call, mine: true, in: "a thread" },
        { agent: "test 2", code: '(error "stopped")', state: "stopped", in: "a thread" },
      ]);
      // It has evaluated nothing, so that it has no name in the record.
      expect(await running(watching, 2)).to.deep.equal([
        { agent: "test 2", code: '(error "stopped")', state: "stopped", in: "a thread" },
        { ...call, in: "a thread" },
      ]);
      expect(await running(two, 1)).to.deep.equal([{ ...call, in: "a thread" }]);
      await two.evaluate("(defvar *go-on* t)");
      await waiting;
      expect(await running(one, 1)).to.have.length(1);
      await two.call("debugger_invoke_restart", { restart: "ABORT" });
      expect(await running(one, 0)).to.deep.equal([]);
    } finally {
      for (const server of servers) await server.close();
      await lisp.stop();
    }
  });

  it("lists the code of the agent of a launched image, which nobody records", async () => {
    const server = await McpStdio.start([]);
    try {
      await server.evaluate("1");
      const waiting = server.evaluate(WAIT);
      expect(await running(server, 1)).to.deep.equal([{ agent: "test", mine: true, code: FIRST_LINE, in: "a thread" }]);
      await server.evaluate("(defvar *go-on* t)");
      await waiting;
      expect(await running(server, 0)).to.deep.equal([]);
    } finally {
      await server.close();
    }
  });
});
