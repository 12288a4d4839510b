import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { blocks } from "../support/mcp-results.js";
import { McpStdio } from "../support/mcp-stdio.js";
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
/** Number of servers that attach and end before the first measurement. */
const WARM_UP = 50;
/** Number of servers that are attached at the same time. */
const LANES = 3;
/** Number of checks, 0.1 s apart, during which no thread may end before the threads are counted. */
const QUIET = 50;

/** The ways in which a server ends. Before that, it has made a definition, a stop and a breakpoint. */
const ENDINGS: readonly ((agent: McpStdio) => Promise<unknown>)[] = [
  (agent) => agent.end(),
  (agent) => kill(agent, "SIGTERM"),
  (agent) => kill(agent, "SIGKILL"),
  async (agent) => {
    const running = agent.evaluate("(loop (print :running))").catch(() => undefined);
    await agent.progressOf();
    await kill(agent, "SIGKILL");
    await running;
  },
  async (agent) => {
    // The image closes the connection, so there is no answer.
    await agent.evaluate("(swank::close-connection swank::*emacs-connection* nil nil)");
    await agent.end();
  },
];

async function kill(agent: McpStdio, signal: NodeJS.Signals): Promise<void> {
  agent.process.kill(signal);
  await agent.exited;
}

/** Attaches a server, lets it work in the image, and ends it. */
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

describe("swank-mcp --attach (soak)", () => {
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

  /** Waits until only the remaining server is connected, and no more threads end. */
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

  it("lets neither the image nor a remaining server grow after 500 servers have ended in five ways", async () => {
    await visitOften(lisp.port, WARM_UP);
    const start = await measure();
    await visitOften(lisp.port, SERVERS);
    const end = await measure();
    const rows: readonly Growth[] = [
      { process: "remaining server", start: start.server, end: end.server },
      { process: "Lisp", start: start.lisp, end: end.lisp },
    ];
    console.log(growthTable(`${SERVERS} attached servers`, rows));
    expect(blocks(await staying.call("lisp-status"))[0]).to.include('"stopped":[]');
    expect(greatestGrowth(rows)).to.be.at.most(1.1);
  });
});
