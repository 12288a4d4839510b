import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { decode, read } from "sexp-parser";
import { connect as connectTo, type SwankClient, SwankError } from "swank-client";
import { encodeFrame } from "swank-client/protocol";
import { rejection } from "../../support/caught.js";
import { liveImage } from "./live-image.js";
import { values } from "./outcomes.js";

/** The names of our modules that an image has loaded. */
const LOADED = `(cl:loop :for package :in (cl:list-all-packages)
  :for name := (cl:package-name package)
  :for end := (cl:and (cl:eql 0 (cl:search "SWANK-CLIENT/" name)) (cl:position #\\/ name :start 13))
  :when (cl:and end (cl:get (cl:intern name "KEYWORD") :ready)) :collect (cl:string-downcase (cl:subseq name 13 end)))`;

/** A thread takes the compiler's lock, until a variable is true. What is evaluated meanwhile must not be compiled. */
const HOLD = `(cl:progn (cl:defvar cl-user::*free* cl:nil)
  (cl:defun cl-user::loaded () ${LOADED})
  (sb-thread:make-thread (cl:lambda () (sb-c::with-world-lock () (cl:loop :until cl-user::*free* :do (cl:sleep 1/100)))))
  (cl:sleep 1/5))`;

/** Waits until a time of `performance.now()`, more exactly than a timer. */
async function turnsUntil(time: number): Promise<void> {
  while (performance.now() < time) await nextTurn();
}

describe("A client that connects", function () {
  this.timeout(120_000);
  const image = liveImage();
  const ask = (client: SwankClient, form: string) => client.request(read(form), { label: form.slice(0, 40) });
  const loaded = async (client: SwankClient) => decode.list(decode.string)(await ask(client, LOADED));

  it("loads what guards its connection, and the rest when it evaluates", async () => {
    const client = await image.connect();
    expect(await loaded(client)).to.deep.equal(["connection"]);
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
    expect(await loaded(client)).to.have.members(["connection", "evaluate"]);
  });

  it("does not wait for a thread that has the compiler's lock", async () => {
    const plain = await image.connect({ runtime: false });
    await ask(plain, HOLD);
    const client = await image.connect();
    expect(await ask(client, "(cl-user::loaded)")).to.include("connection");
    await ask(plain, "(cl:setf cl-user::*free* cl:t)");
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("makes no folder for a server that is not there", async () => {
    const folder = await mkdtemp(join(tmpdir(), "swank-client-cache-"));
    await rejection(connectTo({ port: 1, cacheDir: join(folder, "none") }), "CONNECTION_REFUSED");
    expect(await readdir(folder)).to.deep.equal([]);
    await rm(folder, { recursive: true });
  });

  it("leaves the image to others when it is cancelled again and again", async () => {
    for (let milliseconds = 1; milliseconds <= 40; milliseconds += 1) {
      const signal = AbortSignal.timeout(Math.ceil(milliseconds / 2));
      const cancelled = await image.connect({ signal }).catch((error: unknown) => error);
      if (cancelled instanceof SwankError) expect(cancelled.code).to.equal("CANCELLED");
      expect(await values(await image.connect({ timeout: 5000 }), "(+ 1 2)")).to.deep.equal(["3"]);
      await image.closeClients();
    }
  });

  it("leaves no thread behind, at whatever moment of the handshake it is cancelled", async () => {
    for (let round = 0; round < 100; round += 1) {
      const cancel = new AbortController();
      const connecting = image.connect({ signal: cancel.signal }).catch((error: unknown) => error);
      await turnsUntil(performance.now() + (round % 25) / 4);
      cancel.abort();
      await connecting;
    }
    await image.closeClients();
    await image.untilTidy();
  });

  it("removes what a client has left that vanished during its handshake", async () => {
    const request = encodeFrame("(:emacs-rex (swank:connection-info) nil t 1)");
    for (let round = 0; round < 100; round += 1) {
      const socket = connectSocket(image.swank.port, "127.0.0.1").resume();
      await once(socket, "connect");
      socket.write(request);
      await turnsUntil(performance.now() + (round % 25) / 10);
      socket.end();
      await once(socket, "close");
    }
    await (await image.connect()).close();
    await image.untilTidy();
  });
});
