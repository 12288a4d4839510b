import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { connect } from "swank-client";
import { openConnection, tcpOpener } from "swank-client/protocol";
import { rejection } from "../../support/caught.js";
import { frame } from "../../support/fake-swank.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";
import { values } from "./outcomes.js";

/** Requests whose replies Swank writes one after another. */
const REQUESTS = [1, 2, 3, 4].map((id) => `(:emacs-rex (swank:connection-info) "COMMON-LISP-USER" t ${id})`);

/** Starts a thread that holds a lock that Swank needs for each message, until it is ended. */
const HOLD = "(sb-thread:make-thread (lambda () (sb-thread:with-mutex (swank/sbcl::*mailbox-lock*) (sleep 600))))";

const RELEASE = "(sb-thread:terminate-thread (sb-thread:mutex-owner swank/sbcl::*mailbox-lock*))";

describe("An image that did not answer while clients tried to connect", function () {
  this.timeout(120_000);
  let image: RealSwank;
  beforeEach(async () => {
    image = await startRealSwank();
  });
  afterEach(() => image.stop());

  it("accepts clients after others have given up", async () => {
    image.type(HOLD);
    await pause(300);
    const opening = [1, 2, 3, 4, 5].map(() =>
      openConnection(tcpOpener({ port: image.port }), { secret: false, timeout: 300 }),
    );
    await Promise.all(opening.map((each) => rejection(each, "NOT_SWANK")));
    image.type(RELEASE);
    await pause(300);
    const client = await connect({ port: image.port, secret: false, timeout: 5000 });
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
    await client.close();
  });

  it("accepts clients while one is connected, although another process has ended before its requests were answered", async () => {
    const first = await connect({ port: image.port, secret: false });
    expect(await values(first, "(+ 1 2)")).to.deep.equal(["3"]);
    image.process.kill("SIGSTOP");
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const socket = connectSocket(image.port, "127.0.0.1");
      await once(socket, "connect");
      for (const request of REQUESTS) socket.write(frame(request));
      await pause(50);
      socket.destroy();
    }
    image.process.kill("SIGCONT");
    await pause(300);
    const client = await connect({ port: image.port, secret: false, timeout: 5000 });
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
    expect(first.stops).to.deep.equal([]);
    await client.close();
    await first.close();
  });
});
