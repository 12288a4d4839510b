import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import * as z from "zod";
import { ledgerLines } from "../../support/ledger.js";
import { liveFolder, liveSwank } from "../../support/live-server.js";
import { McpStdio } from "../../support/mcp-stdio.js";

describe("swank-mcp --ledger", function () {
  this.timeout(300_000);
  const lisp = liveSwank();
  const folder = liveFolder("ledger", { each: true });
  const path = join(folder, "ledger.jsonl");
  const servers: McpStdio[] = [];

  /** Starts a server for an agent of this name, whose client can ask. */
  async function start(name: string, ...args: readonly string[]): Promise<McpStdio> {
    const capabilities = { elicitation: {} };
    const server = new McpStdio(["--attach", String(lisp.port), "--ledger", path, ...args], { capabilities });
    servers.push(server);
    const clientInfo = { name, version: "0" };
    await server.request("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo });
    server.send({ method: "notifications/initialized" });
    return server;
  }

  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  it("has each call with its code, output and values, and each question with its answer", async () => {
    const agent = await start("one");
    await agent.evaluate('(progn (format t "said") (format *error-output* "warned") (values 1 :two))', {
      package: "CL-USER",
    });
    await agent.evaluate("(defun f (x) (list (car x)))\n(f 3)");
    const call = agent.startCall("debugger_eval_in_frame", { frame: 0, code: "x" });
    const { id } = await agent.notified("elicitation/create");
    agent.send({ id, result: { action: "accept", content: { answer: "Yes, for this stop" } } });
    await call.result;
    await agent.call("debugger_invoke_restart", { restart: "ABORT", thread: "77" });
    const lines = await ledgerLines(path);
    const own = lines.map(({ time, server, agent: name, ...rest }) => {
      expect(server).to.equal(agent.process.pid);
      expect(name).to.equal("one");
      return rest;
    });
    const end = { event: "end", is_error: false };
    expect(own[0]).to.deep.equal({
      event: "call",
      call: 1,
      tool: "evaluate-lisp",
      code: '(progn (format t "said") (format *error-output* "warned") (values 1 :two))',
      arguments: { package: "CL-USER" },
    });
    expect(own[1]).to.deep.include({ ...end, call: 1, outcome: "returned", values: ["1", ":TWO"] });
    expect(own[1]).to.include({ stdout: "said", stderr: "warned" });
    expect(own[1]).to.have.property("milliseconds").that.is.a("number");
    expect(own[3]).to.include({ event: "end", call: 2, outcome: "stopped", is_error: true });
    expect(own[3])
      .to.have.property("stop")
      .that.matches(/^\d+\/1$/);
    expect(own[3])
      .to.have.property("report")
      .that.matches(/^\[ERROR\] TYPE-ERROR/);
    expect(own.slice(4, 8).map(({ event, call: number }) => `${event} ${number}`)).to.deep.equal([
      "call 3",
      "asked 3",
      "answered 3",
      "end 3",
    ]);
    expect(own[5]).to.deep.include({
      operation: ":eval",
      action: "evaluate code in frame #0",
      particulars: { Code: "x" },
    });
    expect(own[6]).to.include({ allowed: true, by: "client", how: "Yes, for this stop" });
    expect(own[7]).to.deep.include({ ...end, outcome: "returned", values: ["3"] });
    expect(own[9]).to.include({
      event: "end",
      tool: "debugger_invoke_restart",
      outcome: "NO_SUCH_THREAD",
      is_error: true,
    });
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
  });

  it("has the end of each background evaluation, and what threads print", async () => {
    const agent = await start("one");
    await agent.call("evaluate-lisp", { code: '(sleep 0.5) (princ "late") 42', background: true });
    await agent.call("evaluate-lisp", { code: '(sleep 0.5) (error "late")', background: true });
    await agent.call("evaluate-lisp", {
      code: '(progn (sb-thread:join-thread (sb-thread:make-thread (lambda () (princ "threaded")))) 1)',
    });
    const ends = async () => (await ledgerLines(path)).filter(({ event }) => event === "background-end");
    while ((await ends()).length === 0) await agent.evaluate("(sleep 0.05)");
    expect((await ends())[0]).to.deep.include({ call: 1, id: 1, outcome: "returned", values: ["42"], stdout: "late" });
    const status = z.object({ stopped: z.array(z.object({ thread: z.string() })) });
    const stops = async () => status.parse((await agent.call("lisp-status")).structuredContent).stopped;
    while ((await stops()).length === 0) await agent.evaluate("(sleep 0.05)");
    const [stop] = await stops();
    await agent.call("debugger_invoke_restart", { restart: "ABORT", thread: stop?.thread ?? "" });
    while ((await ends()).length === 1) await agent.evaluate("(sleep 0.05)");
    expect((await ends())[1]).to.deep.include({ call: 2, id: 2, outcome: "aborted", is_error: false });
    const lines = await ledgerLines(path);
    expect(lines.find(({ call, event }) => call === 3 && event === "end"))
      .to.have.property("output_apart")
      .that.matches(/^\[output of thread \d+ [^\n]*\]\nthreaded$/);
  });

  it("is shared by two agents, with each line whole, bounded, and its cuts as data", async () => {
    const agents = [await start("one"), await start("two")];
    const code = `(progn (princ (make-string 60000 :initial-element #\\x)) ${`"${"y".repeat(30_000)}"`})`;
    await Promise.all(agents.flatMap((agent) => Array.from({ length: 8 }, () => agent.evaluate(code))));
    const lines = await ledgerLines(path);
    expect(lines).to.have.length(32);
    for (const name of ["one", "two"]) {
      const own = lines.filter(({ agent }) => agent === name);
      expect(new Set(own.map(({ server }) => server)).size).to.equal(1);
      expect(own.filter(({ event }) => event === "end").map(({ call }) => call)).to.have.members([
        1, 2, 3, 4, 5, 6, 7, 8,
      ]);
    }
    for (const line of lines) {
      expect(JSON.stringify(line).length).to.be.below(100_000);
      expect(line)
        .to.have.nested.property(line.event === "call" ? "cut.code" : "cut.values")
        .that.is.above(0);
      if (line.event === "call") expect(line).to.have.property("code").with.length(20_000);
    }
  });

  it("has what was refused by --read-only, and what was sent before the server was killed", async () => {
    const reader = await start("reader", "--read-only");
    await reader.evaluate("(delete-everything)");
    const doomed = await start("doomed");
    const running = doomed.evaluate("(sleep 600)").catch(() => []);
    const sent = async () => (await ledgerLines(path)).filter(({ agent }) => agent === "doomed");
    while ((await sent()).length === 0);
    doomed.process.kill("SIGKILL");
    await running;
    const lines = await ledgerLines(path);
    expect(lines.map(({ event, agent }) => `${agent} ${event}`)).to.deep.equal([
      "reader call",
      "reader end",
      "doomed call",
    ]);
    expect(lines[0]).to.include({ code: "(delete-everything)" });
    expect(lines[1]).to.include({ outcome: "READ_ONLY", is_error: true });
    expect(lines[2]).to.include({ code: "(sleep 600)" });
  });

  it("breaks no call when it cannot be written, and is reported once", async () => {
    const agent = await start("one", "--ledger", join(folder, "missing", "ledger.jsonl"));
    expect(await agent.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
    expect(await agent.evaluate("(+ 2 2)")).to.deep.equal(["=> 4"]);
    expect(agent.errorText.match(/the ledger cannot be written/g)).to.have.length(1);
  });
});
