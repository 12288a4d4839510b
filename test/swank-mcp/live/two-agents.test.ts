import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { type Ask, openSession, readConfig, type ToolServer } from "swank-mcp";
import { NO_ERROR } from "#swank-mcp/report/stop.js";
import { liveSwank } from "../../support/live-server.js";
import { besides, callTool, closeServer, toolServer } from "../../support/mcp-server.js";

/** The stopped threads that lisp-status lists. */
async function stopped(tools: ToolServer): Promise<unknown> {
  return (await callTool(tools, "lisp-status")).structured?.["stopped"];
}

/** Calls a tool as a client whose user gives this answer to every question, and returns the questions. */
async function asked(tools: ToolServer, answer: string, name: string, args: object): Promise<string[]> {
  const questions: string[] = [];
  const ask: Ask = async ({ message }) => {
    questions.push(message);
    return { kind: "chosen", choice: answer };
  };
  await tools.call({ name, args, signal: new AbortController().signal, progress: () => {}, ask });
  return questions;
}

describe("ImageHost with two agents", () => {
  const lisp = liveSwank({ each: true });
  let first: ToolServer;
  let second: ToolServer;

  beforeEach(() => {
    const args = ["--attach", String(lisp.port), "--max-stops", "1"];
    first = toolServer(
      openSession(readConfig(args, {}), () => {}),
      args,
    );
    second = besides(first, ["--attach", String(lisp.port)]);
  });
  afterEach(async () => {
    second.agent.close();
    await closeServer(first);
  });

  it("gives both one connection, and each its own last error", async () => {
    await callTool(first, "evaluate-lisp", { code: '(defvar *shared* 1) (error "first\'s")' });
    expect((await callTool(second, "describe-last-error")).blocks).to.deep.equal([NO_ERROR]);
    await callTool(second, "evaluate-lisp", { code: '(error "second\'s")' });
    expect((await callTool(second, "evaluate-lisp", { code: "*shared*" })).blocks).to.deep.equal(["=> 1"]);
    expect((await callTool(first, "describe-last-error")).blocks[0]).to.include("first's");
    expect((await callTool(second, "describe-last-error")).blocks).to.deep.equal([NO_ERROR]);
    expect(await first.agent.host.current()).to.equal(await second.agent.host.current());
  });

  it("lets each see and leave only the stops of its own evaluations", async () => {
    await callTool(first, "evaluate-lisp", { code: '(error "mine")' });
    const [{ thread } = { thread: "" }] = (await first.agent.host.current())?.client.stops ?? [];
    expect(await stopped(first)).to.have.length(1);
    expect(await stopped(second)).to.deep.equal([]);
    for (const name of ["auto", String(thread)]) {
      const { structured } = await callTool(second, "debugger_invoke_restart", { restart: "ABORT", thread: name });
      expect(structured).to.have.nested.property("error.data.type", "NOT_DEBUGGING");
    }
    expect((await callTool(second, "debugger_frames", { thread: String(thread) })).blocks[0]).to.include(
      `Thread ${thread} is stopped for another client of this server.`,
    );
    expect((await callTool(first, "debugger_restarts")).isError).to.equal(false);
  });

  it("limits the stops of each separately", async () => {
    await callTool(second, "evaluate-lisp", { code: '(error "second 1")' });
    for (const text of ["1", "2"]) await callTool(first, "evaluate-lisp", { code: `(error "first ${text}")` });
    await callTool(second, "evaluate-lisp", { code: '(error "second 2")' });
    expect(await stopped(first))
      .to.have.length(1)
      .and.nested.property("0.message", "first 2");
    expect(await stopped(second)).to.have.length(2);
  });

  it("requires separate approvals for a stop that both can see", async () => {
    await callTool(first, "evaluate-lisp", { code: "(sb-thread:make-thread (lambda () (break)))" });
    while (first.agent.stops.live.length === 0) await setTimeout(50);
    const look = { frame: 0, code: "(+ 1 2)" };
    expect(await asked(first, "Yes, for this stop", "debugger_eval_in_frame", look)).to.have.length(1);
    expect(await asked(first, "No", "debugger_eval_in_frame", look)).to.have.length(0);
    expect(await asked(second, "No", "debugger_eval_in_frame", look)).to.have.length(1);
    await callTool(first, "debugger_continue");
  });

  it("keeps a stop that both can see until the last one disconnects", async () => {
    await callTool(first, "evaluate-lisp", { code: "(sb-thread:make-thread (lambda () (break)))" });
    while (first.agent.stops.live.length === 0) await setTimeout(50);
    await callTool(second, "evaluate-lisp", { code: '(error "second")' });
    const client = (await first.agent.host.current())?.client;
    second.agent.close();
    while (client?.stops.length !== 1) await setTimeout(50);
    expect(client?.stops.map(({ reason }) => reason)).to.deep.equal(["break"]);
    first.agent.close();
    while ((client?.stops.length ?? 0) > 0) await setTimeout(50);
    expect(client?.stops).to.deep.equal([]);
  });

  it("ends an agent's stops when it disconnects, and announces a reset to the other", async () => {
    await callTool(first, "evaluate-lisp", { code: '(error "first")' });
    await callTool(second, "evaluate-lisp", { code: '(error "second")' });
    second.agent.close();
    const client = (await first.agent.host.current())?.client;
    while (client?.stops.length !== 1) await setTimeout(50);
    expect(client?.stops.map(({ condition }) => condition.message)).to.deep.equal(["first"]);
    const third = besides(first);
    await callTool(third, "reset-session");
    expect((await callTool(first, "lisp-status")).structured)
      .to.have.nested.property("notices[0]")
      .that.includes("Another client of this server has reset the session");
    expect(await stopped(first)).to.deep.equal([]);
    third.agent.close();
  });
});
