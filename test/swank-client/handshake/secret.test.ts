import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, rmdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import {
  duplexTransport,
  isLoopback,
  type OpenOptions,
  openConnection,
  type SecretOption,
  tcpOpener,
} from "swank-client/protocol";
import { rejection, thrown } from "../../support/caught.js";
import { activeTimers } from "../../support/fake-connection.js";
import { type FakePeer, FakeSwank } from "../../support/fake-swank.js";
import { openFake, tellImage } from "./fake-image.js";

const neverOpened = () => Promise.reject(new Error("opened"));

/** Opens a connection that sends this first. */
async function expectSent(first: string, options: OpenOptions): Promise<void> {
  const play = async (peer: FakePeer) => {
    expect(await peer.next()).to.equal(first);
    await tellImage()(peer);
  };
  await openFake(play, options);
}

describe("openConnection: the secret", () => {
  let folder: string;
  let file: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "secret-"));
    file = join(folder, "secret");
    await writeFile(file, "open sesame\nsecond line\n");
  });
  after(() => rm(folder, { recursive: true }));

  it("is sent as the first packet, as text instead of a Lisp string", () =>
    expectSent('a "b" (', { secret: 'a "b" (' }));

  it("is read from the first line of a file", () => expectSent("open sesame", { secret: { file } }));

  it("is not sent if it is disabled", async () => {
    await openFake(async (peer) => {
      await tellImage()(peer);
      expect(peer.received).to.have.length(1);
    });
  });

  it("is read from the user's ~/.slime-secret by default, if that exists", async () => {
    const home = process.env["HOME"];
    process.env["HOME"] = folder;
    try {
      await openFake(tellImage(), { secret: undefined });
      await writeFile(join(folder, ".slime-secret"), "from home\n");
      await expectSent("from home", { secret: undefined });
    } finally {
      process.env["HOME"] = home;
    }
  });

  it("causes a note if other users can read its file, and none otherwise", async () => {
    for (const [mode, notes] of [
      [0o640, [`Other users of this machine can read the secret in ${file}. To prevent this, run chmod 600 ${file}.`]],
      [0o600, []],
    ] as const) {
      await chmod(file, mode);
      expect((await openFake(tellImage(), { secret: { file } })).notes).to.deep.equal(notes);
    }
  });

  describe("sent to another machine", () => {
    const exposure =
      "The secret was sent unencrypted to lisp.example:4005, which is another machine: anyone who can read the network traffic knows it now.";

    async function openElsewhere(script: (peer: FakePeer) => unknown, secret: SecretOption | undefined) {
      const server = await FakeSwank.listen();
      const opening = openConnection(
        async () => {
          const socket = connect(server.port, "127.0.0.1");
          await once(socket, "connect");
          return duplexTransport(socket, "lisp.example:4005", { peer: { port: 4005, isLoopback: false } });
        },
        { secret },
      );
      try {
        await script(await server.accept());
        return await opening;
      } finally {
        await opening.then(
          ({ connection }) => connection.close(),
          () => undefined,
        );
        await server.close();
      }
    }

    it("causes a note, but none if no secret is sent", async () => {
      expect((await openElsewhere(tellImage(), "x")).notes).to.deep.equal([exposure]);
      expect((await openElsewhere(tellImage(), false)).notes).to.deep.equal([]);
    });

    it("is not SLY's unless it is given", async () => {
      const home = process.env["HOME"];
      process.env["HOME"] = await mkdtemp(join(tmpdir(), "secret-"));
      const sly = join(process.env["HOME"], ".sly-secret");
      try {
        await writeFile(sly, "of sly\n", { mode: 0o600 });
        expect((await openElsewhere(tellImage(), undefined)).notes).to.deep.equal([]);
        expect((await openElsewhere(tellImage(), { file: sly })).notes).to.deep.equal([exposure]);
      } finally {
        await rm(process.env["HOME"], { recursive: true });
        process.env["HOME"] = home;
      }
    });

    it("causes a note even if the connection fails", async () => {
      const play = (peer: FakePeer) => peer.next().then(() => peer.end());
      expect((await rejection(openElsewhere(play, "x"), "SECRET_REJECTED")).message).to.include(exposure);
    });
  });

  it("causes an error before the connection is opened if its file cannot be read", async () => {
    await writeFile(join(folder, "empty"), "");
    for (const [name, says] of [
      ["none", /^The secret file cannot be read: .*none \(ENOENT/],
      ["", /^The secret file cannot be read: .* \(EISDIR/],
      ["empty", /^The first line of the secret file is empty: .*empty$/],
    ] as const) {
      const opening = openConnection(neverOpened, { secret: { file: join(folder, name) } });
      expect((await rejection(opening, "SECRET_UNREADABLE")).message).to.match(says);
    }
  });

  it("is sent if ~/.slime-secret is empty, but not if that cannot be read", async () => {
    const home = process.env["HOME"];
    const other = await mkdtemp(join(tmpdir(), "secret-"));
    process.env["HOME"] = other;
    try {
      await mkdir(join(other, ".slime-secret"));
      await rejection(openConnection(neverOpened), "SECRET_UNREADABLE");
      await rmdir(join(other, ".slime-secret"));
      await writeFile(join(other, ".slime-secret"), "");
      await expectSent("", { secret: undefined });
    } finally {
      process.env["HOME"] = home;
      await rm(other, { recursive: true });
    }
  });

  it("is SLY's if there is no other, unless the server closes the connection, which then gets none", async () => {
    const home = process.env["HOME"];
    const other = await mkdtemp(join(tmpdir(), "secret-"));
    process.env["HOME"] = other;
    const server = await FakeSwank.listen();
    try {
      await writeFile(join(other, ".sly-secret"), "of sly\n");
      await expectSent("of sly", { secret: undefined });
      const opening = openConnection(tcpOpener({ port: server.port }));
      const first = await server.accept();
      expect(await first.next()).to.equal("of sly");
      first.end();
      await tellImage()(await server.accept());
      await (await opening).connection.close();
      await writeFile(join(other, ".slime-secret"), "of slime\n");
      await expectSent("of slime", { secret: undefined });
    } finally {
      process.env["HOME"] = home;
      await server.close();
      await rm(other, { recursive: true });
    }
  });

  it("is reported as wrong if the server stays silent after it, with the remedy to restart the server", async () => {
    const error = await rejection(
      openFake(() => {}, { secret: "x", timeout: 150 }),
      "SECRET_REJECTED",
    );
    const port = /:(\d+) /.exec(error.message)?.[1];
    expect(error.remedy).to.equal(
      `Give the first line of ~/.slime-secret, or of ~/.sly-secret for SLY's Slynk, of the user who runs the server, or no secret when there is no such file. A Swank that received a wrong secret, or none, answers no client until it is restarted: (swank:restart-server :port ${port} :dont-close t), with slynk: for Slynk.`,
    );
  });

  it("is not mentioned if the server speaks another protocol", async () => {
    const play = (peer: FakePeer) => peer.sendBytes(Buffer.from("HTTP/1.1 400 Bad Request\r\n"));
    await rejection(openFake(play, { secret: "x" }), "NOT_SWANK");
  });
});

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
