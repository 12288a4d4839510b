import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { PageStops } from "#swank-mcp/page/stops.js";
import { liveFolder } from "../../support/live-server.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { codeOf, PageBeside } from "../../support/page-session.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

const SHOP = `(defpackage :shop (:use :cl))
(in-package :shop)
(declaim (optimize (debug 3)))
(defclass order () ((items :initarg :items :reader items)))
(defun price (order discount)
  (let ((sum (reduce #'+ (items order))))
    (/ sum discount)))
(defun total (order)
  (list (price order 0)))
(defun busy (seconds)
  (loop with end = (+ (get-internal-real-time) (* seconds internal-time-units-per-second))
        while (< (get-internal-real-time) end)
        sum (length (make-list 100))))
`;

describe("PageLooks", function () {
  this.timeout(120_000);
  const folder = liveFolder("page-looks");
  let image: RealSwank;
  let agent: McpStdio;
  let page: PageBeside;

  before(async () => {
    image = await startRealSwank();
    agent = await McpStdio.start(["--attach", String(image.port)]);
    page = new PageBeside(image.port);
    const file = join(folder, "shop.lisp");
    await writeFile(file, SHOP);
    await agent.evaluate(`(load (compile-file ${JSON.stringify(file)}))`);
  });

  after(async () => {
    await page.close();
    await agent.close();
    await image.stop();
  });

  /** The latest stop of the agent's evaluation of this code. */
  async function stopOf(code: string): Promise<{ readonly thread: number; readonly level: number }> {
    await agent.evaluate(code);
    const session = await page.watch.session(new AbortController().signal);
    const stops = await new PageStops().list(session);
    const latest = stops.reduce((one, other) => (other.thread > one.thread ? other : one));
    return { thread: latest.thread, level: latest.level };
  }

  it("shows a stop of an agent with its frames, and a frame with its variables and source", async () => {
    const place = await stopOf("(shop::total (make-instance 'shop::order :items (list 1 2 3)))");
    const { stop, slots, frames, totalFrames } = await page.see("stop", place);
    expect(stop).to.deep.include({ ...place, owner: "test", reason: "error", type: "DIVISION-BY-ZERO" });
    expect(stop.restarts.map(({ name }) => name)).to.include("RETRY");
    expect(stop.since).to.be.closeTo(Date.now(), 60_000);
    expect(slots).to.deep.include({ name: "OPERANDS", value: "(6 0)" });
    expect(totalFrames).to.be.greaterThan(frames.length);
    const [price, total] = frames.filter(({ kind }) => kind === "user");
    expect(price?.call).to.match(/^\(SHOP::PRICE #<SHOP::ORDER \{\w+\}> 0\)$/);
    expect(total).to.deep.include({ isRestartable: true });
    expect(await page.see("frames", { ...place, start: 20 })).to.have.nested.property("frames[0].index", 20);

    const { variables, source } = await page.see("frame", { ...place, frame: price?.index ?? -1 });
    const facts = variables.map(({ name, value, marks }) => ({ name, value, marks }));
    expect(facts).to.deep.include({ name: "DISCOUNT", value: "0", marks: ["argument"] });
    expect(source?.file).to.match(/shop\.lisp$/);
    expect(source?.lines[(source.line ?? 0) - (source.first ?? 0)]).to.equal("    (/ sum discount)))");

    const order = variables.find(({ name }) => name === "ORDER");
    const view = await page.see("object", { id: order?.objectId ?? 0, start: 0 });
    expect(view.parts).to.have.nested.property("[0].name", "SHOP::ITEMS");
    const items = await page.see("object", { id: view.parts[0]?.id ?? 0, start: 2 });
    expect(items.parts.map(({ text }) => text)).to.deep.equal(["3"]);
  });

  it("shows the form of evaluated code with the line of the call in progress", async () => {
    const place = await stopOf(
      '(defun checked (x)\n  (let ((y (* 2 x)))\n    (list y (error "No ~a." y))))\n(checked 4)',
    );
    const { frames } = await page.see("stop", place);
    const checked = frames.find(({ call }) => call.startsWith("(CHECKED"));
    const { source } = await page.see("frame", { ...place, frame: checked?.index ?? -1 });
    expect(source).to.deep.include({ file: "", first: 1 });
    expect(source?.lines[(source?.line ?? 0) - 1]).to.equal('    (list y (error "No ~a." y))))');
    expect(source?.isEvaluated).to.equal(true);
    // Whose text has no such call any more.
    await agent.evaluate("(defun checked (x) (list x))");
    const later = await page.see("frame", { ...place, frame: checked?.index ?? -1 });
    expect(later.source)
      .to.deep.include({ file: "", lines: ['(ERROR "No ~a." Y)'] })
      .and.not.have.property("isEvaluated");
  });

  it("refuses wrong arguments, and what is not there", async () => {
    const place = await stopOf('(error "one")');
    expect(codeOf(await page.look("stop", { ...place, level: "1" }))).to.equal("INVALID_ARGUMENTS");
    expect(codeOf(await page.look("stop", { ...place, more: 1 }))).to.equal("INVALID_ARGUMENTS");
    expect(codeOf(await page.look("constructor"))).to.equal("INVALID_ARGUMENTS");
    expect(codeOf(await page.looks.answer(null, new AbortController().signal))).to.equal("INVALID_ARGUMENTS");
    expect(codeOf(await page.look("frame", { ...place, frame: 5000 }))).to.equal("INVALID_FRAME");
    expect(codeOf(await page.look("stop", { ...place, level: 2 }))).to.equal("STALE_STOP");
    expect(codeOf(await page.look("object", { id: 999_999, start: 0 }))).to.equal("NO_SUCH_OBJECT");
    await agent.call("debugger_invoke_restart", { restart: "ABORT", thread: `${place.thread}/${place.level}` });
    expect(codeOf(await page.look("frames", { ...place, start: 0 }))).to.equal("STALE_STOP");
  });

  it("shows threads, definitions that no file has, and the heap", async () => {
    await agent.evaluate("(defun shop::unsaved () 1)");
    const { threads } = await page.see("threads", { frames: true });
    expect(threads.map(({ name }) => name)).to.include("main thread");
    const changes = await page.see("changes", {});
    expect(changes).to.have.property("status", "found");
    expect(JSON.stringify(changes)).to.match(/"name":"SHOP::UNSAVED"/);
    const heap = await page.see("heap", {});
    expect(heap).to.deep.include({ collected: "no" });
    expect(heap.types.length).to.be.greaterThan(20);
    expect(heap.used).to.be.lessThan(heap.size);
  });

  it("profiles and traces what agents run, and gives up when the request is dropped", async () => {
    const running = agent.evaluate("(shop::busy 8)");
    const profile = await page.see("profile", { seconds: 1, mode: "cpu" });
    expect(profile.samples).to.be.greaterThan(10);
    const trace = await page.see("trace", { functions: ["shop::busy"], seconds: 0.2 });
    expect(trace).to.deep.include({ calls: 0, end: "returned" });
    expect(codeOf(await page.look("trace", { functions: ["shop::none"], seconds: 1 }))).to.equal("WATCH_REFUSED");
    const dropped = new AbortController();
    const waiting = page.look("profile", { seconds: 100, mode: "alloc" }, dropped.signal);
    await setTimeout(500);
    dropped.abort();
    expect(codeOf(await waiting)).to.equal("CANCELLED");
    expect(await page.see("profile", { seconds: 0.1, mode: "cpu" })).to.have.property("end", "returned");
    await running;
  });

  it("says that an image hangs, without waiting for it for long", async () => {
    image.process.kill("SIGSTOP");
    try {
      const reply = await page.look("threads");
      expect(codeOf(reply)).to.equal("IMAGE_HANGS");
      expect(codeOf(await page.look("changes"))).to.equal("IMAGE_HANGS");
    } finally {
      image.process.kill("SIGCONT");
    }
    await agent.evaluate("1");
    expect(await page.see("threads", {})).to.have.property("threads");
  });
});
