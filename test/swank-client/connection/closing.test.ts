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
    "rejects pending requests, and resolves when the server has passed them on and closed, too",
    async ({ connection, peer }) => {
      const timers = activeTimers();
      const reply = rejection(pending(connection, "evaluation"), "CONNECTION_CLOSED");
      await peer.nextRequest();
      const closing = connection.close();
      expect((await reply).message).to.equal("evaluation: This side closed the connection.");
      const { id, thread } = await peer.nextRequest();
      expect(thread, "no thread of this number can exist").to.equal("-1");
      peer.send('(:write-string "more" nil 5)');
      await pause(20);
      expect(peer.isEnded).to.equal(false);
      peer.send(`(:invalid-rpc ${id} "Thread not found: -1")`);
      await closing;
      expect(peer.isEnded).to.equal(true);
      expect(await connection.closed).to.have.property("code", "CONNECTION_CLOSED");
      expect(activeTimers()).to.equal(timers);
    },
    () => ({ linger: 1_000_000 }),
  );

  onBothJoints(
    "ends the stream for a server that does not say that it has passed on a request",
    async ({ connection, peer }) => {
      const reply = rejection(pending(connection, "evaluation"), "CONNECTION_CLOSED");
      const closing = connection.close();
      await closing;
      await reply;
      expect(peer.isEnded).to.equal(true);
      expect(peer.received.at(-1)).to.equal("(:emacs-rex nil nil -1 -1)");
    },
    () => ({ linger: 40 }),
  );

  onBothJoints(
    "asks nothing if the newest request is answered, in whatever way",
    async ({ connection, peer }) => {
      for (const answer of [
        (id: number) => `(:return (:ok 1) ${id})`,
        (id: number) => `(:return (:abort "x") ${id})`,
        (id: number) => `(:return (:refused :too-large) ${id})`,
        (id: number) => `(:return (:odd) ${id})`,
        (id: number) => `(:invalid-rpc ${id} "Thread not found: 7")`,
        (id: number) => `(:reader-error "(:emacs-rex (x:y) nil t ${id})" "no package X")`,
      ]) {
        const settled = pending(connection, "evaluation").catch(() => undefined);
        const { id } = await peer.nextRequest();
        peer.send(answer(id));
        await settled;
      }
      await connection.close();
      expect(peer.received).to.have.lengthOf(6);
    },
    () => ({ linger: 1_000_000 }),
  );

  for (const { title, bytes } of [
    { title: "a message that cannot be read", bytes: frame("no list") },
    { title: "a frame that is none", bytes: Buffer.from("zzzzzz") },
    { title: "a frame above the limit", bytes: frame(`(:write-string "${"x".repeat(500)}")`) },
  ]) {
    onBothJoints(
      `ends the stream in order after ${title} instead of the answer`,
      async ({ connection, peer }) => {
        const events: unknown[] = [];
        for (const event of ["event", "answering", "unclaimed"] as const)
          connection.on(event, (payload) => events.push(payload));
        peer.stayOpen();
        const reply = rejection(pending(connection, "evaluation"), "CONNECTION_CLOSED");
        await peer.nextRequest();
        const closing = connection.close();
        await peer.nextRequest();
        peer.sendBytes(bytes);
        await peer.ended;
        peer.end();
        await Promise.all([closing, reply]);
        expect(events).to.deep.equal([]);
      },
      () => ({ linger: 1_000_000, frameLimit: 400 }),
    );
  }

  onBothJoints(
    "can be cut short by drop while the answer is awaited",
    async ({ connection, peer }) => {
      const reply = rejection(pending(connection, "evaluation"), "CONNECTION_CLOSED");
      await peer.nextRequest();
      const closing = connection.close();
      await connection.drop();
      await Promise.all([closing, reply]);
    },
    () => ({ linger: 1_000_000 }),
  );

  onBothJoints("succeeds after a request with the largest id", async ({ connection, peer }) => {
    const id = Number.MAX_SAFE_INTEGER;
    const reply = rejection(connection.request(FORM, { label: "last", timeout: 60_000, id }), "CONNECTION_CLOSED");
    await peer.nextRequest();
    const closing = connection.close();
    peer.send(`(:invalid-rpc -1 "Thread not found: -1")`);
    await Promise.all([closing, reply]);
  });

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
