import { Buffer } from "node:buffer";
import { duplexPair } from "node:stream";
import { expect } from "chai";
import { read } from "sexp-parser";
import { SwankError, type types } from "swank-client";
import { Connection, duplexTransport } from "swank-client/protocol";
import { rejection } from "../../support/caught.js";
import { activeTimers, collectUntil, type FakeConnection, onBothJoints } from "../../support/fake-connection.js";
import { frame, inMemoryPeer } from "../../support/fake-swank.js";

const FORM = read("(cl:loop)");

const bytes = (text: string) => Buffer.from(text, "latin1");

/** What the other side may do, and why the connection is over then. */
type Ending = readonly [
  title: string,
  code: types.SwankErrorCode,
  message: RegExp,
  happen: (fake: FakeConnection) => unknown,
];

/** Sends bytes, and ends the stream. */
const cutAfter =
  (sent: Uint8Array) =>
  ({ peer }: FakeConnection) => {
    peer.sendBytes(sent);
    peer.end();
  };
const RANDOM = Uint8Array.from({ length: 4096 }, (_, index) => (index * 167 + 13) % 256);
const MIDDLE = /^\S+ closed the connection in the middle of a message\.$/;
const RESET = /^The connection to \S+ failed: read ECONNRESET$/;
const LIMIT = /^A message of 61440 bytes was announced; the limit is 4096\.$/;
const NO_MESSAGE = /^The received data are not a Swank message\.$/;

const ENDINGS: readonly Ending[] = [
  ["closes it", "CONNECTION_LOST", /^\S+ closed the connection\.$/, ({ peer }) => peer.end()],
  ["closes it in the middle of a message", "CONNECTION_LOST", MIDDLE, cutAfter(frame("(:ping 1 1)").subarray(0, 9))],
  ["closes it in the middle of a header", "CONNECTION_LOST", MIDDLE, cutAfter(bytes("0000"))],
  ["breaks it", "CONNECTION_LOST", RESET, ({ peer }) => peer.reset()],
  [
    "breaks it in the middle of a message",
    "CONNECTION_LOST",
    RESET,
    async ({ connection, peer }) => {
      const heard = collectUntil(connection, "new-repl-output");
      peer.sendBytes(Buffer.concat([frame("(:new-repl-output)"), bytes("000100(:ret")]));
      await heard;
      peer.reset();
    },
  ],
  [
    "sends data without a frame",
    "BAD_FRAME",
    /It looks like an HTTP server\.$/,
    ({ peer }) => peer.sendBytes(bytes("HTTP/1.1 400 Bad Request\r\n\r\n")),
  ],
  ["sends random bytes", "BAD_FRAME", /six hexadecimal digits/, ({ peer }) => peer.sendBytes(RANDOM)],
  ["sends a frame over the limit", "FRAME_TOO_LARGE", LIMIT, ({ peer }) => peer.sendBytes(bytes("00f000"))],
  ["sends no message", "UNREADABLE_MESSAGE", NO_MESSAGE, ({ peer }) => peer.send('{"jsonrpc":"2.0"}')],
  ["sends a list that is none", "UNREADABLE_MESSAGE", NO_MESSAGE, ({ peer }) => peer.send("(ok 1)")],
];

describe("Connection that ends", () => {
  for (const [title, code, message, happen] of ENDINGS)
    onBothJoints(
      `rejects all pending requests with the reason because the server ${title}`,
      async (fake) => {
        const { connection, peer } = fake;
        const timers = activeTimers();
        const { signal } = new AbortController();
        const replies = ["a", "b", "c"].map((label) => connection.request(FORM, { label, timeout: 60_000, signal }));
        const outcomes = Promise.all(replies.map((reply) => rejection(reply, code)));
        const closings: SwankError[] = [];
        connection.on("closed", (reason) => closings.push(reason));
        await peer.nextRequest();
        await happen(fake);
        const reason = await connection.closed;
        expect(reason).to.have.property("code", code);
        expect(reason.message).to.match(message);
        for (const error of await outcomes) expect(error.cause).to.equal(reason);
        expect(closings).to.deep.equal([reason]);
        expect(connection.isOpen).to.equal(false);
        expect(connection.pendingCount).to.equal(0);
        expect(activeTimers()).to.equal(timers);
        expect((await rejection(connection.request(FORM, { label: "late" }), code)).cause).to.equal(reason);
        expect(connection.send({ type: "emacs-interrupt", thread: "t" })).to.equal(false);
        await peer.closed;
      },
      () => ({ frameLimit: 4096 }),
    );

  onBothJoints("delivers the reply that precedes invalid data", async ({ connection, peer }) => {
    const good = connection.request(FORM, { label: "good" });
    const bad = rejection(connection.request(FORM, { label: "bad" }), "BAD_FRAME");
    const { id } = await peer.nextRequest();
    peer.sendBytes(Buffer.concat([frame(`(:return (:ok 1) ${id})`), bytes("garbage")]));
    expect(await good).to.deep.equal({ status: "ok", value: 1 });
    await bad;
  });

  onBothJoints("reports the last message sent, which often is the cause", async ({ connection, peer }) => {
    const long = "x".repeat(1000);
    for (let id = 1; id <= 20; id++) connection.request(long, { label: "x", id }).catch(() => {});
    connection.request(read("(cl:list 42)"), { label: "x" }).catch(() => {});
    await peer.next("cl:list");
    peer.end();
    const { lastSent = [] } = (await connection.closed).details;
    expect(lastSent.length).to.equal(8);
    expect(lastSent.at(-1)).to.equal("(:emacs-rex (cl:list 42) nil t 21)");
    expect(lastSent.every((text) => text.length <= 310)).to.equal(true);
  });

  it("never shows the secret", async () => {
    const { peer, factory } = inMemoryPeer();
    const connection = new Connection(factory, { secret: "open sesame" });
    expect(await peer.next()).to.equal("open sesame");
    peer.end();
    const reason = await connection.closed;
    expect(JSON.stringify([reason.message, reason.details])).not.to.include("sesame");
  });

  it("reports the end even if its stream ended before it was opened", async () => {
    const { peer, factory } = inMemoryPeer();
    peer.reset();
    const connection = new Connection(factory);
    expect((await connection.closed).message).to.equal("The connection to memory failed: read ECONNRESET");
  });
});

/** A promise, and the function that resolves it. */
function later<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** A connection whose stream's end is explained when the test says so. */
function explained() {
  const [near, far] = duplexPair();
  const asked = later<undefined>();
  const answer = later<SwankError | undefined>();
  const explainEnd = () => {
    asked.resolve(undefined);
    return answer.promise;
  };
  return { connection: new Connection(duplexTransport(near, "memory", { explainEnd })), far, asked, answer };
}

describe("duplexTransport with explainEnd", () => {
  it("ends with the explanation, which pending requests get, too", async () => {
    const { connection, far, asked, answer } = explained();
    const request = rejection(connection.request(read("(cl:loop)"), { label: "loop" }), "CONNECTION_LOST");
    far.end();
    await asked.promise;
    expect(connection.isOpen).to.equal(true);
    answer.resolve(new SwankError("CONNECTION_LOST", "The power failed."));
    expect((await connection.closed).message).to.equal("The power failed.");
    expect((await request).message).to.equal("loop: The power failed.");
  });

  it("ends as without it if there is no explanation", async () => {
    const { connection, far, answer } = explained();
    far.end();
    answer.resolve(undefined);
    expect((await connection.closed).message).to.equal("memory closed the connection.");
  });

  it("waits for none after this side has closed the connection, before or meanwhile", async () => {
    const before = explained();
    await before.connection.close();
    expect((await before.connection.closed).code).to.equal("CONNECTION_CLOSED");
    const meanwhile = explained();
    meanwhile.far.end();
    await meanwhile.asked.promise;
    await meanwhile.connection.close();
    expect((await meanwhile.connection.closed).code).to.equal("CONNECTION_CLOSED");
  });
});
