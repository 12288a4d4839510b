import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { LineClient } from "../../support/line-client.js";

function request(id: number): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { id } })}\n`;
}

function requests(count: number, first = 0): string {
  return Array.from({ length: count }, (_, index) => request(first + index)).join("");
}

/** Answers of 1 MB to what was received and not answered. */
function answer(client: LineClient, answered: Set<unknown>): void {
  for (const message of client.received) {
    if (!("id" in message) || message.id === undefined || message.id === null || answered.has(message.id)) continue;
    answered.add(message.id);
    void client.transport.send({ jsonrpc: "2.0", id: message.id, result: { text: "x".repeat(1_000_000) } });
  }
}

describe("LineTransport, with a client that does not read", () => {
  it("serves no further requests while answers wait, and all once they are read", async () => {
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

  it("stops reading when many requests wait, and sees the end of the input when few do", async () => {
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

  it("drops what waits when the client goes away, and reports it", async () => {
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

describe("LineTransport, with many requests at a time", () => {
  it("serves 256, further ones as answers are sent, and takes answers and cancellations of the client at once", async () => {
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

  it("fails its own requests once the input has ended, since nobody can answer them", async () => {
    const client = new LineClient();
    client.read();
    await client.transport.send({ jsonrpc: "2.0", id: 1, method: "elicitation/create" });
    await client.endInput();
    await client.transport.send({ jsonrpc: "2.0", id: 2, method: "elicitation/create" });
    await setImmediate();
    expect(client.received).to.deep.equal(
      [
        [1, "the client ended its input before it answered"],
        [2, "the client ended its input, so it cannot answer"],
      ].map(([id, message]) => ({ jsonrpc: "2.0", id, error: { code: -32600, message } })),
    );
  });
});
