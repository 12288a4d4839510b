import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { DirectCalls, type Message, type ReceivedCall } from "swank-mcp";

describe("DirectCalls", () => {
  let sent: Message[];
  let errors: Error[];
  /** The calls that run, in order, with the functions that end them. */
  let received: (ReceivedCall & { end(result: object): void; fail(error: unknown): void })[];
  let calls: DirectCalls;

  beforeEach(() => {
    sent = [];
    errors = [];
    received = [];
    calls = new DirectCalls({
      run: (call) =>
        new Promise((end, fail) => {
          received.push({ ...call, end, fail });
        }),
      send: async (message) => void sent.push(message),
      onError: (error) => void errors.push(error),
    });
  });

  const take = (id: string | number, params: object = { name: "tool" }) => {
    calls.take({ jsonrpc: "2.0", id, method: "tools/call", params });
    const call = received.at(-1);
    if (call === undefined) throw new Error("The call does not run.");
    return call;
  };

  it("answers a call under its id", async () => {
    const { call, end } = take("a", { name: "tool", arguments: { code: "1" } });
    expect(call).to.deep.include({ name: "tool", arguments: { code: "1" } });
    end({ content: [] });
    await setImmediate();
    expect(sent).to.deep.equal([{ jsonrpc: "2.0", id: "a", result: { content: [] } }]);
  });

  it("answers calls in the order in which they end", async () => {
    const [first, second] = [take(1), take(2)];
    second.end({ n: 2 });
    await setImmediate();
    first.end({ n: 1 });
    await setImmediate();
    expect(sent).to.deep.equal([
      { jsonrpc: "2.0", id: 2, result: { n: 2 } },
      { jsonrpc: "2.0", id: 1, result: { n: 1 } },
    ]);
  });

  it("answers a call that fails with an internal error", async () => {
    take(1).fail(new Error("a defect"));
    await setImmediate();
    expect(sent).to.deep.equal([{ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "a defect" } }]);
  });

  it("answers a call that fails before it begins", async () => {
    const failing = new DirectCalls({
      run: () => {
        throw new Error("a defect");
      },
      send: async (message) => void sent.push(message),
      onError: (error) => void errors.push(error),
    });
    failing.take({ jsonrpc: "2.0", id: 1, method: "tools/call" });
    await setImmediate();
    expect(sent).to.deep.equal([{ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "a defect" } }]);
  });

  it("passes the client's progress token, and sends notifications", async () => {
    const { progressToken, notify } = take(1, { name: "tool", _meta: { progressToken: "p" } });
    expect(progressToken).to.equal("p");
    await notify("notifications/progress", { progress: 1 });
    expect(sent).to.deep.equal([{ jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } }]);
  });

  it("cancels only the call with that id, and does not answer it", async () => {
    const [first, second] = [take(1), take("1")];
    calls.cancel(1);
    calls.cancel("2");
    calls.cancel(undefined);
    expect([first.signal.aborted, second.signal.aborted]).to.deep.equal([true, false]);
    first.end({});
    second.end({});
    await setImmediate();
    expect(sent).to.deep.equal([{ jsonrpc: "2.0", id: "1", result: {} }]);
  });

  it("does not cancel a later call with the id of one that has ended", async () => {
    take(1).end({});
    await setImmediate();
    calls.cancel(1);
    expect(take(2).signal.aborted).to.equal(false);
    calls.cancel(2);
    expect(take(3).signal.aborted).to.equal(false);
  });

  it("cancels a call with the id of a cancelled call that has ended only after the second began", async () => {
    const first = take(1);
    calls.cancel(1);
    const second = take(1);
    first.end({});
    await setImmediate();
    calls.cancel(1, "changed my mind");
    expect(second.signal.aborted).to.equal(true);
    expect(second.signal.reason).to.equal("changed my mind");
    second.end({});
    await setImmediate();
    expect(sent).to.deep.equal([]);
  });

  it("cancels all calls when the client disconnects", () => {
    const running = [take(1), take(2)];
    calls.close();
    expect(running.map(({ signal }) => signal.aborted)).to.deep.equal([true, true]);
  });

  it("reports an answer that cannot be sent", async () => {
    const failing = new DirectCalls({
      run: async () => ({}),
      send: () => Promise.reject(new Error("the output was closed")),
      onError: (error) => void errors.push(error),
    });
    failing.take({ jsonrpc: "2.0", id: 1, method: "tools/call" });
    await setImmediate();
    expect(errors.map(({ message }) => message)).to.deep.equal(["the output was closed"]);
  });
});
