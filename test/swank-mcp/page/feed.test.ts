import { PassThrough, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import * as z from "zod";
import { Feed, type PublishedCall } from "#swank-mcp/page/feed.js";
import type { PageAgent, PageEvent } from "#swank-mcp/page/model.js";
import { ServedPage } from "../../support/page-server.js";

const SERVER = { version: "0", mode: "server", isReadOnly: false } as const;

function callOf(number: number, more: Partial<PublishedCall> = {}): PublishedCall {
  return {
    id: `c${number}`,
    agent: "a1",
    tool: "evaluate-lisp",
    code: `(f ${number})`,
    isLisp: true,
    begun: number,
    ...more,
  };
}

const eventSchema = z.custom<PageEvent>((event) => typeof event === "object");

/** A reader that takes all, and the events that it has got. */
class Taking extends PassThrough {
  #text = "";

  constructor() {
    super({ highWaterMark: 100_000_000 });
    this.on("data", (bytes) => {
      this.#text += String(bytes);
    });
  }

  get sent(): { readonly id: string; readonly event: PageEvent }[] {
    return [...this.#text.matchAll(/^id: (.*)\ndata: (.*)\n\n/gm)].map(([, id = "", data = ""]) => ({
      id,
      event: eventSchema.parse(JSON.parse(data)),
    }));
  }

  get types(): string[] {
    return this.sent.map(({ event }) => event.type);
  }
}

/** A reader that takes nothing until it is told to. */
class Slow extends Writable {
  text = "";
  #take: () => void = () => {};

  constructor() {
    super({ highWaterMark: 1000, decodeStrings: false });
  }

  override _write(text: string, _: string, done: () => void): void {
    this.text += text;
    this.#take = done;
  }

  take(): void {
    const take = this.#take;
    this.#take = () => {};
    take();
  }
}

describe("Feed", () => {
  let feed: Feed;
  beforeEach(() => {
    feed = new Feed(SERVER);
  });
  afterEach(() => feed.close());

  const read = async (lastId?: string) => {
    const reader = new Taking();
    feed.send(reader, lastId);
    await setTimeout(0);
    return reader;
  };

  /** Lets changes be published, and readers take them. */
  const settle = async () => {
    void feed.state;
    await setTimeout(0);
  };

  const callMany = async (count: number, more: Partial<PublishedCall> = {}) => {
    for (let number = 1; number <= count; number++) {
      feed.call(callOf(number, more));
      if (number % 100 === 0) await settle();
    }
  };

  it("sends the state, and then events with ids that count up", async () => {
    feed.call(callOf(1));
    const reader = await read();
    feed.call(callOf(1, { ended: 5, outcome: "returned" }));
    feed.stops([]);
    await settle();
    const [state, ...events] = reader.sent;
    expect(state?.event).to.have.nested.property("state.calls[0].code", "(f 1)");
    expect(events.map(({ event }) => event.type)).to.deep.equal(["call", "stops"]);
    const { epoch } = feed.state.server;
    expect(reader.sent.map(({ id }) => id)).to.deep.equal([`${epoch}-1`, `${epoch}-2`, `${epoch}-3`]);
  });

  it("sends a reader that comes back only what it has missed", async () => {
    const first = await read();
    for (let number = 1; number <= 3; number++) feed.call(callOf(number));
    await settle();
    first.destroy();
    const second = await read(first.sent[1]?.id);
    expect(second.sent.map(({ event }) => event.type === "call" && event.call.id)).to.deep.equal(["c2", "c3"]);
    const third = await read(first.sent[3]?.id);
    expect(third.types).to.deep.equal([]);
  });

  it("sends the state to a reader of another start, or one that has missed too much, or that names no event", async () => {
    const first = await read();
    await callMany(2500);
    const { epoch } = feed.state.server;
    for (const id of [first.sent[0]?.id, "other-2400", `${epoch}-9999`, `${epoch}--1`, `${epoch}-x`, `${epoch}`, "-"])
      expect((await read(id)).types, id).to.deep.equal(["state"]);
    expect((await read(`${epoch}-2499`)).types).to.deep.equal(["call"]);
  });

  it("keeps at most 4 million characters of events", async () => {
    const first = await read();
    const code = "x".repeat(2000);
    await callMany(2500, { code, output: code });
    const { epoch } = feed.state.server;
    expect((await read(`${epoch}-1400`)).types).to.deep.equal(["state"]);
    expect((await read(`${epoch}-1700`)).types).to.have.length(800);
    first.destroy();
  });

  it("sends a slow reader the state instead of the events that it cannot take", async () => {
    const reader = new Slow();
    feed.send(reader);
    await callMany(10_000, { code: "x".repeat(1000) });
    expect(reader.writableLength).to.be.below(100_000);
    for (let count = 0; count < 20; count++) {
      reader.take();
      await setTimeout(0);
    }
    expect(reader.text.match(/"type":"state"/g)).to.have.length(2);
    expect(reader.text).to.include('"forgotten":9000').and.include('"id":"c10000"');
    reader.destroy();
  });

  it("lists at most 1,000 calls, and those that run before those that have ended", () => {
    feed.call(callOf(0));
    for (let number = 1; number <= 10_000; number++) feed.call(callOf(number, { ended: number }));
    const { calls, forgotten } = feed.state;
    expect(calls).to.have.length(1000);
    expect(forgotten).to.equal(9001);
    expect(calls.map(({ id }) => id).slice(0, 2)).to.deep.equal(["c0", "c9002"]);
  });

  it("collects the output of a call, and keeps and sends the end of it", async () => {
    const reader = await read();
    feed.call(callOf(1));
    for (let number = 1; number <= 20_000; number++) feed.output("c1", `line ${number}\n`);
    await settle();
    expect(reader.types).to.deep.equal(["state", "call"]);
    for (let number = 1; number <= 20_000; number++) feed.output("c1", `line ${number}\n`);
    await setTimeout(120);
    const outputs = reader.sent.flatMap(({ event }) => (event.type === "output" ? [event.text] : []));
    expect(outputs).to.have.length.within(1, 3);
    expect(outputs.at(-1))
      .to.have.length(2000)
      .and.match(/line 20000\n$/);
    feed.output("c1", "last");
    feed.call(callOf(1, { ended: 9 }));
    await settle();
    expect(reader.types.at(-1)).to.equal("call");
    expect(reader.sent.at(-1)?.event).to.have.nested.property("call.output").and.match(/last$/);
    expect(feed.state.calls[0]?.output)
      .to.have.length(2000)
      .and.match(/line 20000\nlast$/);
  });

  it("publishes the last change of a thing of several that come at once, and no agent that is again as it was", async () => {
    feed.agent({ id: "a1", name: "one", state: "idle" });
    const reader = await read();
    const change = async (...states: readonly PageAgent["state"][]) => {
      for (const state of states) feed.agent({ id: "a1", name: "one", state });
      await settle();
    };
    await change("running", "idle", "running");
    await change("idle", "running");
    await change("asking");
    for (let ended = 1; ended <= 10; ended++) feed.call(callOf(1, { ended }));
    await settle();
    const [, ...events] = reader.sent.map(({ event }) => event);
    expect(events.map((event) => (event.type === "agent" ? event.agent.state : event.type))).to.deep.equal([
      "running",
      "asking",
      "call",
    ]);
    expect(events.at(-1)).to.have.nested.property("call.ended", 10);
  });

  it("keeps output without a reader, too, and ignores that of unknown calls", () => {
    feed.call(callOf(1));
    feed.output("c1", "one ");
    feed.output("c1", "two");
    feed.output("c2", "lost");
    expect(feed.state.calls.map(({ output }) => output)).to.deep.equal(["one two"]);
  });

  it("sends output to a reader that comes between, once", async () => {
    const first = await read();
    feed.call(callOf(1));
    await settle();
    feed.output("c1", "text");
    const second = await read();
    expect(first.types).to.deep.equal(["state", "call", "output"]);
    expect(second.types).to.deep.equal(["state"]);
    expect(second.sent[0]?.event).to.have.nested.property("state.calls[0].output", "text");
  });

  it("says when somebody begins to watch, and when nobody has for a while", async () => {
    const short = new Feed(SERVER, 30);
    const seen: boolean[] = [];
    short.onWatch((isWatched) => seen.push(isWatched));
    const one = new Taking();
    short.send(one);
    one.destroy();
    await setTimeout(0);
    const two = new Taking();
    short.send(two);
    await setTimeout(60);
    expect(seen).to.deep.equal([true]);
    two.destroy();
    await setTimeout(60);
    expect(seen).to.deep.equal([true, false]);
    expect(short.isWatched).to.equal(false);
    short.close();
  });

  it("replaces questions, stops, agents and the image, and forgets what has gone", () => {
    const question = {
      number: 3,
      agent: "a",
      action: "x",
      particulars: [],
      circumstances: [],
      forStop: false,
      asked: 1,
      until: 2,
    };
    feed.question(question);
    feed.agent({ id: "a1", name: "one", state: "idle" });
    feed.agent({ id: "a1", name: "one", state: "running" });
    feed.image({ state: "open", pid: 7 });
    expect(feed.state).to.deep.include({
      questions: [question],
      agents: [{ id: "a1", name: "one", state: "running" }],
      image: { state: "open", pid: 7 },
    });
    feed.questionGone(3, "allowed here");
    feed.agentGone("a1");
    expect(feed.state).to.deep.include({ questions: [], agents: [] });
  });

  it("continues over HTTP where a lost connection has ended", async () => {
    const page = await ServedPage.start();
    try {
      const visitor = await page.visit();
      const first = await visitor.events();
      await first.state();
      page.feed.call(callOf(1));
      await first.until(({ type }) => type === "call");
      first.close();
      page.feed.call(callOf(2));
      const second = await visitor.events(first.lastId);
      page.feed.stops([]);
      await second.until(({ type }) => type === "stops");
      expect(second.events.map(({ type }) => type)).to.deep.equal(["call", "stops"]);
      second.close();
    } finally {
      await page.close();
    }
  });
});
