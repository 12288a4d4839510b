import { Buffer } from "node:buffer";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, rmdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { duplexTransport, openConnection, type SecretOption } from "swank-client/protocol";
import { rejection } from "../../support/caught.js";
import { type FakePeer, FakeSwank } from "../../support/fake-swank.js";
import { openFake, tellImage } from "./fake-image.js";

const neverOpened = () => Promise.reject(new Error("opened"));

describe("openConnection: the secret", () => {
  let folder: string;
  let file: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "secret-"));
    file = join(folder, "secret");
    await writeFile(file, "open sesame\nsecond line\n");
  });
  after(() => rm(folder, { recursive: true }));

  it("is the first packet, as text and not as a Lisp string", async () => {
    await openFake(
      async (peer) => {
        expect(await peer.next()).to.equal('a "b" (');
        await tellImage()(peer);
      },
      { secret: 'a "b" (' },
    );
  });

  it("is the first line of a file", async () => {
    await openFake(
      async (peer) => {
        expect(await peer.next()).to.equal("open sesame");
        await tellImage()(peer);
      },
      { secret: { file } },
    );
  });

  it("is not sent if it is disabled", async () => {
    await openFake(async (peer) => {
      await tellImage()(peer);
      expect(peer.received).to.have.length(1);
    });
  });

  it("is taken from the user's ~/.slime-secret by default, if there is one", async () => {
    const home = process.env["HOME"];
    process.env["HOME"] = folder;
    try {
      await openFake(tellImage(), { secret: undefined });
      await writeFile(join(folder, ".slime-secret"), "from home\n");
      await openFake(
        async (peer) => {
          expect(await peer.next()).to.equal("from home");
          await tellImage()(peer);
        },
        { secret: undefined },
      );
    } finally {
      process.env["HOME"] = home;
    }
  });

  it("of a file that other users can read is sent with a note, which one that only the user can read has not", async () => {
    for (const [mode, notes] of [
      [0o640, [`Other users of this machine can read the secret in ${file}: chmod 600 ${file} keeps it from them.`]],
      [0o600, []],
    ] as const) {
      await chmod(file, mode);
      expect((await openFake(tellImage(), { secret: { file } })).notes).to.deep.equal(notes);
    }
  });

  describe("that goes to another machine", () => {
    const exposure =
      "The secret was sent to lisp.example:4005, which is another machine, and nothing encrypted it: whoever can read the network knows it now.";

    async function openElsewhere(script: (peer: FakePeer) => unknown, secret: SecretOption) {
      const server = await FakeSwank.listen();
      const opening = openConnection(
        async () => {
          const socket = connect(server.port, "127.0.0.1");
          await once(socket, "connect");
          return duplexTransport(socket, "lisp.example:4005", { port: 4005, isLoopback: false });
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

    it("is noted, and what is not sent is not", async () => {
      expect((await openElsewhere(tellImage(), "x")).notes).to.deep.equal([exposure]);
      expect((await openElsewhere(tellImage(), false)).notes).to.deep.equal([]);
    });

    it("is told of also when the connection fails", async () => {
      const play = (peer: FakePeer) => peer.next().then(() => peer.end());
      expect((await rejection(openElsewhere(play, "x"), "SECRET_REJECTED")).message).to.include(exposure);
    });
  });

  it("of a file that cannot be read is an error before anything is opened", async () => {
    await writeFile(join(folder, "empty"), "");
    for (const [name, says] of [
      ["none", /^The file of the secret cannot be read: .*none \(ENOENT/],
      ["", /^The file of the secret cannot be read: .* \(EISDIR/],
      ["empty", /^The first line of the secret's file is empty: .*empty$/],
    ] as const) {
      const opening = openConnection(neverOpened, { secret: { file: join(folder, name) } });
      expect((await rejection(opening, "SECRET_UNREADABLE")).message).to.match(says);
    }
  });

  it("of the user's own file counts also when it is empty, but not when it cannot be read", async () => {
    const home = process.env["HOME"];
    const other = await mkdtemp(join(tmpdir(), "secret-"));
    process.env["HOME"] = other;
    try {
      await mkdir(join(other, ".slime-secret"));
      await rejection(openConnection(neverOpened), "SECRET_UNREADABLE");
      await rmdir(join(other, ".slime-secret"));
      await writeFile(join(other, ".slime-secret"), "");
      await openFake(
        async (peer) => {
          expect(await peer.next()).to.equal("");
          await tellImage()(peer);
        },
        { secret: undefined },
      );
    } finally {
      process.env["HOME"] = home;
      await rm(other, { recursive: true });
    }
  });

  it("was wrong when the server stays silent after it, and has to be started anew", async () => {
    const error = await rejection(
      openFake(() => {}, { secret: "x", timeout: 150 }),
      "SECRET_REJECTED",
    );
    const port = /:(\d+) /.exec(error.message)?.[1];
    expect(error.remedy).to.equal(
      `Give the first line of ~/.slime-secret of the user who runs the server, or no secret when there is no such file. A Swank that was given a wrong secret, or none, answers nobody any more until it is started anew: (swank:restart-server :port ${port} :dont-close t).`,
    );
  });

  it("was not wanted when the server closes after it", async () => {
    const play = (peer: FakePeer) => peer.next().then(() => peer.end());
    const error = await rejection(openFake(play, { secret: "x" }), "SECRET_REJECTED");
    expect(error.remedy).to.match(/^Send none if the user who runs the server has no ~\/\.slime-secret/);
  });

  it("has nothing to do with a server that speaks something else", async () => {
    const play = (peer: FakePeer) => peer.sendBytes(Buffer.from("HTTP/1.1 400 Bad Request\r\n"));
    await rejection(openFake(play, { secret: "x" }), "NOT_SWANK");
  });
});
