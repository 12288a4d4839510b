import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { ImageHost, type OpenSession } from "swank-mcp";
import { Notices } from "#swank-mcp/session/agent.js";
import { type ScriptedSession, scriptedSession } from "../../support/mcp-scripted.js";

const NEVER = new AbortController().signal;

async function problem(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (reason: unknown) => (reason instanceof Error && "code" in reason ? reason.code : reason),
  );
}

/** A host whose one user notes what it is told. */
function hostFor(notices: Notices, open: OpenSession): ImageHost {
  const host = new ImageHost(open);
  const nothing = () => undefined;
  host.join({
    onNotice: (text) => notices.add(text),
    onStop: nothing,
    onHitElsewhere: nothing,
    onThreadEnded: nothing,
    onThreadOutput: nothing,
    onUserAsks: nothing,
    onPaused: nothing,
    onThrownOut: nothing,
  });
  return host;
}

describe("ImageHost", () => {
  let notices: Notices;
  let opened: ScriptedSession[];
  let pids: number[];
  let context: ImageHost;

  beforeEach(() => {
    notices = new Notices();
    opened = [];
    pids = [1, 2, 3];
    context = hostFor(notices, async () => {
      const session = scriptedSession(undefined, { pid: pids.shift() ?? 0, loss: "The image was killed." });
      opened.push(session);
      return session;
    });
  });

  it("opens one session for all callers, at the first call", async () => {
    expect(opened).to.have.length(0);
    const [first, second] = await Promise.all([context.session(NEVER), context.session(NEVER)]);
    expect(second).to.equal(first);
    expect(opened).to.have.length(1);
    expect(notices.take()).to.deep.equal([]);
  });

  it("tells every call that waits for a session why that takes long, and no later call", async () => {
    const told: string[] = [];
    const tell = (reason: string) => told.push(reason);
    const host = hostFor(notices, async (_signal, onDelay) => {
      onDelay("A core is built.");
      await setImmediate();
      return scriptedSession(undefined, { pid: 1, loss: "" });
    });
    const waiting = [host.session(NEVER, tell), host.session(NEVER, tell)];
    await Promise.all(waiting);
    await host.session(NEVER, tell);
    expect(told).to.deep.equal(["A core is built.", "A core is built."]);
  });

  it("opens a new session after a loss, and reports the new image once", async () => {
    const first = await context.session(NEVER);
    opened[0]?.lose();
    await first.client.closed;
    const second = await context.session(NEVER);
    expect(second.client.info.pid).to.equal(2);
    expect(notices.take()).to.deep.equal([
      "The image was killed. This answer comes from a new image (pid 2): definitions of the previous image are gone. So are stops, breakpoints and object ids, if there were any.",
    ]);
    await context.session(NEVER);
    expect(notices.take()).to.deep.equal([]);
  });

  it("tells listeners of the open session and of each later one", async () => {
    const heard: (number | undefined)[] = [];
    const end = context.onSession(({ client }) => heard.push(client.info.pid));
    expect(heard).to.deep.equal([]);
    const first = await context.session(NEVER);
    context.onSession(({ client }) => heard.push(client.info.pid));
    opened[0]?.lose();
    await first.client.closed;
    await context.session(NEVER);
    end();
    await context.renew(await context.session(NEVER), NEVER);
    expect(heard).to.deep.equal([1, 1, 2, 2, 3]);
  });

  it("knows what state its image is in, and opens nothing for that", async () => {
    expect(context.state).to.deep.equal({ kind: "none" });
    expect(opened).to.have.length(0);
    const opening = context.session(NEVER);
    expect(context.state).to.deep.equal({ kind: "connecting" });
    const session = await opening;
    expect(context.state).to.deep.equal({ kind: "open", session });
    opened[0]?.lose();
    await session.client.closed;
    await setImmediate();
    const { state } = context;
    expect(state.kind === "lost" && (await state.why)).to.equal("The image was killed.");
    const failing = new ImageHost(() => Promise.reject(new Error("No SBCL.")));
    await problem(failing.session(NEVER));
    expect(failing.state).to.deep.equal({ kind: "failed", why: "No SBCL." });
  });

  it("opens a new session after it has disconnected one, and reports no loss", async () => {
    const first = await context.session(NEVER);
    await context.disconnect(first);
    expect(opened[0]?.isClosed()).to.equal(true);
    expect(first.isRetired).to.equal(true);
    expect(context.state).to.deep.equal({ kind: "none" });
    expect((await context.session(NEVER)).client.info.pid).to.equal(2);
    expect(notices.take()).to.deep.equal([]);
  });

  it("closes a lost session, since a hung image survives the loss of its connection", async () => {
    const first = await context.session(NEVER);
    opened[0]?.lose();
    await first.client.closed;
    await context.session(NEVER);
    expect(opened.map((session) => session.isClosed())).to.deep.equal([true, false]);
  });

  it("does not renew a lost session, and keeps the session that replaced it", async () => {
    const first = await context.session(NEVER);
    opened[0]?.lose();
    await first.client.closed;
    const second = await context.session(NEVER);
    expect(await context.renew(first, NEVER)).to.equal(second);
    expect(opened).to.have.length(2);
    expect(second.isRetired).to.equal(false);
  });

  it("reports a new connection to the same image", async () => {
    pids = [7, 7];
    const first = await context.session(NEVER);
    opened[0]?.lose();
    await first.client.closed;
    await context.session(NEVER);
    expect(notices.take()[0]).to.match(
      /comes from the same image \(pid 7\) over a new connection: definitions are still/,
    );
  });

  it("reports another image that has the same process id, as in a container", async () => {
    const sessions = ["first", "second"].map((identity) => scriptedSession(undefined, { pid: 7, identity }));
    const queue = [...sessions];
    const restarted = hostFor(notices, async () => queue.shift() ?? scriptedSession());
    const first = await restarted.session(NEVER);
    sessions[0]?.lose();
    await first.client.closed;
    await restarted.session(NEVER);
    expect(notices.take()[0]).to.include("This answer comes from a new image (pid 7)");
  });

  it("tries again after a failure, and still reports an earlier loss", async () => {
    let attempts = 0;
    const flaky = hostFor(notices, async () => {
      attempts += 1;
      if (attempts === 2) throw new Error("not now");
      const session = scriptedSession(undefined, { pid: attempts });
      opened.push(session);
      return session;
    });
    const first = await flaky.session(NEVER);
    opened[0]?.lose();
    await first.client.closed;
    expect(await problem(flaky.session(NEVER))).to.be.an("error");
    await flaky.session(NEVER);
    expect(notices.take()[0]).to.include("a new image (pid 3)");
  });

  it("passes on the remarks about opening the session", async () => {
    const remarked = hostFor(notices, async () => scriptedSession(undefined, { remarks: ["init failed"] }));
    await remarked.session(NEVER);
    expect(notices.take()).to.deep.equal(["init failed"]);
  });

  it("ends the wait of a cancelled call, and connects for the others", async () => {
    let finish = (_session: ScriptedSession) => {};
    const slow = hostFor(notices, () => new Promise((resolve) => (finish = resolve)));
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

  it("closes the session with the server, even during a launch, and opens no other", async () => {
    const session = scriptedSession();
    let stopped = false;
    const slow = hostFor(notices, async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      stopped = true;
      return session;
    });
    const waiting = slow.session(NEVER);
    await slow.close();
    await waiting;
    expect(stopped).to.equal(true);
    expect(session.isClosed()).to.equal(true);
    expect(await problem(slow.session(NEVER))).to.equal("SHUTTING_DOWN");
  });
});
