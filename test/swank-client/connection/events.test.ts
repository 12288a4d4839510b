import { expect } from "chai";
import { read } from "sexp-parser";
import type { ConnectionOptions, SwankMessage } from "swank-client/protocol";
import { rejection } from "../../support/caught.js";
import { activeTimers, collectUntil, fakeConnection, onBothJoints } from "../../support/fake-connection.js";
import { MESSAGE_CASES } from "../wire/cases/index.js";

const reported: (readonly [message: string, event: string])[] = [];
const report = (error: unknown, event: string) => {
  reported.push([error instanceof Error ? error.message : String(error), event]);
};

/** A listener whose promise rejects, as that of an async function can. */
const rejecting = (): unknown => Promise.reject(new Error("rejected"));

describe("Connection events", () => {
  beforeEach(() => {
    reported.length = 0;
  });

  onBothJoints("report every message in order, whatever its type", async ({ connection, peer }) => {
    const events = collectUntil(connection, "test-delay");
    const sent = MESSAGE_CASES.filter(([, , message]) => message.type !== "test-delay");
    peer.send(...sent.map(([, text]) => text), "(:test-delay 1)");
    const messages = await events;
    expect(messages.slice(0, -1)).to.deep.equal(sent.map(([, , message]) => message));
    expect(connection.isOpen).to.equal(true);
  });

  onBothJoints("report replies to no pending request, which are not errors", async ({ connection, peer }) => {
    const unclaimed: SwankMessage["type"][] = [];
    connection.on("unclaimed", ({ type }) => unclaimed.push(type));
    const events = collectUntil(connection, "new-repl-output");
    peer.send(
      "(:return (:ok 1) 9999)",
      '(:invalid-rpc 9999 "Thread not found: 5")',
      '(:reader-error "(:emacs-rex (a:b) nil t 9999)" "no")',
      '(:reader-error "(:write-string \\"x\\")" "no")',
      "(:return (:maybe) 9999)",
      "(:new-repl-output)",
    );
    await events;
    expect(unclaimed).to.deep.equal(["return", "invalid-rpc", "reader-error", "reader-error", "malformed"]);
    expect(connection.isOpen).to.equal(true);
  });

  onBothJoints(
    "reach all listeners even if some throw, reject, unsubscribe or close",
    async ({ connection, peer }) => {
      const heard: string[] = [];
      connection.on("event", () => {
        throw new Error("thrown");
      });
      connection.on("event", rejecting);
      const leave = connection.on("event", () => {
        heard.push("leaves");
        leave();
      });
      connection.once("event", () => heard.push("once"));
      connection.on("event", ({ type }) => heard.push(type));
      const events = collectUntil(connection, "new-repl-output");
      peer.send("(:ping 1 1)", "(:new-repl-output)");
      await events;
      await Promise.resolve();
      expect(heard).to.deep.equal(["leaves", "once", "ping", "new-repl-output"]);
      expect(reported.map(([message]) => message).sort()).to.deep.equal(["rejected", "rejected", "thrown", "thrown"]);
      expect(reported.every(([, event]) => event === "event")).to.equal(true);
    },
    () => ({ onListenerError: report }),
  );

  onBothJoints("call a function once that was added twice and removed once", async ({ connection, peer }) => {
    let count = 0;
    const listener = () => {
      count += 1;
    };
    const stop = connection.on("event", listener);
    connection.on("event", listener);
    stop();
    stop();
    const events = collectUntil(connection, "new-repl-output");
    peer.send("(:new-repl-output)");
    await events;
    expect(count).to.equal(1);
    expect(connection.listenerCount("event")).to.equal(1);
  });

  onBothJoints("precede the continuation of the caller that awaits the reply", async ({ connection, peer }) => {
    const order: string[] = [];
    connection.on("event", ({ type }) => order.push(type));
    const reply = connection.request(read("(cl:list)"), { label: "x" });
    const { id } = await peer.nextRequest();
    peer.send('(:write-string "out")', `(:return (:ok nil) ${id})`);
    await reply;
    order.push("awaited");
    expect(order).to.deep.equal(["write-string", "return", "awaited"]);
  });

  onBothJoints("stop when a listener closes the connection", async ({ connection, peer }) => {
    const heard: string[] = [];
    connection.on("event", ({ type }) => {
      heard.push(type);
      void connection.close();
    });
    const closed = new Promise((resolve) => connection.on("closed", resolve));
    peer.send("(:new-repl-output)", "(:ping 1 1)", "garbage");
    await closed;
    expect(heard).to.deep.equal(["new-repl-output"]);
    expect(peer.received).to.deep.equal([]);
  });

  const REPORTERS: readonly (readonly [title: string, options: ConnectionOptions, message: string])[] = [
    ["by default", {}, "the listener's own"],
    ["if the error reporter fails, too", { onListenerError: failing("the reporter's own") }, "the reporter's own"],
  ];
  for (const [title, options, message] of REPORTERS)
    it(`whose listener fails become a process warning ${title}, not an exception`, async () => {
      const { connection, peer, release } = await fakeConnection("memory", options);
      const warning = new Promise<Error>((resolve) => process.once("warning", resolve));
      connection.on("event", failing("the listener's own"));
      peer.send("(:new-repl-output)");
      expect(await warning).to.include({
        name: "ListenerWarning",
        message: `A listener for "event" failed: ${message}`,
      });
      expect(connection.isOpen).to.equal(true);
      await release();
    });
});

function failing(message: string): () => void {
  return () => {
    throw new Error(message);
  };
}

describe("Heartbeat", () => {
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
