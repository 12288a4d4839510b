import { expect } from "chai";
import { LispContext, Notices } from "swank-mcp";
import { type ScriptedSession, scriptedSession } from "../support/mcp-scripted.js";

const NEVER = new AbortController().signal;

async function problem(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (reason: unknown) => (reason instanceof Error && "code" in reason ? reason.code : reason),
  );
}

describe("the way to Lisp", () => {
  let notices: Notices;
  let opened: ScriptedSession[];
  let pids: number[];
  let context: LispContext;

  beforeEach(() => {
    notices = new Notices();
    opened = [];
    pids = [1, 2, 3];
    context = new LispContext(async () => {
      const session = scriptedSession(undefined, { pid: pids.shift() ?? 0, loss: "The image was killed." });
      opened.push(session);
      return session;
    }, notices);
  });

  it("is made once for all who ask, when the first one asks", async () => {
    expect(opened).to.have.length(0);
    const [first, second] = await Promise.all([context.session(NEVER), context.session(NEVER)]);
    expect(second).to.equal(first);
    expect(opened).to.have.length(1);
    expect(notices.take()).to.deep.equal([]);
  });

  it("is made anew after it was lost, to a new image, and that is said once", async () => {
    const first = await context.session(NEVER);
    opened[0]?.lose();
    await first.client.closed;
    const second = await context.session(NEVER);
    expect(second.client.info.pid).to.equal(2);
    expect(notices.take()).to.deep.equal([
      "The image was killed. This answer comes from a new image (pid 2): definitions, stops, breakpoints and object ids of the one before are gone.",
    ]);
    await context.session(NEVER);
    expect(notices.take()).to.deep.equal([]);
  });

  it("may lead to the same image again", async () => {
    pids = [7, 7];
    const first = await context.session(NEVER);
    opened[0]?.lose();
    await first.client.closed;
    await context.session(NEVER);
    expect(notices.take()[0]).to.match(/comes from the same image \(pid 7\), connected to anew: definitions are still/);
  });

  it("may lead to another image although its process has the same id, as in a container", async () => {
    const sessions = ["first", "second"].map((identity) => scriptedSession(undefined, { pid: 7, identity }));
    const queue = [...sessions];
    const restarted = new LispContext(async () => queue.shift() ?? scriptedSession(), notices);
    const first = await restarted.session(NEVER);
    sessions[0]?.lose();
    await first.client.closed;
    await restarted.session(NEVER);
    expect(notices.take()[0]).to.include("This answer comes from a new image (pid 7)");
  });

  it("is tried again after a failure, and a loss before that is still told", async () => {
    let attempts = 0;
    const flaky = new LispContext(async () => {
      attempts += 1;
      if (attempts === 2) throw new Error("not now");
      const session = scriptedSession(undefined, { pid: attempts });
      opened.push(session);
      return session;
    }, notices);
    const first = await flaky.session(NEVER);
    opened[0]?.lose();
    await first.client.closed;
    expect(await problem(flaky.session(NEVER))).to.be.an("error");
    await flaky.session(NEVER);
    expect(notices.take()[0]).to.include("a new image (pid 3)");
  });

  it("passes on what there is to know of its making", async () => {
    const remarked = new LispContext(async () => scriptedSession(undefined, { remarks: ["init failed"] }), notices);
    await remarked.session(NEVER);
    expect(notices.take()).to.deep.equal(["init failed"]);
  });

  it("is not waited for by a call that was cancelled, but goes on being made for others", async () => {
    let finish = (_session: ScriptedSession) => {};
    const slow = new LispContext(() => new Promise((resolve) => (finish = resolve)), notices);
    const controller = new AbortController();
    const cancelled = problem(slow.session(controller.signal));
    const alsoCancelled = problem(slow.current(controller.signal));
    const wanted = slow.session(NEVER);
    controller.abort();
    expect(await cancelled).to.equal("CANCELLED");
    expect(await alsoCancelled).to.equal("CANCELLED");
    const session = scriptedSession();
    finish(session);
    expect(await wanted).to.equal(session);
  });

  it("is closed with the server, also while it is being made, and not made again", async () => {
    const session = scriptedSession();
    let stopped = false;
    const slow = new LispContext(async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      stopped = true;
      return session;
    }, notices);
    const waiting = slow.session(NEVER);
    await slow.close();
    await waiting;
    expect(stopped).to.equal(true);
    expect(session.isClosed()).to.equal(true);
    expect(await problem(slow.session(NEVER))).to.equal("SHUTTING_DOWN");
  });
});
