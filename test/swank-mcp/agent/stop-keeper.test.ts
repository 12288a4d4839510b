import { mock } from "node:test";
import { expect } from "chai";
import { Notices } from "#swank-mcp/session/agent.js";
import { StopKeeper } from "#swank-mcp/session/stops.js";
import { stop } from "../../support/mcp-scripted.js";

const MINUTE = 60_000;

/** A stop and its evaluation, which ends the stop when it is aborted. */
function stopped(thread: number) {
  const session = stop(thread);
  const mine = {
    abort: async () => {
      session.isLive = false;
    },
  };
  return [session, mine] as const;
}

function threads(keeper: StopKeeper): number[] {
  return keeper.live.map((session) => session.thread);
}

describe("StopKeeper", () => {
  let notices: Notices;
  let keeper: StopKeeper;

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    notices = new Notices();
    keeper = new StopKeeper({ maxStops: 2, stopMinutes: 10 }, notices);
  });

  afterEach(() => {
    keeper.clear();
    mock.timers.reset();
  });

  it("aborts the oldest stop when there are too many, and reports it once", () => {
    for (const thread of [1, 2, 3]) keeper.add(...stopped(thread));
    expect(threads(keeper)).to.deep.equal([2, 3]);
    expect(notices.take()).to.deep.equal([
      "The stop 1/1 (DIVISION-BY-ZERO) was aborted: at most 2 stops are kept (--max-stops).",
    ]);
    expect(notices.take()).to.deep.equal([]);
  });

  it("knows a stop that it is aborting, even before the thread has left it", () => {
    const slow = stop(1);
    keeper.add(slow, { abort: () => new Promise(() => {}) });
    expect(keeper.isEnding(slow)).to.equal(false);
    for (const thread of [2, 3]) keeper.add(...stopped(thread));
    expect(slow.isLive).to.equal(true);
    expect(keeper.isEnding(slow)).to.equal(true);
  });

  it("aborts only the excess of simultaneous stops, although each is added again by its call", () => {
    const all = [1, 2, 3, 4, 5].map((thread) => stop(thread));
    const slow = { abort: () => new Promise(() => {}) };
    for (const each of [...all, ...all]) keeper.add(each, slow);
    expect(threads(keeper)).to.deep.equal([4, 5]);
    expect(notices.take()).to.have.length(3);
    expect(all.map((each) => keeper.isEnding(each))).to.deep.equal([true, true, true, false, false]);
  });

  it("tries again to abort a stop whose thread did not answer", async () => {
    let tries = 0;
    const silent = stop(1);
    const owner = {
      abort: async () => {
        tries += 1;
        if (tries < 3) throw new Error("No answer came.");
        silent.isLive = false;
      },
    };
    keeper.add(silent, owner);
    for (const thread of [2, 3]) keeper.add(...stopped(thread));
    for (const expected of [1, 2, 3, 3]) {
      expect(tries).to.equal(expected);
      await new Promise(setImmediate);
      mock.timers.tick(5000);
    }
  });

  it("does not count stops that have ended", () => {
    const [session, mine] = stopped(1);
    keeper.add(session, mine);
    session.isLive = false;
    for (const thread of [2, 3]) keeper.add(...stopped(thread));
    expect(threads(keeper)).to.deep.equal([2, 3]);
    expect(notices.take()).to.deep.equal([]);
  });

  it("aborts each stop when its time is up", () => {
    keeper.add(...stopped(1));
    mock.timers.tick(6 * MINUTE);
    keeper.add(...stopped(2));
    mock.timers.tick(4 * MINUTE);
    expect(threads(keeper)).to.deep.equal([2]);
    expect(notices.take()).to.deep.equal([
      "The stop 1/1 (DIVISION-BY-ZERO) was aborted: it was kept for 10 minutes (--stop-minutes).",
    ]);
    mock.timers.tick(6 * MINUTE);
    expect(threads(keeper)).to.deep.equal([]);
  });

  it("does not report an ended stop when its time is up", () => {
    const [session, mine] = stopped(1);
    keeper.add(session, mine);
    session.isLive = false;
    mock.timers.tick(10 * MINUTE);
    expect(notices.take()).to.deep.equal([]);
  });
});
