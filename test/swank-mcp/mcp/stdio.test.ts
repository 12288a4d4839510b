import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { type McpEndpoint, OutputQueue, serveMcp } from "swank-mcp";
import { readJsonLines } from "../../support/json-lines.js";
import { toolServer } from "../../support/mcp-server.js";

interface Answer {
  readonly id?: number;
  readonly error?: { readonly code: number; readonly message: string };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "slow", version: "0" } },
};

describe("serveMcp on streams whose client reads late", () => {
  let input: PassThrough;
  let stdout: PassThrough;
  let output: OutputQueue;
  let endpoint: McpEndpoint;
  let ended: unknown[];
  let errors: Error[];

  beforeEach(() => {
    input = new PassThrough();
    stdout = new PassThrough({ highWaterMark: 1 });
    output = new OutputQueue(stdout);
    ended = [];
    errors = [];
    endpoint = serveMcp(
      toolServer(() => Promise.reject(new Error("no Lisp here"))),
      { input, output, maxLine: 1_000_000 },
      { onClose: () => undefined, onError: (error) => errors.push(error), onEnd: (error) => ended.push(error) },
    );
  });
  afterEach(() => endpoint.close());

  const send = (...messages: readonly object[]) =>
    input.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));

  /** Requests of the list of tools, one for each id. */
  const lists = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ jsonrpc: "2.0", id: index + 1, method: "tools/list" }));

  /** Reads all answers from now on. */
  function read(): Answer[] {
    const answers: Answer[] = [];
    readJsonLines<Answer>(stdout, (answer) => answers.push(answer));
    return answers;
  }

  it("stops reading while answers are unread, and then answers everything in order", async () => {
    send(INITIALIZE);
    for (const list of lists(1000)) {
      send(list);
      if (list.id % 50 === 0) await setImmediate();
    }
    input.end();
    for (let turn = 0; turn < 200; turn += 1) await setImmediate();
    expect(output.waiting).to.be.within(4_000_000, 12_000_000);
    expect(input.readableLength).to.be.above(0);
    expect(ended).to.deep.equal([]);
    const answers = read();
    while (answers.length < 1001) await setImmediate();
    expect(answers.map(({ id }) => id)).to.deep.equal(Array.from({ length: 1001 }, (_, id) => id));
    while (ended.length === 0) await setImmediate();
    expect(ended).to.deep.equal([undefined]);
    await endpoint.idle();
    expect(errors).to.deep.equal([]);
  }).timeout(60_000);

  it("stops reading while answers to lines that are not messages are unread, and then answers everything", async () => {
    const line = "garbage\n";
    const count = 120_000;
    for (let sent = 0; sent < count; sent += 1000) {
      input.write(line.repeat(1000));
      if (sent % 10_000 === 0) await setImmediate();
    }
    send(INITIALIZE);
    input.end();
    for (let turn = 0; turn < 200; turn += 1) await setImmediate();
    expect(output.waiting).to.be.within(4_000_000, 12_000_000);
    expect(input.readableLength).to.be.above(0);
    expect(ended).to.deep.equal([]);
    const answers = read();
    while (answers.length < count + 1) await setImmediate();
    expect(answers.at(-1)?.id).to.equal(0);
    while (ended.length === 0) await setImmediate();
    expect(ended).to.deep.equal([undefined]);
  }).timeout(60_000);

  it("reports the end of its input after an answer that the SDK drops, read while answers were unread", async () => {
    send(INITIALIZE);
    for (const list of lists(200)) send(list);
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    expect(output.waiting).to.be.above(4_000_000);
    input.end('{"jsonrpc":"2.0","id":1,"result":{"_meta":3},"error":[]}\n');
    const answers = read();
    while (answers.length < 201) await setImmediate();
    while (ended.length === 0) await setImmediate();
    expect(ended).to.deep.equal([undefined]);
  }).timeout(60_000);

  it("serves the next line after one that is not a message", async () => {
    input.write("garbage\n");
    send(INITIALIZE);
    const answers = read();
    while (answers.length < 2) await setImmediate();
    expect(answers.map(({ id, error }) => [id, error?.code])).to.deep.equal([
      [null, -32700],
      [0, undefined],
    ]);
  });

  it("drops what it cannot write when the output breaks", async () => {
    input.write("garbage\n".repeat(1000));
    await setImmediate();
    expect(output.waiting).to.be.above(100_000);
    stdout.on("error", () => undefined).destroy(new Error("broken"));
    await setImmediate();
    expect(await output.drain(() => 10_000)).to.equal(true);
  });
});
