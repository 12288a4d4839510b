import { expect } from "chai";
import type { PageCall } from "#swank-mcp/page/model.js";
import {
  FilteredCalls,
  isRunning,
  MOST_ROWS,
  outcomeOf,
  outcomeWord,
  TimelineWindow,
} from "#swank-mcp-page/timeline-filter.js";

const call = (id: string, more: Partial<PageCall> = {}): PageCall => ({
  id,
  agent: "a",
  tool: "evaluate-lisp",
  code: "(f)",
  isLisp: true,
  begun: 0,
  ended: 1,
  output: "",
  ...more,
});

const many = (count: number) => Array.from({ length: count }, (_, id) => call(String(id)));

const ids = (calls: readonly PageCall[]) => calls.map(({ id }) => id);

describe("FilteredCalls", () => {
  const { ended: _, ...running } = call("4");
  const calls = [
    call("1", { code: "(Total ORDER)" }),
    call("2", { agent: "b", output: "total: 3" }),
    call("3", { tool: "load-file", isError: true, summary: "READ_ERROR" }),
    running,
  ];

  it("passes all calls without a filter", () => {
    expect(new FilteredCalls().of(calls)).to.equal(calls);
  });

  it("finds words in code, output and summary, in upper and lower case", () => {
    const filtered = new FilteredCalls();
    filtered.set({ text: "TOTAL" });
    expect(ids(filtered.of(calls))).to.deep.equal(["1", "2"]);
    filtered.set({ text: " total  order " });
    expect(ids(filtered.of(calls))).to.deep.equal(["1"]);
    filtered.set({ text: "read_error" });
    expect(ids(filtered.of(calls))).to.deep.equal(["3"]);
  });

  it("joins all filters, and sees that a call has changed", () => {
    const filtered = new FilteredCalls();
    filtered.set({ agent: "a", outcome: "running" });
    expect(ids(filtered.of(calls))).to.deep.equal(["4"]);
    expect(ids(filtered.of([...calls.slice(0, 3), call("4")]))).to.deep.equal([]);
  });
});

describe("outcomeOf", () => {
  it("takes a stop before an error", () => {
    expect(outcomeOf(call("1", { isError: true, stop: "7/1" }))).to.equal("stopped");
    expect(outcomeOf(call("1", { isError: true }))).to.equal("error");
    expect(outcomeOf(call("1", { outcome: "aborted" }))).to.equal("error");
    const { ended: _, ...open } = call("1");
    expect([open, { ...open, stop: "7/1" }, { ...open, waits: true }].map(outcomeWord)).to.deep.equal([
      "running",
      "stopped",
      "waits (paused)",
    ]);
    expect([isRunning(open), isRunning({ ...open, stop: "7/1" })]).to.deep.equal([true, false]);
    expect(outcomeOf(call("1"))).to.equal("ok");
  });
});

describe("TimelineWindow", () => {
  it("shows the latest calls while one follows", () => {
    const { rows, start, later } = new TimelineWindow().of(many(1000));
    expect([rows.at(-1)?.id, start + rows.length, later]).to.deep.equal(["999", 1000, 0]);
    expect(rows.length).to.be.at.most(MOST_ROWS);
  });

  it("stays where one reads while calls come, and counts those", () => {
    const window = new TimelineWindow();
    window.hold(many(1000));
    const { rows, later } = window.of(many(1010));
    expect([rows[0]?.id, rows.length, later, window.isFollowing]).to.deep.equal(["800", MOST_ROWS, 10, false]);
  });

  it("moves back to the first call, and forth until it follows", () => {
    const window = new TimelineWindow();
    const calls = many(450);
    window.hold(calls);
    const starts = [-1, -1, -1, 1, 1].map((direction) => {
      window.move(calls, direction === 1 ? 1 : -1);
      return window.of(calls).start;
    });
    expect(starts).to.deep.equal([150, 50, 0, 100, 200]);
    window.move(calls, 1);
    expect(window.isFollowing).to.equal(true);
  });

  it("shows a call that is wanted", () => {
    const window = new TimelineWindow();
    const calls = many(1000);
    window.show(calls, "300");
    expect(ids(window.of(calls).rows)).to.include("300");
  });

  it("goes to the first kept call when the one at which it stays is forgotten", () => {
    const window = new TimelineWindow();
    window.hold(many(1000));
    expect(window.of(many(1000).slice(900)).start).to.equal(0);
  });
});
