import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { connect, type SwankClient, SwankError } from "swank-client";
import { openSession, readConfig, type ToolAnswer, type ToolServer } from "swank-mcp";
import { type ClientTools, clientTools } from "#swank-mcp/serve.js";
import { liveSwank } from "../../support/live-server.js";
import { besides, callTool, closeServer, toolServer } from "../../support/mcp-server.js";
import { LAUNCH_CACHE } from "../../support/test-cache.js";

function code({ structured }: ToolAnswer): unknown {
  return Object(structured?.["error"])["data"]?.type;
}

/** Waits until the image says so. */
async function until(tools: ToolServer, form: string): Promise<void> {
  for (;;) {
    const { blocks } = await callTool(tools, "evaluate-lisp", { code: form });
    if (blocks[0] === "=> T") return;
    await setTimeout(50);
  }
}

const LOOPS = `(progn (defvar *ended* nil) (defvar *begun* nil)
  (unwind-protect (loop (setf *begun* t) (sleep 0.01)) (setf *ended* t)))`;

describe("an agent that is thrown out", function () {
  this.timeout(120_000);
  const lisp = liveSwank({ each: true });
  let served: ClientTools;
  let agent: ToolServer;
  let other: ToolServer;

  beforeEach(() => {
    const config = readConfig(["--attach", String(lisp.port)], {});
    served = clientTools(config, () => {});
    agent = served.open("one", "ann");
    other = served.open("two", "bob");
  });
  afterEach(async () => {
    for (const tools of [agent, other]) await closeServer(tools);
    await served.close();
  });

  it("has what it runs and has stopped ended, its breakpoints removed, and its connection closed; others go on", async () => {
    await callTool(agent, "evaluate-lisp", { code: "(defvar *unwound* nil) (defun traced (n) n)" });
    const stopped = '(unwind-protect (error "stopped") (setf *unwound* t))';
    await callTool(agent, "evaluate-lisp", { code: stopped });
    await callTool(agent, "breakpoint_set", { function: "traced" });
    await callTool(agent, "evaluate-lisp", { code: "(loop (sleep 0.01))", background: true });
    const running = callTool(agent, "evaluate-lisp", { code: LOOPS });
    await until(other, "(and (boundp '*begun*) (symbol-value '*begun*))");
    const kept = await callTool(other, "evaluate-lisp", { code: '(error "of another agent")' });
    expect(kept.blocks[0]).to.include("of another agent");
    const session = await agent.agent.host.current();
    agent.agent.steering.throwOut();
    expect(code(await running)).to.equal("THROWN_OUT");
    await session?.client.closed;
    await until(other, "(and *ended* *unwound* t)");
    expect((await callTool(other, "evaluate-lisp", { code: "(traced 3)" })).blocks[0]).to.equal("=> 3");
    expect((await callTool(other, "lisp-status")).structured?.["stopped"]).to.have.length(1);
    expect(code(await callTool(agent, "evaluate-lisp", { code: "1" }))).to.equal("THROWN_OUT");
    expect(agent.agent.host.state.kind).to.equal("none");
  });

  it("stays out when its client begins again, and is told of it when it is let back", async () => {
    await callTool(agent, "evaluate-lisp", { code: "(defvar *mine* 5)" });
    agent.agent.steering.throwOut();
    await closeServer(agent);
    agent = served.open("one", "ann");
    expect(code(await callTool(agent, "lisp-status"))).to.equal("THROWN_OUT");
    agent.agent.steering.letBack();
    const { blocks } = await callTool(agent, "evaluate-lisp", { code: "*mine*" });
    expect(blocks[0]).to.equal("=> 5");
    expect(blocks.at(-1)).to.match(/^The user had thrown this agent out, and has let it back/);
  });

  it("connects again when it is let back, and no loss is reported", async () => {
    await callTool(agent, "evaluate-lisp", { code: "1" });
    agent.agent.steering.throwOut();
    agent.agent.steering.letBack();
    const { blocks } = await callTool(agent, "evaluate-lisp", { code: "(+ 1 2)" });
    expect(blocks[0]).to.equal("=> 3");
    expect(blocks.join("\n")).to.not.match(/lost|connection/);
  });
});

describe("a user of the image who steers one agent", function () {
  this.timeout(120_000);
  const lisp = liveSwank({ each: true });
  let served: ClientTools;
  let agent: ToolServer;
  let user: SwankClient;

  beforeEach(async () => {
    served = clientTools(readConfig(["--attach", String(lisp.port)], {}), () => {});
    agent = served.open("one", "ann");
    await callTool(agent, "evaluate-lisp", { code: "(defvar *begun* nil)" });
    user = await connect({ port: lisp.port });
  });
  afterEach(async () => {
    await user.close();
    await closeServer(agent);
    await served.close();
  });

  it("pauses it, so that its calls wait, and lets it go on", async () => {
    expect(await user.activity.pause("one", true)).to.equal(true);
    while (agent.agent.steering.state !== "paused") await setTimeout(10);
    const call = callTool(agent, "evaluate-lisp", { code: "1" });
    expect(await Promise.race([call, setTimeout(500, "waiting")])).to.equal("waiting");
    await user.activity.pause("one", false);
    expect((await call).blocks[0]).to.equal("=> 1");
  });

  it("lets go on an agent that nobody can reach any more", async () => {
    await user.activity.pause("one", true);
    while (agent.agent.steering.state !== "paused") await setTimeout(10);
    const call = callTool(agent, "evaluate-lisp", { code: "1" });
    const session = await agent.agent.host.current();
    await session?.client.connection.drop(new SwankError("CONNECTION_LOST", "The network failed."));
    expect((await call).blocks[0]).to.equal("=> 1");
  });

  it("throws it out, so that it does not connect again by itself", async () => {
    const running = callTool(agent, "evaluate-lisp", { code: "(progn (setf *begun* t) (loop (sleep 0.01)))" });
    while ((await user.eval("cl-user::*begun*"))[0] !== "T") await setTimeout(20);
    expect(await user.activity.kick("one")).to.equal("kicked");
    expect((await running).isError).to.equal(true);
    while (agent.agent.steering.state !== "out") await setTimeout(10);
    expect(code(await callTool(agent, "evaluate-lisp", { code: "1" }))).to.equal("THROWN_OUT");
    agent.agent.steering.letBack();
    expect((await callTool(agent, "evaluate-lisp", { code: "1" })).blocks[0]).to.equal("=> 1");
  });
});

describe("an agent that is thrown out of a launched image", function () {
  this.timeout(120_000);
  const args = ["--cache-dir", LAUNCH_CACHE, "--no-user-init"];
  let agent: ToolServer;

  beforeEach(() => {
    agent = toolServer(
      openSession(readConfig(args, {}), () => {}),
      args,
    );
  });
  afterEach(() => closeServer(agent));

  it("keeps the image, without what it ran, its stops and its breakpoints", async () => {
    await callTool(agent, "evaluate-lisp", { code: "(defvar *ended* nil) (defun traced (n) n)" });
    await callTool(agent, "evaluate-lisp", { code: '(unwind-protect (error "stopped") (setf *ended* t))' });
    await callTool(agent, "breakpoint_set", { function: "traced" });
    const running = callTool(agent, "evaluate-lisp", { code: LOOPS });
    const session = await agent.agent.host.current();
    while (session?.client.evaluations.length !== 2) await setTimeout(10);
    agent.agent.steering.throwOut();
    expect(code(await running)).to.equal("THROWN_OUT");
    while (session.client.evaluations.length > 0 || session.client.stops.length > 0) await setTimeout(10);
    agent.agent.steering.letBack();
    const { blocks } = await callTool(agent, "evaluate-lisp", { code: "(list *ended* (traced 3))" });
    expect(blocks[0]).to.equal("=> (T 3)");
    expect((await callTool(agent, "breakpoint_list")).structured?.["breakpoints"]).to.deep.equal([]);
  });

  it("leaves the connection to another agent that shares it", async () => {
    const other = besides(agent);
    await callTool(agent, "evaluate-lisp", { code: '(error "mine")' });
    await callTool(other, "evaluate-lisp", { code: '(error "other")' });
    agent.agent.steering.throwOut();
    const session = await agent.agent.host.current();
    while (session?.client.stops.length !== 1) await setTimeout(10);
    expect((await callTool(other, "lisp-status")).structured?.["stopped"]).to.have.length(1);
    other.agent.close();
  });
});
