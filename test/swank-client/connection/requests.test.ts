import { getEventListeners } from "node:events";
import { expect } from "chai";
import { NIL, read } from "sexp-parser";
import type { SwankError } from "swank-client";
import type { SwankMessage } from "swank-client/protocol";
import { rejection } from "../../support/caught.js";
import { activeTimers, collectUntil, onBothJoints } from "../../support/fake-connection.js";

const FORM = read("(swank:connection-info)");

describe("Connection.request: requests", () => {
  onBothJoints("get the reply with their id, whatever the order of replies", async ({ connection, peer }) => {
    const replies = ["a", "b", "c"].map((name) => connection.request(read(`(cl:list "${name}")`), { label: name }));
    const [a, b, c] = [await peer.nextRequest('"a"'), await peer.nextRequest('"b"'), await peer.nextRequest('"c"')];
    expect(new Set([a.id, b.id, c.id]).size).to.equal(3);
    peer.returnOk(c.id, '"third"');
    peer.returnAbort(a.id, "boom");
    peer.returnOk(b.id, "(1 2)");
    expect(await Promise.all(replies)).to.deep.equal([
      { status: "abort", condition: "boom" },
      { status: "ok", value: [1, 2] },
      { status: "ok", value: "third" },
    ]);
    expect(connection.pendingCount).to.equal(0);
  });

  onBothJoints("name the package and the thread in which they run", async ({ connection, peer }) => {
    connection.request(FORM, { label: "1" }).catch(() => {});
    connection.request(FORM, { label: "2", package: "MY-APP", thread: 17 }).catch(() => {});
    connection.request(FORM, { label: "3", package: 'a"b', thread: "repl-thread" }).catch(() => {});
    expect(await peer.next()).to.equal("(:emacs-rex (swank:connection-info) nil t 1)");
    expect(await peer.next()).to.equal('(:emacs-rex (swank:connection-info) "MY-APP" 17 2)');
    expect(await peer.next()).to.equal('(:emacs-rex (swank:connection-info) "a\\"b" :repl-thread 3)');
  });

  onBothJoints("may reuse the id of a finished request", async ({ connection, peer }) => {
    const id = connection.nextId();
    const first = connection.request(FORM, { label: "first" });
    const second = connection.request(FORM, { label: "second", id });
    peer.returnOk(id, "2");
    peer.returnOk(id + 1, "1");
    expect(await first).to.deep.equal({ status: "ok", value: 1 });
    expect(await second).to.deep.equal({ status: "ok", value: 2 });
    expect(connection.nextId()).to.equal(id + 2);
  });

  onBothJoints("get a reply that arrives in single bytes", async ({ connection, peer }) => {
    const reply = connection.request(FORM, { label: "cut" });
    const { id } = await peer.nextRequest();
    await peer.sendInPieces(1, `(:return (:ok "日本 😀") ${id})`);
    expect(await reply).to.deep.equal({ status: "ok", value: "日本 😀" });
  });

  onBothJoints(
    "fail if Lisp cannot read them, identified by the id at the end of the packet",
    async ({ connection, peer }) => {
      const good = connection.request(FORM, { label: "good" });
      const bad = connection.request(read("(nosuch:foo 5)"), { label: "bad" });
      await peer.nextRequest("connection-info");
      const { id, text } = await peer.nextRequest("nosuch");
      peer.send(`(:reader-error ${JSON.stringify(text)} "Package NOSUCH does not exist.")`);
      const error = await rejection(bad, "REQUEST_UNREADABLE");
      expect(error.message).to.equal("bad: Package NOSUCH does not exist.");
      expect(error.details).to.deep.include({ operation: "bad", request: id });
      expect(connection.pendingCount).to.equal(1);
      peer.returnOk(id - 1, "nil");
      expect(await good).to.deep.equal({ status: "ok", value: NIL });
    },
  );

  onBothJoints(
    "fail without affecting others if the reply is malformed, unreadable or unprintable",
    async ({ connection, peer }) => {
      const replies = [1, 2, 3, 4].map((id) => connection.request(FORM, { label: String(id), id }));
      peer.send(
        "(:return (:maybe 1) 1)",
        '(:return (:ok #<foo "unclosed) 2)',
        '(:reader-error "(:return (:ok \\"\\\\xd8\\") 3)" "no UTF-8")',
        "(:return (:ok 4) 4)",
      );
      const [first, second, third, fourth] = replies;
      if (!first || !second || !third || !fourth) throw new Error("Four requests were made.");
      await rejection(first, "UNEXPECTED_REPLY");
      await rejection(second, "UNREADABLE_MESSAGE");
      await rejection(third, "UNREADABLE_MESSAGE");
      expect(await fourth).to.deep.equal({ status: "ok", value: 4 });
      expect(connection.isOpen).to.equal(true);
    },
  );

  onBothJoints("fail after their timeout, and the late reply is unclaimed", async ({ connection, peer }) => {
    const timers = activeTimers();
    const reply = connection.request(FORM, { label: "slow", timeout: 5 });
    const { id } = await peer.nextRequest();
    expect((await rejection(reply, "REQUEST_TIMEOUT")).message).to.equal("slow: No reply came within 5 ms.");
    expect(activeTimers()).to.equal(timers);
    const unclaimed: SwankMessage[] = [];
    connection.on("unclaimed", (message) => unclaimed.push(message));
    const events = collectUntil(connection, "return");
    peer.returnOk(id, "1");
    const late: SwankMessage = { type: "return", id, reply: { status: "ok", value: 1 } };
    expect(await events).to.deep.equal([late]);
    expect(unclaimed).to.deep.equal([late]);
    expect(connection.isOpen).to.equal(true);
  });

  onBothJoints(
    "fail in the order of their timeouts, and one that is answered fails not",
    async ({ connection, peer }) => {
      const timers = activeTimers();
      const missed: string[] = [];
      const ask = (label: string, timeout: number) =>
        connection.request(FORM, { label, timeout }).catch((error: SwankError) => missed.push(error.message));
      const requests = [ask("last", 900), ask("first", 300), ask("second", 600)];
      const answered = ask("answered", 10_000);
      peer.returnOk((await peer.nextRequest()).id + 3, "1");
      expect(await answered).to.deep.equal({ status: "ok", value: 1 });
      expect(activeTimers()).to.equal(timers + 1);
      await Promise.all(requests);
      expect(missed.map((text) => text.slice(0, 6))).to.deep.equal(["first:", "second", "last: "]);
      expect(activeTimers()).to.equal(timers);
    },
  );

  onBothJoints("leave no timer when the connection closes", async ({ connection }) => {
    const timers = activeTimers();
    const reply = rejection(connection.request(FORM, { label: "x", timeout: 60_000 }), "CONNECTION_CLOSED");
    await connection.close();
    await reply;
    expect(activeTimers()).to.equal(timers);
  });

  onBothJoints(
    "to a numbered thread have a separate timeout, because Swank 2.27 drops them if the thread no longer exists",
    async ({ connection }) => {
      await rejection(connection.request(FORM, { label: "stale", thread: 12 }), "REQUEST_TIMEOUT");
    },
    () => ({ threadTimeout: 5 }),
  );

  onBothJoints("fail when their signal is aborted, and remove their listener from it", async ({ connection, peer }) => {
    const controller = new AbortController();
    const { signal } = controller;
    const cancelled = connection.request(FORM, { label: "cancelled", signal });
    const settled = connection.request(FORM, { label: "settled", signal });
    peer.returnOk((await peer.nextRequest()).id + 1, "1");
    await settled;
    expect(getEventListeners(signal, "abort").length).to.equal(1);
    controller.abort(new Error("the user left"));
    expect((await rejection(cancelled, "CANCELLED")).cause).to.have.property("message", "the user left");
    expect(getEventListeners(signal, "abort").length).to.equal(0);
    expect(connection.pendingCount).to.equal(0);
  });

  onBothJoints("are not sent if the signal is already aborted", async ({ connection, peer }) => {
    await rejection(connection.request(FORM, { label: "late", signal: AbortSignal.abort() }), "CANCELLED");
    connection.send({ type: "emacs-interrupt", thread: 1 });
    expect(await peer.next()).to.equal("(:emacs-interrupt 1)");
  });

  onBothJoints("show their caller in the stack of an error", async ({ connection, peer }) => {
    async function askSomething(): Promise<unknown> {
      return connection.request(FORM, { label: "question" });
    }
    const reply = askSomething();
    peer.send('(:invalid-rpc 1 "Thread not found")');
    const error = await rejection(reply, "NO_SUCH_THREAD");
    expect(error.stack).to.match(/^SwankError: question: Thread not found\n\s+at askSomething /);
  });

  onBothJoints("are refused before anything is sent if an argument is invalid", async ({ connection, peer }) => {
    const refused = [
      connection.request(FORM, { label: "x", thread: 1.5 }),
      connection.request(FORM, { label: "x", thread: Number.NaN }),
      connection.request(FORM, { label: "x", timeout: 0 }),
      connection.request(FORM, { label: "x", timeout: Number.NaN }),
      connection.request(FORM, { label: "x", timeout: 2 ** 31 }),
      connection.request(FORM, { label: "x", id: 0.5 }),
      connection.request({ kind: "opaque", text: "#.(boom)" }, { label: "x" }),
      connection.request(0.5, { label: "x" }),
    ];
    for (const reply of refused) await rejection(reply, "INVALID_ARGUMENT");
    await rejection(connection.request("x".repeat(0x1000000), { label: "x" }), "FRAME_TOO_LARGE");
    connection.request(FORM, { label: "good", id: 50 }).catch(() => {});
    await rejection(connection.request(FORM, { label: "again", id: 50 }), "INVALID_ARGUMENT");
    expect(await peer.next()).to.equal("(:emacs-rex (swank:connection-info) nil t 50)");
    expect(connection.pendingCount).to.equal(1);
  });

  onBothJoints(
    "are refused while the queue is full, and accepted again when Lisp reads",
    async ({ connection, peer }) => {
      peer.pause();
      const large = "x".repeat(0xf00000);
      const accepted = [1, 2].map((id) => connection.request(large, { label: "large", id }));
      await rejection(connection.request(FORM, { label: "refused" }), "BACKLOG_FULL");
      // Whatever Lisp waits on is answered all the same.
      expect(connection.send({ type: "emacs-pong", thread: 5, tag: 6 })).to.equal(true);
      peer.resume();
      await peer.next("(:emacs-pong 5 6)");
      peer.returnOk(1, "nil");
      peer.returnOk(2, "nil");
      await Promise.all(accepted);
      const next = connection.request(FORM, { label: "small" });
      peer.returnOk((await peer.nextRequest("connection-info")).id, "2");
      expect(await next).to.deep.equal({ status: "ok", value: 2 });
    },
    () => ({ backlogLimit: 0x1000000 }),
  );
});
