import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { LineClient } from "../../../support/line-client.js";

function request(id: number): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { id } })}\n`;
}

function requests(count: number, first = 0): string {
  return Array.from({ length: count }, (_, index) => request(first + index)).join("");
}

/** Sends an answer of 1 MB to each unanswered request. */
function answer(client: LineClient, answered: Set<unknown>): void {
  for (const message of client.received) {
    if (!("id" in message) || message.id === undefined || message.id === null || answered.has(message.id)) continue;
    answered.add(message.id);
    void client.transport.send({ jsonrpc: "2.0", id: message.id, result: { text: "x".repeat(1_000_000) } });
  }
}

describe("LineTransport with a client that does not read", () => {
  it("serves no further requests while answers are unread, and the rest after they are read", async () => {
    const client = new LineClient();
    const answered = new Set<unknown>();
    for (let id = 0; id < 40; id += 1) {
      client.write(request(id));
      await setImmediate();
      answer(client, answered);
    }
    expect(client.received.length).to.be.within(4, 8);
    expect(client.output.waiting).to.be.below(10_000_000);
    client.read();
    while (answered.size < 40) {
      await setImmediate();
      answer(client, answered);
    }
    await client.end();
    expect(client.answers.map(({ id }) => id)).to.deep.equal(Array.from({ length: 40 }, (_, id) => id));
  });

  it("stops reading if many requests wait, and detects the end of the input if few do", async () => {
    const flooded = new LineClient();
    flooded.write(requests(20_000), 10_000);
    await setImmediate();
    expect(flooded.input.isPaused()).to.equal(true);
    expect(flooded.hasEnded).to.equal(false);

    const few = new LineClient();
    few.write(requests(1000));
    few.input.end();
    while (!few.hasEnded) await setImmediate();
    expect(few.received).to.have.length(256);
  });

  it("drops waiting answers if the output breaks, and reports it", async () => {
    const client = new LineClient();
    client.write("garbage\n".repeat(1000));
    await setImmediate();
    expect(client.output.waiting).to.be.above(100_000);
    client.breakOutput();
    expect(await client.output.drain(() => 10_000)).to.equal(true);
    expect(client.errors.join()).to.match(/the output was closed/);
    client.input.destroy();
  });
});

describe("LineTransport with many concurrent requests", () => {
  it("serves 256 requests, and delivers the client's answers and cancellations immediately", async () => {
    const client = new LineClient();
    client.read();
    client.write(requests(300));
    void client.transport.send({ jsonrpc: "2.0", id: 9, method: "elicitation/create" });
    client.write('{"jsonrpc":"2.0","id":9,"result":{}}\n');
    client.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":298}}\n');
    client.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}\n');
    await setImmediate();
    const ids = () =>
      client.received.map((message) =>
        "method" in message && !("id" in message) ? message.method : "id" in message && message.id,
      );
    expect(ids().slice(256)).to.deep.equal([9, "notifications/cancelled", 256]);
    await client.transport.send({ jsonrpc: "2.0", id: 8, result: {} });
    expect(ids().slice(259)).to.deep.equal([257]);
    const idle = client.transport.idle();
    for (let answered = 0; answered < 300; answered += 1)
      if (![7, 8, 298].includes(answered)) await client.transport.send({ jsonrpc: "2.0", id: answered, result: {} });
    await idle;
    expect(ids()).to.have.length(299 + 2);
    expect(ids()).to.not.include(298);
    await client.end();
  });

  it("serves 16 urgent requests beyond the 256, ahead of waiting requests", async () => {
    const client = new LineClient({ isUrgent: ({ method }) => method === "ping" });
    client.read();
    client.write(requests(300));
    for (let id = 500; id < 520; id += 1) client.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
    await setImmediate();
    const ids = () => client.received.map((message) => "id" in message && message.id);
    expect(ids().slice(256)).to.deep.equal(Array.from({ length: 16 }, (_, index) => 500 + index));
    await client.transport.send({ jsonrpc: "2.0", id: 500, result: {} });
    expect(ids().slice(272)).to.deep.equal([516]);
    await client.end();
  });

  it("refuses a request with the id of a request that is being served, until that is answered", async () => {
    const client = new LineClient();
    client.read();
    const idle = { is: false };
    client.write(request(1).repeat(2));
    await setImmediate();
    void client.transport.idle().then(() => {
      idle.is = true;
    });
    expect(client.received).to.have.length(1);
    await setImmediate();
    expect(idle.is, "idle although the first runs").to.equal(false);
    await client.transport.send({ jsonrpc: "2.0", id: 1, result: {} });
    await setImmediate();
    expect(idle.is).to.equal(true);
    client.write(request(1));
    await setImmediate();
    expect(client.received).to.have.length(2);
    await client.end();
    expect(client.answers.map(({ id, error }) => [id, error?.code])).to.deep.equal([
      [1, -32600],
      [1, undefined],
    ]);
    expect(client.answers[0]?.error?.message).to.match(/a request with this id is still in progress/);
  });

  it("fails the server's own requests after the end of the input", async () => {
    const client = new LineClient();
    client.read();
    await client.transport.send({ jsonrpc: "2.0", id: 1, method: "elicitation/create" });
    await client.endInput();
    await client.transport.send({ jsonrpc: "2.0", id: 2, method: "elicitation/create" });
    await setImmediate();
    expect(client.received).to.deep.equal(
      [
        [1, "the client closed its input before it answered"],
        [2, "the client closed its input, so it cannot answer"],
      ].map(([id, message]) => ({ jsonrpc: "2.0", id, error: { code: -32600, message } })),
    );
  });
});
