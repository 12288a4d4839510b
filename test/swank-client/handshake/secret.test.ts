import { Buffer } from "node:buffer";
import { mkdir, mkdtemp, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { openConnection } from "swank-client";
import { rejection } from "../../support/caught.js";
import type { FakePeer } from "../../support/fake-swank.js";
import { openFake, tellImage } from "./fake-image.js";

const neverOpened = () => Promise.reject(new Error("opened"));

describe("the secret", () => {
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

  it("is not sent when there is to be none", async () => {
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
