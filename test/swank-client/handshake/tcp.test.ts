import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { isLoopback, tcpOpener } from "swank-client/protocol";
import { rejection, thrown } from "../../support/caught.js";
import { activeTimers } from "../../support/fake-connection.js";
import { FakeSwank } from "../../support/fake-swank.js";
import { openFake, tellImage } from "./fake-image.js";

describe("tcpOpener", () => {
  it("fails if nothing listens, with the form to evaluate in the image", async () => {
    const server = await FakeSwank.listen();
    await server.close();
    const error = await rejection(tcpOpener({ port: server.port })(), "CONNECTION_REFUSED");
    expect(error.message).to.equal(
      `Cannot connect to 127.0.0.1:${server.port}: nothing listens there. A Swank without :dont-close t stops listening as soon as one client, such as Emacs, is connected.`,
    );
    expect(error.remedy).to.equal(
      `Evaluate (swank:create-server :port ${server.port} :dont-close t) in the image; its other connections are not affected.`,
    );
    expect(error.cause).to.have.property("code", "ECONNREFUSED");
  });

  it("fails if the host does not resolve", async () => {
    const error = await rejection(tcpOpener({ host: "no-such-host.invalid" })(), "HOST_NOT_FOUND");
    expect(error.message).to.match(/^Cannot connect to no-such-host\.invalid:4005: the name does not resolve \(/);
  });

  it("fails after the timeout if the host does not accept", async () => {
    const { port, release } = await deafServer();
    const timers = activeTimers();
    const error = await rejection(tcpOpener({ port, timeout: 100 })(), "CONNECT_TIMEOUT");
    expect(error.message).to.equal(`127.0.0.1:${port} did not accept the connection within 100 ms.`);
    expect(activeTimers()).to.equal(timers);
    await release();
  });

  it("can be cancelled before and while it connects", async () => {
    const { port, release } = await deafServer();
    await rejection(tcpOpener({ port })(AbortSignal.abort()), "CANCELLED");
    const controller = new AbortController();
    const opening = tcpOpener({ port })(controller.signal);
    controller.abort();
    await rejection(opening, "CANCELLED");
    await release();
  });

  it("describes the peer, and whether it is on this machine", async () => {
    const { connection } = await openFake(tellImage());
    expect(connection.peer?.isLoopback).to.equal(true);
    expect(connection.description).to.equal(`127.0.0.1:${connection.peer?.port}`);
    const near = ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1", "::FFFF:127.0.0.1"];
    const far = ["192.0.2.1", "10.127.0.0", "128.0.0.1", "::", "2001:db8::1", "fe80::1%eth0", "::ffff:192.0.2.1", ""];
    expect(near.filter((address) => !isLoopback(address))).to.deep.equal([]);
    expect(far.filter(isLoopback)).to.deep.equal([]);
  });

  it("refuses an invalid port", () => {
    for (const port of [0, -1, 65536, 1.5, Number.NaN]) thrown("INVALID_ARGUMENT", () => tcpOpener({ port }));
  });
});

/** A server that is too busy to accept, with its queue of connections full. */
async function deafServer(): Promise<{ readonly port: number; readonly release: () => Promise<void> }> {
  const code = `const server = require("node:net").createServer();
    server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
      require("node:fs").writeSync(1, String(server.address().port));
      for (;;);
    });`;
  const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = await once(child.stdout, "data");
  const fillers = Array.from({ length: 8 }, () => connect(Number(port), "127.0.0.1").on("error", () => {}));
  // The queue is full when one of them has to wait although another was accepted.
  await Promise.race(fillers.map((filler) => once(filler, "connect")));
  const release = async () => {
    for (const filler of fillers) filler.destroy();
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { port: Number(port), release };
}
