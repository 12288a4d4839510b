import { expect } from "chai";
import { read } from "sexp-parser";
import { rejection } from "../../support/caught.js";
import { activeTimers, onBothJoints } from "../../support/fake-connection.js";

describe("Heartbeat", () => {
  onBothJoints(
    "sends a request that runs no code, and accepts its reply",
    async ({ connection, peer }) => {
      for (let count = 0; count < 3; count++) {
        const { form, thread, id } = await peer.nextRequest();
        expect([form, thread]).to.deep.equal(["nil", "-1"]);
        peer.send(`(:invalid-rpc ${id} "Thread not found: -1")`);
      }
      expect(connection.isOpen).to.equal(true);
    },
    () => ({ heartbeat: { interval: 10, patience: 1000 } }),
  );

  onBothJoints(
    "closes the connection to a server that stops answering, and rejects pending requests",
    async ({ connection, peer }) => {
      const changes: boolean[] = [];
      connection.on("answering", (isAnswering) => changes.push(isAnswering));
      const reply = connection.request(read("(cl:loop)"), { label: "evaluation" });
      peer.pause();
      expect((await rejection(reply, "UNRESPONSIVE")).message).to.match(
        /^evaluation: \S+ has not answered for 15 ms\.$/,
      );
      expect(changes).to.deep.equal([false]);
      await connection.closed;
    },
    () => ({ heartbeat: { interval: 5, patience: 3 } }),
  );

  onBothJoints(
    "reports when the server answers again",
    async ({ connection, peer }) => {
      const next = () => new Promise<boolean>((resolve) => connection.once("answering", resolve));
      expect(await next()).to.equal(false);
      const change = next();
      peer.send("(:new-repl-output)");
      expect(await change).to.equal(true);
    },
    () => ({ heartbeat: { interval: 10, patience: 1000 } }),
  );

  onBothJoints(
    "can be disabled",
    async ({ connection, peer }) => {
      expect(connection.isOpen).to.equal(true);
      peer.send("(:ping 1 1)");
      await peer.next("(:emacs-pong 1 1)");
      expect(peer.received).to.have.length(1);
    },
    () => ({ heartbeat: false }),
  );

  onBothJoints(
    "does not keep the process alive",
    async ({ connection }) => {
      const timers = activeTimers();
      await connection.close();
      expect(activeTimers()).to.equal(timers);
    },
    () => ({ heartbeat: { interval: 1_000_000 } }),
  );
});
