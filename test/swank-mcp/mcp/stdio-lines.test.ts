import { expect } from "chai";
import { answersTo, LineClient } from "../../support/line-client.js";

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

describe("StdioLines on lines that are not messages", () => {
  const cases: readonly [line: string, id: string | number | null, code: number, message: RegExp][] = [
    ["garbage", null, -32700, /^Parse error: the line is not JSON \(.*garbage.*\)\. Send one JSON-RPC 2\.0 object/],
    ['{"jsonrpc":"2.0","id":1', null, -32700, /^Parse error/],
    [JSON.stringify([PING, PING]), null, -32600, /batches are not supported/],
    ["5", null, -32600, /not an object/],
    ["null", null, -32600, /not an object/],
    ['{"id":3,"method":"ping"}', 3, -32600, /"jsonrpc" must be "2\.0"/],
    ['{"jsonrpc":"2.0","id":"a"}', "a", -32600, /neither a request nor a response/],
    ['{"jsonrpc":"2.0","id":4,"method":5}', 4, -32600, /"method" must be a string/],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', null, -32600, /"id" must be a string or a whole number/],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null, -32600, /"id" must be a string or a whole number/],
    ['{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}', 5, -32602, /"params" must be an object/],
    ['{"jsonrpc":"2.0","id":6,"method":"ping","params":{"_meta":3}}', 6, -32602, /"_meta" must be an object/],
    [
      '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"progressToken":{}}}}',
      7,
      -32602,
      /"progressToken" must be a string or a whole number/,
    ],
  ];

  for (const [line, id, code, message] of cases) {
    it(`answers ${line} with the error ${code}`, async () => {
      const [answer, ...others] = await answersTo(`${line}\n`);
      expect(answer).to.deep.include({ jsonrpc: "2.0", id });
      expect(answer).to.have.nested.property("error.code", code);
      expect(answer).to.have.nested.property("error.message").that.matches(message);
      expect(others).to.deep.equal([]);
    });
  }

  it("delivers a malformed answer as an error, and reports an answer without an id", async () => {
    const client = new LineClient();
    client.write(
      '{"jsonrpc":"2.0","id":1,"result":3}\n{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}\n',
    );
    await client.end();
    expect(client.received).to.deep.equal([
      { jsonrpc: "2.0", id: 1, error: { code: -32600, message: "the answer was malformed" } },
    ]);
    expect(client.errors.join()).to.match(/received a response without an id: \{"jsonrpc"/);
    expect(client.answers).to.deep.equal([]);
  });

  it("replaces an error code that the SDK cannot read", async () => {
    const client = new LineClient();
    client.write('{"jsonrpc":"2.0","id":1,"error":{"code":1e300,"message":"no"}}\n');
    await client.end();
    expect(client.received).to.deep.equal([{ jsonrpc: "2.0", id: 1, error: { code: -32600, message: "no" } }]);
  });

  it("ignores blank lines", async () => {
    expect(await answersTo("\n \n\r\n")).to.deep.equal([]);
  });

  it("reads a last line without a line feed, and ignores unknown keys", async () => {
    const client = new LineClient();
    client.write(`${JSON.stringify({ ...PING, extra: 1 })}\r\n${JSON.stringify({ ...PING, id: 2 })}`);
    await client.end();
    expect(client.received).to.deep.equal([PING, { ...PING, id: 2 }]);
  });
});

describe("StdioLines on parts that are null, empty lists or JSON texts", () => {
  const request = { jsonrpc: "2.0", id: 1, method: "m" };
  const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
  const withParams = (params: unknown) => (params === undefined ? request : { ...request, params });
  const params: readonly (readonly [sent: unknown, read: unknown])[] = [
    [null, undefined],
    [[], undefined],
    ["{}", {}],
    [{ a: null, _meta: null }, {}],
    [{ _meta: [] }, {}],
    [{ _meta: { "io.modelcontextprotocol/related-task": 1 } }, { _meta: {} }],
    [{ _meta: { progressToken: null } }, { _meta: {} }],
    [{ arguments: { a: null } }, { arguments: { a: null } }],
    [{ arguments: null }, { arguments: null }],
    [{ capabilities: null }, { capabilities: {} }],
    [{ capabilities: [] }, { capabilities: {} }],
    [
      { capabilities: { roots: null, sampling: false, elicitation: true, x: [] } },
      { capabilities: { elicitation: {}, x: {} } },
    ],
    [{ _meta: { [CAPABILITIES]: null } }, { _meta: { [CAPABILITIES]: {} } }],
  ];
  const initialized = "notifications/initialized";
  const cases: readonly (readonly [sent: object, read: object])[] = [
    ...params.map(([sent, read]) => [withParams(sent), withParams(read)] as const),
    [{ ...request, result: null, error: null }, request],
    [
      { jsonrpc: "2.0", id: null, method: initialized, params: null },
      { jsonrpc: "2.0", method: initialized },
    ],
  ];
  for (const [sent, read] of cases) {
    it(`reads ${JSON.stringify(sent)}`, async () => {
      const client = new LineClient();
      client.write(`${JSON.stringify(sent)}\n`);
      await client.end();
      expect(client.received).to.deep.equal([read]);
      expect(client.answers).to.deep.equal([]);
    });
  }

  it("reads a response that also has a method and an error, which are null", async () => {
    const client = new LineClient();
    const result = { action: "accept", content: { answer: "Yes" }, _meta: null };
    client.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: null, error: null, result })}\n`);
    await client.end();
    expect(client.received).to.deep.equal([
      { jsonrpc: "2.0", id: 1, result: { action: "accept", content: { answer: "Yes" } } },
    ]);
  });
});

describe("StdioLines on lines above the maximum size", () => {
  const big = "x".repeat(5000);
  const cases: readonly [what: string, message: object, id: string | number | null][] = [
    ["the id first", { jsonrpc: "2.0", id: 7, method: "m", params: { big } }, 7],
    ["the id last", { method: "m", params: { deep: [{ id: 1 }, big, '"},\\'] }, jsonrpc: "2.0", id: "last" }, "last"],
    ["a long string beside the id", { jsonrpc: "2.0", method: `${big}"\\`, id: 3 }, 3],
    ["a long id", { jsonrpc: "2.0", method: "m", id: big }, null],
    ["no id", { jsonrpc: "2.0", method: "m", params: { big, id: 4 } }, null],
    ["an answer's id", { jsonrpc: "2.0", id: 4, result: { big } }, null],
    ["too many keys", Object.fromEntries(Array.from({ length: 900 }, (_, key) => [`key ${key}`, 1])), null],
  ];
  const after = `${JSON.stringify(PING)}\n`;

  for (const [what, message, id] of cases) {
    for (const chunkSize of [1, 7, 100_000]) {
      it(`refuses a line with ${what}, in chunks of ${chunkSize}, and continues reading`, async () => {
        const client = new LineClient(2000);
        client.write(`${JSON.stringify(message)}\n${after}`, chunkSize);
        await client.end();
        expect(client.answers).to.have.length(1);
        expect(client.answers[0]).to.deep.include({ id });
        expect(client.answers[0]).to.have.nested.property("error.code", -32600);
        expect(client.answers[0])
          .to.have.nested.property("error.message")
          .that.matches(/the message has \d+ bytes; the limit is 2000\./);
        expect(client.received).to.deep.equal([PING]);
      });
    }
  }

  it("reads a line of the maximum size", async () => {
    const client = new LineClient(2000);
    const message = { jsonrpc: "2.0", id: 1, method: "m", params: { text: "" } };
    message.params.text = "x".repeat(2000 - JSON.stringify(message).length);
    client.write(`${JSON.stringify(message)}\n`, 100);
    await client.end();
    expect(client.received).to.deep.equal([message]);
  });

  it("refuses a line that is nested too deeply to be passed on", async () => {
    const [answer] = await answersTo(
      `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}\n`,
    );
    expect(answer).to.deep.include({ id: 1 });
    expect(answer).to.have.nested.property("error.code", -32600);
  });

  it("refuses a line that is not JSON", async () => {
    const [answer] = await answersTo(`${"]".repeat(3000)}\n`, 2000);
    expect(answer).to.deep.include({ id: null });
  });
});
