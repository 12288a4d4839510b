import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { McpStdio } from "../../support/mcp-stdio.js";

const METHOD = "notifications/claude/channel";

function events({ notifications }: McpStdio) {
  return notifications.filter(({ method }) => method === METHOD).map(({ params }) => params);
}

async function eventsOf(client: McpStdio, count: number) {
  while (events(client).length < count) await setTimeout(50);
  // Nothing comes twice.
  await setTimeout(1500);
  return events(client);
}

const THREAD = '(progn (sb-thread:make-thread (lambda () (error "Nobody waits.")) :name "apart") :begun)';

for (const revision of ["2025-11-25", "2026-07-28"] as const)
  describe(`--channel in revision ${revision}`, () => {
    let client: McpStdio;
    before(async function () {
      this.timeout(600_000);
      client = new McpStdio(["--channel"], { revision });
      if (revision === "2025-11-25") await client.initialize();
    });
    after(() => client.close());

    it("sends each stop of a background thread and of a background evaluation once, and no other", async () => {
      await client.evaluate('(error "An answer reports this.")');
      await client.evaluate(THREAD);
      const [stop, ...none] = await eventsOf(client, 1);
      expect(none).to.deep.equal([]);
      expect(stop).to.have.nested.property("meta.type", "SIMPLE-ERROR");
      expect(stop?.["content"]).to.match(
        /^Thread \d+, started by your code, stopped with SIMPLE-ERROR: Nobody waits\. To look at it, call debugger_frames with thread "\d+\/1"\.$/,
      );
      await client.evaluate('(progn (sleep 0.6) (error "In the background."))', { background: true });
      const [, background, ...others] = await eventsOf(client, 2);
      expect(others).to.deep.equal([]);
      expect(background?.["content"]).to.match(
        /^Background evaluation 1 has stopped: SIMPLE-ERROR: In the background\./,
      );
    });
  });

describe("a server without --channel", () => {
  it("neither declares a channel nor sends anything", async () => {
    const client = await McpStdio.start();
    await client.evaluate(THREAD);
    await setTimeout(2500);
    expect(events(client)).to.deep.equal([]);
    await client.close();
  }).timeout(600_000);
});
