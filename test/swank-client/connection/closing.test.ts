import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { read } from "sexp-parser";
import { SwankError } from "swank-client";
import type { Connection } from "swank-client/protocol";
import { rejection } from "../../support/caught.js";
import { activeTimers, onBothJoints } from "../../support/fake-connection.js";
import { frame } from "../../support/fake-swank.js";

const FORM = read("(cl:loop)");

function pending(connection: Connection, label: string): Promise<unknown> {
  return connection.request(FORM, { label, timeout: 60_000 });
}

describe("Connection.close", () => {
  onBothJoints(
    "rejects pending requests, ends the stream, and resolves when the server has closed, too",
    async ({ connection, peer }) => {
      const timers = activeTimers();
      peer.stayOpen();
      const reply = rejection(pending(connection, "evaluation"), "CONNECTION_CLOSED");
      await peer.nextRequest();
      const closing = connection.close();
      expect((await reply).message).to.equal("evaluation: This side closed the connection.");
      // Swank refuses what comes after the requests when it has passed them on.
      const farewell = await peer.nextRequest();
      expect(await Promise.race([peer.ended.then(() => "ended"), pause(50, "open")])).to.equal("open");
      peer.send(`(:invalid-rpc ${farewell.id} "Thread not found: -1")`);
      await peer.ended;
      peer.end();
      await closing;
      expect(await connection.closed).to.have.property("code", "CONNECTION_CLOSED");
      expect(activeTimers()).to.equal(timers);
    },
    () => ({ linger: 1_000_000 }),
  );

  onBothJoints(
    "ends the stream soon although the server says nothing",
    async ({ connection, peer }) => {
      const reply = rejection(pending(connection, "evaluation"), "CONNECTION_CLOSED");
      await peer.nextRequest();
      await connection.close();
      await reply;
    },
    () => ({ linger: 1_000_000 }),
  );

  for (const { title, bytes } of [
    { title: "a message that cannot be read", bytes: frame("no list") },
    { title: "a frame that is none", bytes: Buffer.from("zzzzzz") },
    { title: "a frame above the limit", bytes: frame(`(:write-string "${"x".repeat(500)}")`) },
  ])
    onBothJoints(
      `ends in order if ${title} comes afterwards`,
      async ({ connection, peer }) => {
        const events: unknown[] = [];
        for (const event of ["event", "answering", "unclaimed"] as const)
          connection.on(event, (payload) => events.push(payload));
        peer.stayOpen();
        const closing = connection.close();
        await peer.ended;
        peer.sendBytes(bytes);
        peer.end();
        await closing;
        expect(events).to.deep.equal([]);
      },
      () => ({ linger: 1_000_000, frameLimit: 400 }),
    );

  onBothJoints("keeps reading until the server has closed, so that the server can finish writing", async (fake) => {
    const { connection, peer } = fake;
    const heard: string[] = [];
    connection.on("event", ({ type }) => heard.push(type));
    peer.stayOpen();
    const closing = connection.close();
    await peer.ended;
    for (let count = 0; count < 200; count++) peer.send(`(:write-string "${"x".repeat(8000)}" nil 5)`);
    peer.end();
    await closing;
    await peer.closed;
    expect(peer.unsentBytes).to.equal(0);
    expect(heard, "nobody is told of it any more").to.deep.equal([]);
    expect(peer.received, "and nothing is answered").to.deep.equal([]);
  });

  onBothJoints(
    "stops waiting for a server that does not close",
    async ({ connection, peer }) => {
      peer.stayOpen();
      await connection.close();
      expect(await connection.closed).to.have.property("code", "CONNECTION_CLOSED");
    },
    () => ({ linger: 5 }),
  );

  onBothJoints("can close without waiting for the server", async ({ connection, peer }) => {
    peer.stayOpen();
    const reply = rejection(pending(connection, "evaluation"), "CONNECTION_CLOSED");
    await peer.nextRequest();
    await connection.drop();
    await reply;
    expect(await connection.closed).to.have.property("code", "CONNECTION_CLOSED");
  });

  onBothJoints(
    "can stop the wait for the server",
    async ({ connection, peer }) => {
      peer.stayOpen();
      const closing = connection.close();
      await peer.ended;
      await connection.drop();
      await closing;
    },
    () => ({ linger: 1_000_000 }),
  );

  onBothJoints("can be called any number of times, even after the end", async ({ connection }) => {
    const closings: SwankError[] = [];
    connection.on("closed", (reason) => closings.push(reason));
    await Promise.all([
      connection.close(),
      connection.close(new SwankError("CANCELLED", "second")),
      connection.close(),
    ]);
    await connection.close();
    expect(closings.map(({ code }) => code)).to.deep.equal(["CONNECTION_CLOSED"]);
  });

  onBothJoints(
    "rejects pending requests with the given reason",
    async ({ connection, peer }) => {
      const reply = rejection(pending(connection, "evaluation"), "CONNECTION_LOST");
      await peer.nextRequest();
      const reason = new SwankError("CONNECTION_LOST", "The image has ended with code 1.");
      await connection.close(reason);
      expect(await connection.closed).to.equal(reason);
      expect((await reply).message).to.equal("evaluation: The image has ended with code 1.");
    },
    () => ({ linger: 20 }),
  );

  onBothJoints(
    "has the same result if the server breaks the connection during the wait",
    async ({ connection, peer }) => {
      peer.stayOpen();
      const closing = connection.close();
      await peer.ended;
      peer.reset();
      await closing;
      expect(await connection.closed).to.have.property("code", "CONNECTION_CLOSED");
    },
  );
});
