import { setImmediate as tick } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import { type Connection, type commands, SwankClient } from "swank-client";
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

describe("a hostile or broken server", () => {
  let info: commands.ConnectionInfo;
  before(async () => {
    ({ info } = await openFake(tellImage()));
  });

  it("that announces ever more stopped threads is left with a reason, in bounded memory", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    const client = new SwankClient(connection, info);
    let announced = 0;
    client.onStop(() => {
      announced += 1;
    });
    const grown = await flood(connection, peer, repeated(2000, stops));
    expect(await connection.closed).to.include({
      code: "LIMIT_EXCEEDED",
      message: "More than 10000 stops of threads were announced, or one inside more than 1000.",
    });
    expect(announced).to.be.at.most(10_000);
    expect(client.stops).to.deep.equal([]);
    expect(grown).to.be.below(400);
    await release();
  });

  it("that announces ever deeper levels of one thread is left with a reason", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    new SwankClient(connection, info);
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

  it("may stop as many threads as it likes one after another", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    const client = new SwankClient(connection, info);
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
  for (const [what, text] of NESTED) {
    it(`that nests ${what} without end is left with a reason, in bounded memory`, async () => {
      const { connection, peer, release } = await fakeConnection("memory");
      const grown = await flood(connection, peer, [[text]]);
      const reason = await connection.closed;
      expect(reason.code).to.equal("LIMIT_EXCEEDED");
      expect(reason.message).to.include("NESTED_TOO_DEEP");
      expect(grown).to.be.below(400);
      await release();
    });
  }

  it("that invents millions of symbols is left with a reason, in bounded memory", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    const names = [...repeated(1_500_000, (index) => `:h${index.toString(36)}`)].join(" ");
    const grown = await flood(connection, peer, [[`(:new-features (${names}))`]]);
    const reason = await connection.closed;
    expect(reason.code).to.equal("LIMIT_EXCEEDED");
    expect(reason.message).to.include("TOO_MANY_SYMBOLS");
    expect(grown).to.be.below(400);
    await release();
  });

  it("that invents new symbols in every message does not fill the memory", async () => {
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

  it("that replies with too many symbols fails that request only", async () => {
    const { connection, peer, release } = await fakeConnection("memory");
    const reply = rejection(connection.request(read("(cl:list)"), { label: "x" }), "UNREADABLE_MESSAGE");
    const { id } = await peer.nextRequest();
    peer.returnOk(id, `(${[...repeated(200_000, (index) => `:r${index}`)].join(" ")})`);
    expect((await reply).message).to.include("TOO_MANY_SYMBOLS");
    expect(connection.isOpen).to.equal(true);
    await release();
  });

  it("that asks without reading the answers is left with a reason, in bounded memory", async () => {
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

  it("may ask any number of questions when it reads the answers", async () => {
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
