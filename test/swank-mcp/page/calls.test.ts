import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { openSession, readConfig, ToolServer } from "swank-mcp";
import type { CallEntry, CallRecorder } from "#swank-mcp/call/recorder.js";
import { AgentCalls } from "#swank-mcp/page/calls.js";
import { Feed } from "#swank-mcp/page/feed.js";
import { AgentSession } from "#swank-mcp/session/agent.js";
import { AgentName, ImageHost } from "#swank-mcp/session/image.js";
import { callTool, closeServer } from "../../support/mcp-server.js";
import { startRealSwank } from "../../support/real-swank.js";

const REQUEST = { operation: ":eval", action: "evaluate code in frame #2", particulars: [] } as const;

const ALLOWED = { isAllowed: true, by: "client", how: "allowed" } as const;

function returned(...values: readonly string[]) {
  return {
    blocks: ["[stdout]\nhello\n\n=> 3"],
    isError: false,
    meta: { "swank-mcp/outcome": { status: "returned", values, package: "SHOP" } },
  };
}

describe("AgentCalls", () => {
  let feed: Feed;
  let calls: AgentCalls;
  let agent: AgentSession;
  let recorder: CallRecorder;

  beforeEach(() => {
    feed = new Feed({ version: "0", mode: "server", isReadOnly: false });
    calls = new AgentCalls(feed);
    const host = new ImageHost(() => Promise.reject(new Error("There is no image.")));
    agent = new AgentSession(host, readConfig([], {}));
    agent.name.set("tester");
    recorder = calls.add(agent);
  });
  afterEach(() => feed.close());

  const begin = (args: unknown, name: unknown = "evaluate-lisp"): CallEntry => recorder.begin({ name, args });
  const stateOf = (id: string) => feed.state.agents.find((each) => each.id === id)?.state;
  const last = () => feed.state.calls.at(-1);

  it("lists a call when it begins, with its code, and what has become of it when it ends", () => {
    const entry = begin({ code: "(price 3)", package: "shop" });
    expect(last()).to.deep.include({
      agent: "a1",
      agentName: "tester",
      tool: "evaluate-lisp",
      code: "(price 3)",
      isLisp: true,
    });
    expect(last()).to.include({ package: "shop", output: "" }).and.not.have.property("outcome");
    entry.output?.("hello\n", "stdout");
    entry.end(returned("3", "4"), 12.4);
    const call = last();
    expect(call).to.include({
      outcome: "returned",
      isError: false,
      summary: "=> 3, 4",
      package: "SHOP",
      output: "hello\n",
    });
    expect((call?.ended ?? 0) - (call?.begun ?? 0)).to.equal(12);
  });

  it("lists the arguments of a call without code, and calls that nothing has checked", () => {
    begin({ pattern: "price" }, "search-source").end({ blocks: ["\nNothing.\nMore"], isError: false }, 1);
    expect(last()).to.include({
      tool: "search-source",
      code: '{"pattern":"price"}',
      isLisp: false,
      outcome: "ok",
      summary: "Nothing.",
    });
    for (const [args, name] of [
      [undefined, 7],
      [null, null],
      ["(+ 1 2)", "x\ny"],
      [[1], {}],
      [{ code: 5, package: [] }, "z".repeat(5000)],
    ])
      begin(args, name).end({ blocks: [], isError: true }, 0);
    expect(feed.state.calls.map(({ code }) => code).slice(1)).to.deep.equal([
      "{}",
      "{}",
      '"(+ 1 2)"',
      "[1]",
      '{"code":5,"package":[]}',
    ]);
    expect(feed.state.calls.map(({ tool }) => tool.length)).to.satisfy((all: number[]) =>
      all.every((length) => length <= 200),
    );
  });

  it("names the stop that a call has led to, and cuts long code and answers", () => {
    const meta = { "swank-mcp/outcome": { status: "stopped", values: [], thread: 7, level: 2, package: "CL-USER" } };
    begin({ code: "x".repeat(10_000) }).end({ blocks: [`[ERROR] ${"y".repeat(500)}`], isError: true, meta }, 1);
    expect(last()).to.include({ stop: "7/2", outcome: "stopped", isError: true });
    expect(last()?.code).to.have.length(2000);
    expect(last()?.summary).to.have.length(200);
  });

  it("sums a stop up in its type and message, whatever was printed before", () => {
    const error = { type: "DIVISION-BY-ZERO", message: "arithmetic error\nOperation was (/ 1 0)." };
    const meta = { "swank-mcp/outcome": { status: "stopped", values: [], thread: 7, level: 1, error } };
    begin({ code: "(/ 1 0)" }).end({ blocks: ["[stdout]\nhello\n\n[ERROR]"], isError: true, meta }, 1);
    expect(last()?.summary).to.match(/^DIVISION-BY-ZERO: arithmetic error.*Operation was/);
  });

  it("says that a call of a paused agent waits, and no longer when it goes on", () => {
    begin({ code: "1" });
    agent.steering.pause();
    const waiting = begin({ code: "2" });
    expect(feed.state.calls.map(({ waits }) => waits)).to.deep.equal([undefined, true]);
    agent.steering.resume();
    expect(last()).not.to.have.property("waits");
    agent.steering.pause();
    expect(last()).not.to.have.property("waits");
    waiting.end(returned("2"), 1);
    begin({ code: "3" }).end({ blocks: ["The user has paused this agent."], isError: true }, 1);
    expect(last()).not.to.have.property("waits");
  });

  it("publishes whether an agent runs, is being asked about, is paused, or out, and by which name", () => {
    expect(feed.state.agents).to.deep.equal([{ id: "a1", name: "tester", state: "idle" }]);
    const one = begin({ code: "1" });
    const two = begin({ code: "2" });
    expect(stateOf("a1")).to.equal("running");
    const answered = one.asked?.(REQUEST, "client");
    expect(stateOf("a1")).to.equal("asking");
    answered?.(ALLOWED);
    one.end(returned("1"), 1);
    expect(stateOf("a1")).to.equal("running");
    agent.steering.pause();
    expect(stateOf("a1")).to.equal("paused");
    agent.steering.throwOut();
    two.end(returned("2"), 1);
    expect(stateOf("a1")).to.equal("out");
    agent.steering.letBack();
    expect(stateOf("a1")).to.equal("idle");
    agent.name.set("another");
    calls.refresh();
    expect(feed.state.agents).to.deep.equal([{ id: "a1", name: "another", state: "idle" }]);
  });

  it("knows the person as an agent, and forgets an agent that has left, but not its calls", () => {
    calls.add(new AgentSession(agent.host, agent.config), true);
    expect(feed.state.agents.map(({ isYou }) => isYou)).to.deep.equal([undefined, true]);
    expect([...calls.agents.keys()]).to.deep.equal(["a1", "a2"]);
    const entry = begin({ code: "1" });
    calls.remove(agent);
    entry.end(returned("1"), 1);
    agent.steering.pause();
    expect(feed.state.agents.map(({ id }) => id)).to.deep.equal(["a2"]);
    expect(last()).to.include({ agent: "a1", agentName: "tester", outcome: "returned" });
  });

  it("follows a background evaluation after its call", () => {
    const entry = begin({ code: "(work)", background: true });
    entry.end({ blocks: ["It runs in the background as 3."], isError: false }, 2);
    entry.output?.("later", "stdout");
    entry.ended?.(3, returned("done"), 5000);
    expect(last()).to.include({ outcome: "returned", summary: "=> done", output: "later" });
    expect(calls.text("c1").answer).to.deep.equal(["[stdout]\nhello\n\n=> 3"]);
  });

  it("keeps the whole of a call, of which each text is cut at 200,000 characters", () => {
    const entry = begin({ code: "c".repeat(300_000), package: "shop", timeout: 5 });
    for (let count = 0; count < 10; count++) entry.output?.(String(count).repeat(50_000), "stdout");
    expect(calls.text("c1")).to.deep.include({ arguments: { package: "shop", timeout: 5 }, answer: [] });
    entry.end({ blocks: ["a".repeat(150_000), "b".repeat(150_000)], isError: false }, 1);
    const { code, output, answer } = calls.text("c1");
    expect(code).to.match(/^c{200000} \[\.\.\. 100000 characters left out \.\.\.\]$/);
    expect(output).to.match(/^\[\.\.\. 300000 characters left out \.\.\.\] 6{50000}7{50000}8{50000}9{50000}$/);
    expect(answer).to.have.length(1);
    expect(answer[0]).to.match(/^a{150000}\n\nb{49998} \[\.\.\. 100002 characters left out \.\.\.\]$/);
  });

  it("forgets the oldest texts when all together have more than 8 million characters, and says so", () => {
    for (let count = 0; count < 60; count++)
      begin({ code: "x".repeat(200_000) }).end({ blocks: [], isError: false }, 1);
    expect(calls.text("c60").code).to.have.length(200_000);
    expect(calls.text("c30").code).to.have.length(200_000);
    expect(() => calls.text("c10")).to.throw(/not kept any more/);
    expect(() => calls.text("unknown")).to.throw(/not kept any more/);
  });

  it("forgets texts as the list forgets calls, and counts the data of a trace", () => {
    for (let count = 0; count < 1500; count++) begin({}, "lisp-status").end({ blocks: ["ok"], isError: false }, 1);
    expect(calls.text("c501").answer).to.deep.equal(["ok"]);
    expect(() => calls.text("c500")).to.throw(/not kept any more/);
    const meta = { "swank-mcp/trace": { threads: ["x".repeat(3_000_000)] } };
    for (let count = 0; count < 3; count++) begin({}, "trace-calls").end({ blocks: [], isError: false, meta }, 1);
    expect(() => calls.text("c1501")).to.throw(/not kept any more/);
    expect(calls.text("c1502")).to.have.property("trace");
  });

  it("keeps the data of a profile and of a trace, if they are such", () => {
    const meta = { "swank-mcp/profile": { functions: [], samples: 3 }, "swank-mcp/trace": { threads: [] } };
    begin({ seconds: 1 }, "profile-code").end({ blocks: [], isError: false, meta }, 1);
    expect(calls.text("c1")).to.deep.include({ profile: { functions: [], samples: 3 }, trace: { threads: [] } });
    begin({}, "profile-code").end({ blocks: [], isError: false, meta: { "swank-mcp/profile": { rounds: 1 } } }, 1);
    expect(calls.text("c2")).not.to.have.property("profile");
  });
});

describe("AgentCalls of an image", function () {
  this.timeout(60_000);

  it("say what has become of a call that was stopped", async () => {
    const image = await startRealSwank();
    const config = readConfig(["--attach", String(image.port), "--approval", "off"], {});
    const name = new AgentName();
    const feed = new Feed({ version: "0", mode: "server", isReadOnly: false });
    const calls = new AgentCalls(feed);
    const agent = new AgentSession(new ImageHost(openSession(config, () => undefined, name)), config, name);
    const server = new ToolServer(agent, { recorders: [calls.add(agent)] });
    const code = '(restart-case (error "wait") (go-on () 7))';
    const first = () => feed.state.calls.findLast((call) => call.code === code);
    await callTool(server, "evaluate-lisp", { code });
    expect(first()).to.deep.include({ outcome: "stopped", summary: "SIMPLE-ERROR: wait" });
    await callTool(server, "debugger_invoke_restart", { restart: 1 });
    expect(first()).to.include({ outcome: "returned", isError: false }).and.not.have.property("stop");
    await callTool(server, "evaluate-lisp", { code });
    const stops = agent.host.state.kind === "open" ? agent.host.state.session.client.stops : [];
    const restart = (stops[0]?.restarts.findIndex((each) => each.name === "ABORT") ?? -1) + 1;
    await callTool(server, "debugger_invoke_restart", { restart });
    expect(first()).to.include({ outcome: "aborted", isError: true }).and.not.have.property("stop");
    await callTool(server, "evaluate-lisp", { code });
    agent.steering.throwOut();
    const isOut = () => first()?.outcome === "thrown out";
    for (let tries = 0; tries < 100 && !isOut(); tries += 1) await setTimeout(50);
    expect(first()).to.include({ outcome: "thrown out", isError: true }).and.not.have.property("stop");
    feed.close();
    await closeServer(server);
    await image.stop();
  });
});
