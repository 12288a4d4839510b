import { mock } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import {
  AgentSession,
  defineTool,
  ImageHost,
  readConfig,
  type ToolAnswer,
  type ToolServer,
  textAnswer,
} from "swank-mcp";
import * as z from "zod";
import { AgentName } from "#swank-mcp/session/image.js";
import { Neighbours } from "#swank-mcp/session/neighbours.js";
import type { Steering } from "#swank-mcp/session/steering.js";
import { scriptedSession } from "../../support/mcp-scripted.js";
import { toolServer } from "../../support/mcp-server.js";

/** The tools that have run. */
let ran: string[] = [];

const quick = defineTool({
  name: "quick",
  family: "core",
  effect: "reads",
  title: "Quick",
  description: "Answers at once.",
  input: () => z.strictObject({}),
  run() {
    ran.push("quick");
    return textAnswer("done");
  },
});

/** Asks the user, and then acts. */
const asks = defineTool({
  name: "asks",
  family: "core",
  effect: "sets-breakpoint",
  title: "Asks",
  description: "Asks.",
  input: () => z.strictObject({}),
  async plan() {
    return {
      request: { operation: ":eval", action: "do it", particulars: [["Code", "(f)"]] },
      act: async () => {
        ran.push("asks");
        return textAnswer("done");
      },
    };
  },
});

interface Running {
  readonly answer: Promise<ToolAnswer>;
  readonly told: readonly string[];
  cancel(): void;
  /** Says yes. */
  allow(): void;
  readonly questionSignal: () => AbortSignal | undefined;
}

function start(tools: ToolServer, name = "quick"): Running {
  const told: string[] = [];
  const ending = new AbortController();
  let allow = () => {};
  let asked: AbortSignal | undefined;
  const answer = tools.call({
    name,
    args: {},
    signal: ending.signal,
    progress: (text) => told.push(text),
    ask: (_question, { signal }) => {
      asked = signal;
      return new Promise((resolve) => {
        allow = () => resolve({ kind: "chosen", choice: "Yes" });
      });
    },
  });
  return { answer, told, cancel: () => ending.abort(), allow: () => allow(), questionSignal: () => asked };
}

function code({ structured }: ToolAnswer): unknown {
  return Object(structured?.["error"])["data"]?.type;
}

describe("Steering", () => {
  let tools: ToolServer;
  let steering: Steering;

  beforeEach(() => {
    ran = [];
    mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    tools = toolServer(async () => scriptedSession(), [], { catalogue: [quick, asks] });
    steering = tools.agent.steering;
  });
  afterEach(() => mock.timers.reset());

  it("lets calls wait while the agent is paused, says why, and lets them go on", async () => {
    steering.pause();
    const calls = [start(tools), start(tools)];
    await nextTurn();
    expect(ran).to.deep.equal([]);
    expect(calls[0]?.told).to.deep.equal(["The user has paused this agent."]);
    mock.timers.tick(5000);
    expect(calls[0]?.told).to.have.length(2);
    steering.resume();
    for (const { answer } of calls) expect((await answer).blocks).to.deep.equal(["done"]);
    expect(ran).to.deep.equal(["quick", "quick"]);
    expect((await start(tools).answer).isError).to.equal(false);
  });

  it("refuses a call that has waited for 50 s, and not the next one", async () => {
    steering.pause();
    const first = start(tools);
    await nextTurn();
    mock.timers.tick(49_999);
    const second = start(tools);
    await nextTurn();
    mock.timers.tick(1);
    const answer = await first.answer;
    expect(code(answer)).to.equal("PAUSED");
    expect(answer.blocks[0]).to.match(/^The user has paused this agent\. Nothing was done\.\nCall again later/);
    steering.resume();
    expect((await second.answer).isError).to.equal(false);
    expect(ran).to.deep.equal(["quick"]);
  });

  it("lets a waiting call be cancelled", async () => {
    steering.pause();
    const call = start(tools);
    await nextTurn();
    call.cancel();
    expect(code(await call.answer)).to.equal("CANCELLED");
    steering.resume();
    await nextTurn();
    expect(ran).to.deep.equal([]);
  });

  it("lets running calls go on while the agent is paused", async () => {
    const call = start(tools, "asks");
    await nextTurn();
    steering.pause();
    call.allow();
    expect((await call.answer).blocks).to.deep.equal(["done"]);
  });

  it("answers running and waiting calls when the agent is thrown out, and refuses later ones until it is let back", async () => {
    const running = start(tools, "asks");
    await nextTurn();
    steering.pause();
    const waiting = start(tools);
    await nextTurn();
    steering.throwOut();
    for (const call of [running, waiting, start(tools)]) {
      const answer = await call.answer;
      expect(code(answer)).to.equal("THROWN_OUT");
      expect(answer.blocks[0]).to.include("only the user can let this agent back");
    }
    expect(running.questionSignal()?.aborted).to.equal(true);
    running.allow();
    await nextTurn();
    expect(ran).to.deep.equal([]);
    steering.pause();
    steering.resume();
    expect(steering.state).to.equal("out");
    steering.letBack();
    expect((await start(tools).answer).blocks).to.deep.equal(["done"]);
    const again = start(tools, "asks");
    await nextTurn();
    again.allow();
    expect((await again.answer).blocks).to.deep.equal(["done"]);
  });

  it("tells its listeners of each change, until they are removed", () => {
    const states: string[] = [];
    const end = steering.onChange((state) => states.push(state));
    steering.resume();
    steering.pause();
    steering.pause();
    steering.throwOut();
    steering.letBack();
    end();
    steering.pause();
    expect(states).to.deep.equal(["paused", "out", "free"]);
  });
});

describe("Neighbours", () => {
  const config = readConfig([], {});
  let neighbours: Neighbours;

  beforeEach(() => {
    neighbours = new Neighbours();
  });

  function agent(person: string, text: string): AgentSession {
    const name = new AgentName();
    name.set(text);
    const session = new AgentSession(new ImageHost(async () => scriptedSession()), config, name, neighbours);
    neighbours.add(session, person);
    return session;
  }

  it("lists the agents, and tells listeners of those that come and go", () => {
    const events: string[] = [];
    const first = agent("ann", "one");
    const end = neighbours.watch({
      added: ({ person, session }) => events.push(`added ${person} ${session.name.text}`),
      removed: ({ person, session }) => events.push(`removed ${person} ${session.name.text}`),
    });
    const second = agent("bob", "two");
    expect(neighbours.all).to.deep.equal([
      { session: first, person: "ann" },
      { session: second, person: "bob" },
    ]);
    first.close();
    first.close();
    end();
    second.close();
    expect(events).to.deep.equal(["added bob two", "removed ann one"]);
    expect(neighbours.all).to.deep.equal([]);
  });

  it("steer an agent that comes again under the same name and person as before, and no other", () => {
    const first = agent("ann", "one");
    first.steering.throwOut();
    first.close();
    const [again, other, namesake] = [agent("ann", "one"), agent("ann", "two"), agent("bob", "one")];
    expect([again, other, namesake].map(({ steering }) => steering.state)).to.deep.equal(["out", "free", "free"]);
    again.steering.letBack();
    expect(agent("ann", "one").steering.state).to.equal("free");
  });

  it("steer agents of one name and person together", () => {
    const [one, other] = [agent("ann", "one"), agent("ann", "one")];
    one.steering.pause();
    expect(other.steering.state).to.equal("paused");
    other.steering.throwOut();
    expect(one.steering.state).to.equal("out");
    one.steering.letBack();
    expect(other.steering.state).to.equal("free");
  });
});
