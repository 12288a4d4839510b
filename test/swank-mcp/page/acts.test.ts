import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import { connect } from "swank-client";
import { AgentSession, openSession, readConfig, ToolServer } from "swank-mcp";
import type { Feed } from "#swank-mcp/page/feed.js";
import { imageKindOf, type WatchParts } from "#swank-mcp/page/image-watch.js";
import type { Act, PageStop } from "#swank-mcp/page/model.js";
import { AgentName, ImageHost } from "#swank-mcp/session/image.js";
import { liveFolder } from "../../support/live-server.js";
import { callTool, closeServer } from "../../support/mcp-server.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { codeOf, PageBeside } from "../../support/page-session.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

describe("page beside an image", function () {
  this.timeout(120_000);
  const folder = liveFolder("page-acts");
  let image: RealSwank;
  let agent: McpStdio;
  let page: PageBeside;

  before(async () => {
    image = await startRealSwank();
    agent = await McpStdio.start(["--attach", String(image.port)]);
    page = new PageBeside(image.port);
    page.open();
  });

  after(async () => {
    await page.close();
    await agent.close();
    await image.stop();
  });

  /** The stop of the agent's evaluation of this code, as the page shows it. */
  async function stopOf(code: string, message: RegExp): Promise<PageStop> {
    await agent.evaluate(code);
    return page.until(({ stops }) => stops.find((stop) => message.test(stop.message)));
  }

  it("shows the image, its agents and their calls with output and outcome", async () => {
    const shown = await page.until(({ image }) => (image.memory === undefined ? undefined : image));
    expect(shown).to.deep.include({ state: "open", pid: image.process.pid, address: `127.0.0.1:${image.port}` });
    expect(shown.implementation).to.match(/^SBCL \d/);
    expect(shown.threads).to.be.greaterThan(2);
    await agent.evaluate('(progn (princ "hello") (values 1 2))');
    const call = await page.until(({ calls }) => calls.find(({ code, ended }) => /hello/.test(code) && ended));
    expect(call).to.deep.include({
      tool: "evaluate",
      agentName: "test",
      outcome: "returned",
      isError: false,
      isLisp: true,
    });
    expect(call).to.deep.include({ output: "hello", summary: "=> 1" });
    const [shownAgent] = page.feed.state.agents;
    expect(shownAgent).to.deep.include({ id: call.agent, name: "test" });
    expect(await page.see("call", { id: call.id })).to.deep.include({ output: "hello" });
    expect(codeOf(await page.look("call", { id: "i1-0" }))).to.equal("NOT_AVAILABLE");
  });

  it("evaluates in a frame of a stop, and invokes a restart with values", async () => {
    await agent.evaluate('(defun risky (x) (restart-case (error "No ~a" x) (use (value) (list x value))))');
    const stop = await stopOf("(risky 5)", /No 5/);
    const { thread, level } = stop;
    const { frames } = await page.see("stop", { thread, level });
    const frame = frames.find(({ call }) => call.startsWith("(RISKY"))?.index ?? -1;
    expect(await page.do({ act: "eval-in-frame", thread, level, frame, code: "(* x 10)" })).to.equal("=> 50");
    const failed = await page.try({ act: "eval-in-frame", thread, level, frame, code: "(car x)" });
    expect(codeOf(failed)).to.equal("FRAME_EVALUATION_FAILED");
    const wrong = await page.try({ act: "restart", thread, level, index: 99, values: [] });
    expect(codeOf(wrong)).to.equal("NO_SUCH_RESTART");
    const index = stop.restarts.find(({ name }) => name === "USE")?.index ?? -1;
    const done = await page.do({ act: "restart", thread, level, index, values: ["(+ 1 2)"] });
    expect(done).to.equal(`Invoked restart USE in thread ${thread}/${level}.`);
    const call = await page.until(({ calls }) => calls.find(({ code, ended }) => code === "(risky 5)" && ended));
    expect(call).to.deep.include({ outcome: "returned", summary: "=> (5 3)" });
    await page.until(({ stops }) => stops.every((each) => each.thread !== thread) || undefined);
    const late = await page.try({ act: "restart", thread, level, index, values: [] });
    expect(codeOf(late)).to.equal("STALE_STOP");
  });

  it("evaluates for the person, whose stops are left by restarts, too", async () => {
    expect(await page.do({ act: "evaluate", code: "(+ 1 2)" })).to.match(/^=> 3/);
    const report = await page.do({ act: "evaluate", code: '(restart-case (error "mine") (go-on () :on))' });
    expect(report).to.match(/mine/);
    const stop = await page.until(({ stops }) => stops.find(({ owner }) => owner === "you"));
    const { thread, level, restarts } = stop;
    const index = restarts.find(({ name }) => name === "GO-ON")?.index ?? -1;
    expect(await page.do({ act: "restart", thread, level, index, values: [] })).to.match(/=> :ON/);
    expect(await page.do({ act: "evaluate", code: "(+ 1" })).to.match(/a closing parenthesis is missing/);
    expect(codeOf(await page.try({ act: "evaluate", code: "; nothing" }))).to.equal("EMPTY_CODE");
  });

  it("interrupts a thread of an agent, which its call then reports", async () => {
    const call = agent.evaluate('(loop (sleep 0.1) (when (probe-file "/nowhere") (return)))');
    const { thread } = await page.until(async () => running());
    expect(await page.do({ act: "interrupt", thread })).to.equal(`Interrupted thread ${thread}.`);
    expect((await call).join("\n")).to.match(/interrupt/i);
    const stop = await page.until(({ stops }) =>
      stops.find((each) => each.thread === thread && each.reason === "interrupt"),
    );
    const abort = stop.restarts.findLast(({ name }) => name === "ABORT")?.index ?? -1;
    await page.do({ act: "restart", thread, level: stop.level, index: abort, values: [] });
    expect(codeOf(await page.try({ act: "interrupt", thread: 99_999 }))).to.equal("STALE_STOP");
  });

  it("allows what an agent asks, once", async () => {
    image.type('(sb-thread:make-thread (lambda () (loop (sleep 0.1))) :name "program")');
    const { threads } = await page.until(async () => {
      const seen = await page.see("threads", {});
      return seen.threads.some(({ name }) => name === "program") ? seen : undefined;
    });
    const program = threads.find(({ name }) => name === "program")?.id ?? -1;
    const other = new PageBeside(image.port);
    const gone = [page, other].map(({ feed }) => ends(feed));
    other.open();
    await other.until(({ agents }) => agents[0]);
    const allowed = agent.call("interrupt-thread", { thread: String(program), mode: "kill" });
    const question = await page.until(({ questions }) => questions[0]);
    await other.until(({ questions }) => questions[0]);
    expect(question).to.deep.include({ agent: "test", action: `kill thread ${program}`, forStop: false });
    expect(question.particulars).to.deep.include(["Thread", "program"]);
    expect(question.until - question.asked).to.be.within(10_000, 60_000);
    expect(page.feed.state.agents[0]).to.deep.include({ state: "asking" });
    const forStop = await page.try({ act: "answer", question: question.number, answer: "stop" });
    expect(codeOf(forStop)).to.equal("INVALID_ARGUMENTS");
    expect(await page.do({ act: "answer", question: question.number, answer: "yes" })).to.equal("Allowed.");
    expect((await allowed).isError).to.equal(false);
    await page.until(({ questions }) => questions.length === 0 || undefined);
    const again = await page.try({ act: "answer", question: question.number, answer: "no" });
    expect(codeOf(again)).to.equal("TOO_LATE");
    await other.until(({ questions }) => questions.length === 0 || undefined);
    expect(gone).to.deep.equal([["allowed here"], ["allowed at another page"]]);
    await other.close();
  });

  it("saves a definition to its file", async () => {
    const file = join(folder, "greet.lisp");
    await writeFile(file, '(in-package :cl-user)\n(defun greet () "hello")\n');
    await agent.evaluate(`(load ${JSON.stringify(file)})`);
    await agent.evaluate('(defun greet () "good day")');
    const changes = await page.see("changes", {});
    const change = changes.status === "found" ? changes.changes.find(({ name }) => /GREET/.test(name)) : undefined;
    expect(change).to.deep.include({ kind: "function", state: "differs" });
    const { kind = "", name = "" } = change ?? {};
    expect(await page.do({ act: "save", kind, name })).to.match(/^Saved function GREET to .*greet\.lisp\.$/);
    expect(await readFile(file, "utf8")).to.match(/good day/);
    expect(codeOf(await page.try({ act: "save", kind: "function", name: "no-such-thing" }))).to.equal("NOT_SAVED");
  });

  it("undoes a definition: with the form of its file, or by removing what no file has", async () => {
    const file = join(folder, "part.lisp");
    await writeFile(file, '(in-package :cl-user)\n(defun part () "hello")\n');
    await agent.evaluate(`(load ${JSON.stringify(file)})`);
    await agent.evaluate('(defun part () "good bye") (defun more () 1)');
    expect(await page.do({ act: "undo", kind: "function", name: "PART" })).to.match(/^Undid function PART/);
    expect((await agent.evaluate("(part)")).join("\n")).to.match(/=> "hello"/);
    expect(await page.do({ act: "undo", kind: "function", name: "MORE" })).to.match(/^Removed function MORE/);
    expect((await agent.evaluate("(fboundp 'more)")).join("\n")).to.match(/=> NIL/);
    expect(codeOf(await page.try({ act: "undo", kind: "function", name: "MORE" }))).to.equal("NOT_UNDONE");
  });

  it("refuses wrong acts", async () => {
    const sent = [
      null,
      {},
      { act: "toString" },
      { act: "interrupt", thread: "1" },
      { act: "evaluate", code: "1", more: 1 },
    ];
    const { signal } = new AbortController();
    for (const each of sent) expect(codeOf(await page.acts.answer(each, signal))).to.equal("INVALID_ARGUMENTS");
  });

  it("tells an agent something, pauses it, and throws it out", async () => {
    const { id } = await page.until(({ agents }) => agents.find(({ name }) => name === "test"));
    expect(await page.do({ act: "tell", agent: id, text: "Look at RISKY" })).to.match(/^Told test:/);
    expect((await agent.evaluate("1")).join("\n")).to.match(/The user asks: Look at RISKY/);
    expect(await page.do({ act: "tell", text: "All of you" })).to.match(/^Told test:/);
    expect(await page.do({ act: "pause", agent: id })).to.match(/^Paused test/);
    expect(page.feed.state.agents[0]).to.deep.include({ id, state: "paused" });
    const waiting = agent.evaluate("(list 7)");
    expect(await Promise.race([waiting, setTimeout(1000, "waits")])).to.equal("waits");
    expect(await page.do({ act: "resume", agent: id })).to.equal("Resumed test.");
    expect((await waiting).join("\n")).to.match(/=> \(7\)/);
    expect(codeOf(await page.try({ act: "let-back", agent: id }))).to.equal("NOT_AVAILABLE");
    expect(await page.do({ act: "throw-out", agent: id })).to.equal("Disconnected test.");
    await page.until(({ agents }) => agents.length === 0 || undefined);
    expect(codeOf(await page.try({ act: "pause", agent: id }))).to.equal("NO_SUCH_AGENT");
    expect((await agent.evaluate("1")).join("\n")).to.match(/The user has thrown this agent out/);
  });

  /** Collects how questions end. */
  function ends(feed: Feed): string[] {
    const found: string[] = [];
    const told = feed.questionGone.bind(feed);
    feed.questionGone = (number, how) => {
      found.push(how);
      told(number, how);
    };
    return found;
  }

  /** The thread of what an agent runs. */
  async function running(): Promise<{ readonly thread: number } | undefined> {
    const { threads } = await page.see("threads", {});
    const thread = threads.find(({ whose, state }) => whose === "client" && state === "sleep")?.id;
    return thread === undefined ? undefined : { thread };
  }
});

describe("page that only shows", function () {
  this.timeout(60_000);

  it("refuses every act, and is asked nothing", async () => {
    const image = await startRealSwank();
    const page = new PageBeside(image.port, { isReadOnly: true });
    page.open();
    await page.until(({ image }) => (image.state === "open" ? image : undefined));
    const acts: Act[] = [
      { act: "evaluate", code: "1" },
      { act: "answer", question: 1, answer: "yes" },
      { act: "tell", text: "Hello" },
    ];
    for (const act of acts) expect(codeOf(await page.try(act))).to.equal("READ_ONLY");
    expect(await page.see("threads", {})).to.have.property("count");
    expect(codeOf(await page.look("trace", { functions: ["print"], seconds: 1 }))).to.equal("READ_ONLY");
    await page.close();
    await image.stop();
  });
});

describe("ImageWatch", function () {
  this.timeout(120_000);

  it("connects while somebody watches, again after a loss, and leaves when nobody does", async () => {
    const first = await startRealSwank();
    const { port } = first;
    const page = new PageBeside(port);
    expect(page.feed.state.image).to.deep.equal({ state: "none" });
    page.open();
    await page.until(({ image }) => image.pid === first.process.pid || undefined);
    await first.stop();
    const lost = await page.until(({ image }) => (image.state === "lost" ? image : undefined));
    expect(lost.why).to.match(/connection/i);
    expect(codeOf(await page.look("threads"))).to.equal("LISP_UNREACHABLE");
    const second = await startRealSwank(undefined, port);
    await page.until(({ image }) => image.pid === second.process.pid || undefined);
    page.leave();
    const observer = await connect({ port, runtime: false });
    while ((await observer.request(read("(cl:length swank::*connections*)"), { label: "count" })) !== 1)
      await setTimeout(100);
    page.open();
    await page.until(({ image }) => image.memory !== undefined || undefined);
    await observer.close();
    await page.close();
    await second.stop();
  });

  it("says that there is no image when agents do not get one, and when theirs has gone while nobody watched", async () => {
    let kind: ReturnType<WatchParts["imageKind"]> = "connecting";
    const page = new PageBeside(1, { imageKind: () => kind });
    page.open();
    await page.until(({ image }) => image.state === "connecting" || undefined);
    kind = "failed";
    const { why } = await page.until(({ image }) => (image.state === "lost" ? image : undefined));
    expect(why).to.match(/^The image has ended, or cannot be reached or started\./);
    kind = "connecting";
    await page.until(({ image }) => image.state === "connecting" || undefined);
    kind = "none";
    await page.until(({ image }) => image.state === "none" || undefined);
    await page.close();
  });

  it("says that the image does not answer, and when it does again", async () => {
    const image = await startRealSwank();
    const page = new PageBeside(image.port);
    page.open();
    const { pid } = await page.until(({ image }) => (image.memory === undefined ? undefined : image));
    image.process.kill("SIGSTOP");
    const silent = await page.until(({ image }) => (image.why === undefined ? undefined : image));
    expect(silent).to.deep.include({ state: "open", pid });
    image.process.kill("SIGCONT");
    await page.until(({ image }) => image.why === undefined || undefined);
    await page.close();
    await image.stop();
  });

  it("shows no call of an agent of this server from the record, and tells the agent what was done in its thread", async () => {
    const image = await startRealSwank();
    const other = await McpStdio.start(["--attach", String(image.port)]);
    const config = readConfig(["--attach", String(image.port)], {});
    const name = new AgentName();
    // As the other one is called.
    name.set("test");
    await other.evaluate("1");
    const serve = (served: AgentName) =>
      new ToolServer(new AgentSession(new ImageHost(openSession(config, () => undefined, served)), config, served));
    const goneName = new AgentName();
    goneName.set("gone");
    const gone = serve(goneName);
    await callTool(gone, "evaluate-lisp", { code: "1" });
    await closeServer(gone);
    const served = serve(name);
    const agents = new Map([["a1", served.agent]]);
    const page = new PageBeside(image.port, {
      mode: "server",
      agents,
      imageKind: () => imageKindOf(undefined, [served.agent]),
    });
    page.open();
    expect(codeOf(await page.look("threads"))).to.equal("NO_IMAGE");
    await callTool(served, "evaluate-lisp", { code: '(error "served")' });
    const stop = await page.until(({ stops }) => stops.find(({ message }) => message === "served"));
    await other.evaluate("(+ 20 3)");
    await page.until(({ calls }) => calls.find(({ summary }) => summary === "=> 23"));
    expect(page.feed.state.calls.filter(({ agentName }) => agentName !== "test")).to.deep.equal([]);
    expect(page.feed.state.agents.map((agent) => agent.name)).to.deep.equal(["test"]);
    const { thread, level, restarts } = stop;
    const index = restarts.findLast(({ name }) => name === "ABORT")?.index ?? -1;
    await page.do({ act: "restart", thread, level, index, values: [] });
    const { blocks } = await callTool(served, "evaluate-lisp", { code: "1" });
    expect(blocks.join("\n")).to.include(`The user invoked restart ABORT in thread ${thread}/${level}.`);
    expect(await page.do({ act: "pause", agent: "a1" })).to.match(/^Paused test/);
    expect(served.agent.steering.state).to.equal("paused");
    await page.do({ act: "resume", agent: "a1" });
    await page.do({ act: "tell", agent: "a1", text: "Stop that" });
    expect((await callTool(served, "evaluate-lisp", { code: "2" })).blocks.join("\n")).to.match(/Stop that/);
    await image.stop();
    expect(await page.do({ act: "tell", text: "All of you" })).to.match(/^Told test: /);
    await page.close();
    await closeServer(served);
    await other.close();
  });
});
