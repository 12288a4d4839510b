import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { blocks, McpStdio } from "../support/mcp-stdio.js";
import { type RealSwank, startRealSwank } from "../support/real-swank.js";
import {
  collectGarbage,
  type Growth,
  greatestGrowth,
  growthTable,
  type Resources,
  resourcesOf,
  startCollectable,
} from "../support/resources.js";

const SERVERS = 500;
/** Servers that attach and end before the first measurement. */
const WARM_UP = 50;
/** Servers that are attached at the same time. */
const LANES = 3;
/** Looks, 0.1 s apart, in which no thread may have ended before the threads are counted. */
const QUIET = 50;

/** The ways in which a server ends. Each has definitions, a stop and a breakpoint by then. */
const ENDINGS: readonly ((agent: McpStdio) => Promise<unknown>)[] = [
  (agent) => agent.end(),
  (agent) => kill(agent, "SIGTERM"),
  (agent) => kill(agent, "SIGKILL"),
  async (agent) => {
    const running = agent.evaluate("(loop (print :running))").catch(() => undefined);
    await agent.notified("notifications/progress");
    await kill(agent, "SIGKILL");
    await running;
  },
  async (agent) => {
    // The image closes the connection, and the answer is lost with it.
    await agent.evaluate("(swank::close-connection swank::*emacs-connection* nil nil)");
    await agent.end();
  },
];

async function kill(agent: McpStdio, signal: NodeJS.Signals): Promise<void> {
  agent.process.kill(signal);
  await agent.exited;
}

/** Attaches a server, has it work in the image, and ends it. */
async function visit(port: number, turn: number): Promise<void> {
  const agent = await McpStdio.start(["--attach", String(port)]);
  try {
    const name = `work-${turn % LANES}`;
    const [value] = await agent.evaluate(`(defun ${name} (n) (/ ${turn} n)) (${name} 1)`);
    expect(value).to.match(new RegExp(`=> ${turn}$`));
    expect((await agent.evaluate(`(${name} 0)`))[0]).to.include("DIVISION-BY-ZERO");
    expect((await agent.call("breakpoint_set", { function: name })).isError).to.not.equal(true);
    await ENDINGS[turn % ENDINGS.length]?.(agent);
  } finally {
    await kill(agent, "SIGKILL");
  }
}

async function visitOften(port: number, count: number): Promise<void> {
  let turn = 0;
  const lane = async (): Promise<void> => {
    while (turn < count) {
      turn += 1;
      await visit(port, turn);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

describe("An image that servers attach to", () => {
  let lisp: RealSwank;
  let staying: McpStdio;

  before(async () => {
    lisp = await startRealSwank();
    staying = await startCollectable(["--attach", String(lisp.port)]);
  });

  after(async () => {
    await staying.end();
    await lisp.stop();
  });

  /** Waits until only the server that stays is connected, and no more threads end. */
  async function untilAlone(): Promise<void> {
    while ((await staying.evaluate("(length swank::*connections*)"))[0] !== "=> 1") await pause(100);
    let fewest = Number.POSITIVE_INFINITY;
    for (let quiet = 0; quiet < QUIET; quiet += 1) {
      const { threads } = await resourcesOf(lisp.process.pid);
      if (threads < fewest) quiet = 0;
      fewest = Math.min(fewest, threads);
      await pause(100);
    }
  }

  async function measure(): Promise<{ readonly server: Resources; readonly lisp: Resources }> {
    await untilAlone();
    await collectGarbage(staying);
    return { server: await resourcesOf(staying.process.pid), lisp: await resourcesOf(lisp.process.pid) };
  }

  it("holds no more after 500 of them have ended, in five ways, and neither does a server that stays", async () => {
    await visitOften(lisp.port, WARM_UP);
    const start = await measure();
    await visitOften(lisp.port, SERVERS);
    const end = await measure();
    const rows: readonly Growth[] = [
      { process: "server that stays", start: start.server, end: end.server },
      { process: "Lisp", start: start.lisp, end: end.lisp },
    ];
    console.log(growthTable(`${SERVERS} attached servers`, rows));
    expect(blocks(await staying.call("lisp-status"))[0]).to.include('"stopped":[]');
    expect(greatestGrowth(rows)).to.be.at.most(1.1);
  });
});
