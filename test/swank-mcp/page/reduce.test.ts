import { expect } from "chai";
import type { PageCall, PageEvent, PageQuestion, PageState, PageStop } from "#swank-mcp/page/model.js";
import { MOST_CALLS, MOST_OUTPUT, news, reduce } from "#swank-mcp-page/reduce.js";

const empty: PageState = {
  server: { version: "0.1.0", mode: "server", isReadOnly: false, epoch: "e" },
  image: { state: "none" },
  agents: [],
  calls: [],
  forgotten: 0,
  stops: [],
  questions: [],
};

const call = (id: string, more: Partial<PageCall> = {}): PageCall => ({
  id,
  agent: "a",
  tool: "evaluate-lisp",
  code: "1",
  isLisp: true,
  begun: 0,
  output: "",
  ...more,
});

const stop = (thread: number, since = 1): PageStop => ({
  thread,
  level: 1,
  reason: "error",
  type: "DIVISION-BY-ZERO",
  message: "",
  restarts: [],
  since,
});

const question: PageQuestion = {
  number: 3,
  agent: "claude",
  action: "evaluate code in frame #2",
  particulars: [],
  circumstances: [],
  forStop: true,
  asked: 0,
  until: 1,
};

/** The state after events, from the empty one. */
function stateAfter(...events: readonly PageEvent[]): PageState {
  const state = [{ type: "state", state: empty } satisfies PageEvent, ...events].reduce(reduce, undefined);
  if (state === undefined) throw new Error("There is no state.");
  return state;
}

describe("reduce", () => {
  it("knows nothing before the first snapshot", () => {
    expect(reduce(undefined, { type: "stops", stops: [] })).to.equal(undefined);
  });

  it("replaces agents and calls in their places, and adds new ones at the end", () => {
    const { calls, agents } = stateAfter(
      { type: "agent", agent: { id: "a", name: "A", state: "idle" } },
      { type: "agent", agent: { id: "b", name: "B", state: "idle" } },
      { type: "agent", agent: { id: "a", name: "A", state: "running" } },
      { type: "call", call: call("1") },
      { type: "call", call: call("2") },
      { type: "call", call: call("1", { outcome: "returned" }) },
    );
    expect(agents.map(({ id, state }) => `${id} ${state}`)).to.deep.equal(["a running", "b idle"]);
    expect(calls.map(({ id, outcome }) => `${id} ${outcome}`)).to.deep.equal(["1 returned", "2 undefined"]);
  });

  it("removes agents and questions", () => {
    const { agents, questions } = stateAfter(
      { type: "agent", agent: { id: "a", name: "A", state: "idle" } },
      { type: "question", question },
      { type: "agent-gone", id: "a" },
      { type: "question-gone", number: 3, how: "allowed here" },
    );
    expect([agents, questions]).to.deep.equal([[], []]);
  });

  it("forgets the oldest calls that have ended, and counts them", () => {
    const ended = Array.from({ length: MOST_CALLS + 4 }, (_, id) => call(String(id), { ended: 1 }));
    const events = [call("runs"), ...ended].map((each) => ({ type: "call", call: each }) as const);
    const { calls, forgotten } = stateAfter(...events);
    expect([calls.length, calls[0]?.id, calls[1]?.id, forgotten]).to.deep.equal([MOST_CALLS, "runs", "5", 5]);
  });

  it("forgets the oldest of all if all run", () => {
    const calls = Array.from({ length: MOST_CALLS + 2 }, (_, id) => call(String(id)));
    expect(stateAfter({ type: "state", state: { ...empty, calls } }).calls[0]?.id).to.equal("2");
  });

  it("keeps the end of the output, and ignores that of unknown calls", () => {
    const { calls } = stateAfter(
      { type: "call", call: call("1") },
      { type: "output", call: "1", text: "ab" },
      { type: "output", call: "2", text: "lost" },
      { type: "output", call: "1", text: "x".repeat(MOST_OUTPUT - 1) },
      { type: "output", call: "1", text: "end" },
    );
    expect(calls.map(({ output }) => output)).to.deep.equal([`${"x".repeat(MOST_OUTPUT - 3)}end`]);
  });

  it("leaves what an event does not name as it is", () => {
    const before = stateAfter({ type: "call", call: call("1") });
    const next = reduce(before, { type: "image", image: { state: "open", package: "APP" } });
    expect(next?.calls).to.equal(before.calls);
    expect(next?.image.package).to.equal("APP");
  });
});

describe("news", () => {
  const state = stateAfter({ type: "stops", stops: [stop(7)] }, { type: "question", question });

  it("says who asks for what, and how a question has ended", () => {
    expect(news(state, { type: "question", question })).to.deep.equal(["claude asks to evaluate code in frame #2."]);
    expect(news(state, { type: "question-gone", number: 3, how: "refused in Emacs" })).to.deep.equal([
      "The question of claude to evaluate code in frame #2: refused in Emacs.",
    ]);
  });

  it("says which threads have stopped since", () => {
    expect(news(state, { type: "stops", stops: [stop(7), stop(8)] })).to.deep.equal([
      "Thread 8 stopped: DIVISION-BY-ZERO.",
    ]);
    expect(news(state, { type: "stops", stops: [stop(7, 2)] })).to.have.length(1);
    expect(news(state, { type: "stops", stops: [] })).to.deep.equal([]);
  });

  it("says once that the image is lost", () => {
    const lost = { type: "image", image: { state: "lost", why: "It has exited." } } as const;
    expect(news(state, lost)).to.deep.equal(["The image is lost. It has exited."]);
    const then = reduce(state, lost);
    expect(news(then, lost)).to.deep.equal([]);
  });
});
