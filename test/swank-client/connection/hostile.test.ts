import { setImmediate as tick } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import { SwankClient } from "swank-client";
import type { Connection } from "swank-client/protocol";
import type * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { fakeConnection } from "../../support/fake-connection.js";
import type { FakePeer } from "../../support/fake-swank.js";
import { openFake, tellImage } from "../handshake/fake-image.js";

const MEGABYTE = 1_000_000;

/** Sends payloads until the connection is closed or there are no more; gives the megabytes by which the process grew. */
async function flood(connection: Connection, peer: FakePeer, payloads: Iterable<readonly string[]>): Promise<number> {
  const before = process.memoryUsage().rss;
  for (const some of payloads) {
    if (!connection.isOpen) break;
    peer.send(...some);
    await tick();
  }
  return (process.memoryUsage().rss - before) / MEGABYTE;
}

function* repeated<Value>(count: number, make: (index: number) => Value): Generator<Value> {
  for (let index = 0; index < count; index += 1) yield make(index);
}

/** A hundred stops of threads that no other part has. */
const stops = (part: number): readonly string[] => [
  ...repeated(100, (index) => `(:debug ${part * 100 + index + 1} 1 ("x" "y" nil) (("ABORT" "z")) ((0 "f")) nil)`),
];

describe("SwankClient with a hostile or broken server", () => {
  let info: calls.ConnectionInfo;
  before(async () => ({ info } = await openFake(tellImage())));

  it("disconnects with a reason if it announces ever more stopped threads, in bounded memory", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    const client = new SwankClient({ connection, info, notes: [] });
    let announced = 0;
    client.on("stop", () => {
      announced += 1;
    });
    const grown = await flood(connection, peer, repeated(2000, stops));
    expect(await connection.closed).to.include({
      code: "LIMIT_EXCEEDED",
      message: "The image announced more than 10000 stops, or a stop more than 1000 levels deep.",
    });
    expect(announced).to.be.at.most(10_000);
    expect(client.stops).to.deep.equal([]);
    expect(grown).to.be.below(400);
    await release();
  });

  it("disconnects with a reason if it announces ever deeper levels of one thread", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    new SwankClient({ connection, info, notes: [] });
    await flood(
      connection,
      peer,
      repeated(200, (part) => [
        ...repeated(100, (index) => `(:debug 1 ${part * 100 + index + 1} ("x" "y" nil) nil nil nil)`),
      ]),
    );
    expect((await connection.closed).code).to.equal("LIMIT_EXCEEDED");
    await release();
  });

  it("accepts any number of stopped threads one after another", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    const client = new SwankClient({ connection, info, notes: [] });
    await flood(
      connection,
      peer,
      repeated(150, (part) => [
        ...stops(part),
        ...repeated(100, (index) => `(:debug-return ${part * 100 + index + 1} 1 nil)`),
      ]),
    );
    expect(connection.isOpen).to.equal(true);
    expect(client.stops).to.deep.equal([]);
    await release();
  });

  const NESTED: readonly [what: string, text: string][] = [
    ["lists", `(:new-features ${"(".repeat(15_000_000)}`],
    ["quotes", `(:new-features ${"'".repeat(15_000_000)}`],
    ["vectors", `(:new-features ${"#(".repeat(7_000_000)}`],
  ];
  for (const [what, text] of NESTED)
    it(`disconnects with a reason if it nests ${what} without end, in bounded memory`, async () => {
      const { connection, peer, release } = await fakeConnection("memory");
      const grown = await flood(connection, peer, [[text]]);
      const reason = await connection.closed;
      expect(reason.code).to.equal("LIMIT_EXCEEDED");
      expect(reason.message).to.include("NESTED_TOO_DEEP");
      expect(grown).to.be.below(400);
      await release();
    });

  it("disconnects with a reason if it invents millions of symbols, in bounded memory", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    const names = [...repeated(1_500_000, (index) => `:h${index.toString(36)}`)].join(" ");
    const grown = await flood(connection, peer, [[`(:new-features (${names}))`]]);
    const reason = await connection.closed;
    expect(reason.code).to.equal("LIMIT_EXCEEDED");
    expect(reason.message).to.include("TOO_MANY_SYMBOLS");
    expect(grown).to.be.below(400);
    await release();
  });

  it("stays in bounded memory if every message has new symbols", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    const names = (part: number) => [...repeated(20_000, (index) => `:m${part}x${index}`)].join(" ");
    const grown = await flood(
      connection,
      peer,
      repeated(20, (part) => [`(:new-features (${names(part)}))`]),
    );
    expect(connection.isOpen).to.equal(true);
    expect(grown).to.be.below(600);
    await release();
  });

  it("fails only the request whose reply has too many symbols", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    const reply = rejection(connection.request(read("(cl:list)"), { label: "x" }), "UNREADABLE_MESSAGE");
    const { id } = await peer.nextRequest();
    peer.returnOk(id, `(${[...repeated(200_000, (index) => `:r${index}`)].join(" ")})`);
    expect((await reply).message).to.include("TOO_MANY_SYMBOLS");
    expect(connection.isOpen).to.equal(true);
    await release();
  });

  it("fails only the request whose reply has a number of millions of digits, and loses nothing else", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    const long = rejection(connection.request(read("(cl:list)"), { label: "long" }), "UNREADABLE_MESSAGE");
    const { id: first } = await peer.nextRequest();
    const short = connection.request(read("(cl:list)"), { label: "short" });
    const { id: second } = await peer.nextRequest();
    peer.send(
      `(:return (:ok ${"7".repeat(4_000_000)}) ${first})`,
      `(:new-features (${"7".repeat(4_000_000)}))`,
      `(:return (:ok ${"7".repeat(100_000)}) ${second})`,
    );
    expect((await long).message).to.include("NUMBER_TOO_LONG");
    expect(await short).to.deep.equal({ status: "ok", value: BigInt("7".repeat(100_000)) });
    expect(connection.isOpen).to.equal(true);
    await release();
  });

  it("disconnects with a reason if it asks without reading the answers, in bounded memory", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    peer.pause();
    const pings = [...repeated(1000, (index) => `(:ping 1 ${index})`)];
    const grown = await flood(
      connection,
      peer,
      repeated(100, () => pings),
    );
    const reason = await connection.closed;
    expect(reason.code).to.equal("LIMIT_EXCEEDED");
    expect(reason.message).to.match(/has not read the last 20000 answers/);
    expect(grown).to.be.below(400);
    await release();
  });

  it("answers any number of questions if the server reads the answers", async () => {
    const { connection, peer, release } = await fakeConnection("TCP");
    const pings = [...repeated(1000, (index) => `(:ping 1 ${index})`)];
    for (let part = 0; part < 25; part += 1) {
      peer.send(...pings);
      await peer.next("(:emacs-pong 1 999)");
    }
    expect(connection.isOpen).to.equal(true);
    await release();
  });
});
