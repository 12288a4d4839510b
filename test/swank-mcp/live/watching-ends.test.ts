import { setTimeout as pause } from "node:timers/promises";
import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import { McpDebugger } from "../../support/mcp-debugger.js";
import { blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";
import { NOTHING_WATCHES, SHOP, SHOP_GOES_ON } from "../../support/watched-functions.js";

const METHOD = "(method shop::act (integer))";

/** Everything that is switched on in the image while it watches the program: the tool, and arguments that say what. */
const WATCHES = [
  { title: "trace-calls", tool: "trace-calls", what: { functions: [METHOD, "shop::work"], limit: 100_000 } },
  {
    title: "profile-code, counting calls,",
    tool: "profile-code",
    what: { mode: "calls", package: "shop", functions: [METHOD] },
  },
  { title: "profile-code", tool: "profile-code", what: {} },
] as const;

/** Slow enough that a trace does not end at its limit. */
const ENDLESS = "(loop (shop::work 3))";

/** Threads that the runtime or Swank starts to do something for a client and then end, besides the one that asks. */
const BUSY_FOR_CLIENTS = `
  (remove-if-not (lambda (name) (member name '("worker" "swank-client trace" "swank-client dispatch" "swank-client clean-up") :test #'equal))
                 (mapcar #'sb-thread:thread-name (remove sb-thread:*current-thread* (sb-thread:list-all-threads))))`;

describe("what watches a program of an attached image", function () {
  this.timeout(300_000);
  let image: RealSwank;
  let watcher: McpStdio;
  const opened: McpStdio[] = [];

  // Every test leaves nothing on, so that they share an image, which the last one ends.
  before(async () => {
    image = await startRealSwank();
    watcher = await McpStdio.start(attached());
    // At the image's own prompt: the program is not the agent's.
    image.type(SHOP.replaceAll("\n", " "));
    await watcher.evaluate("(loop until (find-package :shop) do (sleep 0.01))");
    await watcher.evaluate(
      '(loop until (let ((rounds (find-symbol "*ROUNDS*" "SHOP"))) (and rounds (boundp rounds) (every #\'plusp (symbol-value rounds)))) do (sleep 0.01))',
    );
  });
  afterEach(async () => {
    for (const server of opened.splice(0)) await server.close();
  });
  after(async () => {
    await image.stop();
    await watcher.close();
  });

  const attached = () => ["--attach", String(image.port), "--approval", "off"];

  async function attach(...args: readonly string[]): Promise<McpStdio> {
    const server = await McpStdio.start([...attached(), ...args]);
    opened.push(server);
    return server;
  }

  const untilOn = async () => {
    while ((await watcher.evaluate(NOTHING_WATCHES))[0] === "=> T") await pause(20);
  };

  /** Nothing is switched on, the threads of the program run on, and no other thread is left. */
  async function expectOff(): Promise<void> {
    while ((await watcher.evaluate(NOTHING_WATCHES))[0] !== "=> T") await pause(20);
    expect(await watcher.evaluate(SHOP_GOES_ON)).to.deep.equal(["=> :ON"]);
    while ((await watcher.evaluate(BUSY_FOR_CLIENTS))[0] !== "=> NIL") await pause(20);
  }

  for (const { title, tool, what } of WATCHES) {
    const seconds = { seconds: 3600 };

    it(`${title} of code is off when the call is cancelled`, async () => {
      const agent = await attach();
      const call = agent.startCall(tool, { ...what, code: ENDLESS });
      call.result.catch(() => undefined);
      await untilOn();
      agent.cancel(call.id);
      await expectOff();
      expect(await agent.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
    });

    it(`${title} is off at the timeout, which shows what was found until then, and after reset-session`, async () => {
      const agent = await attach();
      const answer = blocks(await agent.call(tool, { ...what, ...seconds, timeout: 0.5 })).join("\n");
      expect(answer)
        .to.include("[TIMEOUT]")
        .and.include(tool === "trace-calls" ? "Recording took" : " real, ");
      await agent.call("debugger_invoke_restart", { restart: "ABORT" });
      await expectOff();
      const call = agent.startCall(tool, { ...what, ...seconds });
      await untilOn();
      await agent.call("reset-session");
      await call.result;
      await expectOff();
    });

    it(`${title} is off when the server is killed, whether it watches code or other threads`, async () => {
      for (const source of [{ code: ENDLESS }, seconds]) {
        const agent = await attach();
        agent.startCall(tool, { ...what, ...source }).result.catch(() => undefined);
        await untilOn();
        agent.process.kill("SIGKILL");
        await expectOff();
      }
    });
  }

  it("is off when the client is gone and the server has ended", async () => {
    const agent = await attach("--timeout", "0.5");
    agent.startCall("trace-calls", { functions: ["shop::work"], seconds: 3600 }).result.catch(() => undefined);
    await untilOn();
    agent.process.stdin.end();
    await expectOff();
  });

  it("is asked for if it changes functions that threads of the program call, and not otherwise", async () => {
    let answer = "No";
    const asked: string[] = [];
    const agent = await McpDebugger.start({
      args: ["--attach", String(image.port)],
      answer: async (message): Promise<ElicitResult> => {
        asked.push(message);
        return { action: "accept", content: { answer } };
      },
    });
    const { structuredContent } = await agent.call("trace-calls", { functions: ["shop::work"], seconds: 0.1 });
    expect(structuredContent).to.have.nested.property("error.data.type", "APPROVAL_DENIED");
    expect(asked.splice(0)[0]).to.match(
      /^AI agent wants to record calls in threads of the program:\nFunctions: shop::work\nThreads: all\nSeconds: 0\.1\n/,
    );
    const counted = await agent.call("profile-code", { mode: "calls", package: "shop", seconds: 0.1 });
    expect(refusalType(counted)).to.equal("APPROVAL_DENIED");
    expect(asked.splice(0)[0]).to.match(
      /^AI agent wants to count calls in threads of the program:\nFunctions: all of shop\n/,
    );
    await agent.call("profile-code", { seconds: 0.1 });
    await agent.call("profile-code", { mode: "calls", package: "shop", code: "(shop::total '(1))" });
    await agent.call("trace-calls", { functions: ["shop::work"], code: "1" });
    await agent.call("inspect-object", { object: "shop::*rounds*" });
    expect(asked).to.deep.equal([]);
    answer = "Yes";
    const calls = blocks(await agent.call("trace-calls", { functions: ["shop::work"], seconds: 0.5 })).join("\n");
    expect(calls)
      .to.match(/^Thread \d+ "?server-0"?:$/m)
      .and.match(/^\(SHOP::WORK 0\)(?: x \d+)? => /m);
    expect(asked).to.have.length(1);
    await agent.close();
    await expectOff();
  });

  it("answers when the image is killed", async () => {
    const agent = await attach();
    const call = agent.startCall("trace-calls", { functions: ["shop::work"], seconds: 3600 });
    await untilOn();
    image.process.kill("SIGKILL");
    expect(blocks(await call.result).join("\n")).to.match(/lost|closed|ended/i);
  });
});
