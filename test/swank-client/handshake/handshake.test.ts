import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { isList, print, read } from "sexp-parser";
import { connect, type types } from "swank-client";
import { openConnection, type TransportOpener, tcpOpener } from "swank-client/protocol";
import { rejection } from "../../support/caught.js";
import { type FakePeer, FakeSwank } from "../../support/fake-swank.js";
import { liveImage } from "../live/live-image.js";
import { imageInfo, openFake, tellImage } from "./fake-image.js";

describe("openConnection", () => {
  it("accepts events before the reply, and missing or new fields", async () => {
    const { info } = await openFake(async (peer) => {
      peer.send('(:indentation-update (("x" 1 ("CL"))))', "(:new-features (:a))", "(:ping 1 2)");
      await peer.next("(:emacs-pong 1 2)");
      await tellImage({ pid: "nil", machine: "nil", modules: "nil", version: "nil", brandnew: "(1 2)" })(peer);
    });
    expect(info).to.include({ pid: undefined, version: undefined });
    expect(info.modules).to.deep.equal([]);
  });

  const VERSIONS: readonly (readonly [version: string, ok: boolean])[] = [
    ['"2.24"', true],
    ['"2.27"', true],
    ['"2.32.git"', true],
    ['"3.0"', true],
    ['"odd"', true],
    ['"2.23"', false],
    ['"2.9"', false],
    ['"0.99"', false],
    ['"2014-10-10"', false],
  ];
  for (const [version, ok] of VERSIONS)
    it(`${ok ? "accepts" : "refuses"} Swank ${version}`, async () => {
      const opening = openFake(tellImage({ version }));
      if (ok) expect(JSON.stringify((await opening).info.version)).to.equal(version);
      else expect((await rejection(opening, "SWANK_TOO_OLD")).message).to.include(JSON.parse(version));
    });

  for (const style of ["nil", ":fd-handler", ":sigio"])
    it(`refuses a server of style ${style}`, async () => {
      const error = await rejection(openFake(tellImage({ style })), "NO_THREADS");
      expect(error.message).to.include(`(style ${style.replace(":", "")})`);
      expect(error.remedy).to.equal("This SBCL was built without threads: use one that has :sb-thread in *features*.");
    });

  it("accepts Lisps other than SBCL, of any style, and says of one without threads what that means", async () => {
    const lisp = (type: string) => `(:type "${type}" :name "x" :version "2.49 (2018)" :program nil)`;
    const threaded = await openFake(tellImage({ "lisp-implementation": lisp("ECL") }));
    expect(threaded.notes).to.deep.equal([]);
    const serial = await openFake(tellImage({ "lisp-implementation": lisp("CLISP"), style: "nil" }));
    expect(serial.notes).to.have.length(1);
    expect(serial.notes[0]).to.match(/^CLISP 2\.49 has no threads: it serves one request at a time,/);
  });

  const ANCIENT: readonly (readonly [year: string, info: string])[] = [
    ["2005", '(4711 "SBCL" "sbcl" (:sbcl))'],
    ["early 2006", imageInfo().replace(/ :version "2.27"/, "")],
  ];
  for (const [year, info] of ANCIENT)
    it(`refuses a Swank of ${year}, which sends no version`, async () => {
      const play = async (peer: FakePeer) => peer.returnOk((await peer.nextRequest()).id, info);
      const error = await rejection(openFake(play), "SWANK_TOO_OLD");
      expect(error.message).to.include("does not answer as Swank 2.24 and newer do");
    });

  // what SLY 1.0.43 answers to Swank's question
  const ecl = '(:type "ECL" :name "ECL" :version "21.2.1" :program nil)';
  const slynk = { features: "(:slynk)", modules: '("SLYNK/COMPLETION")', version: '"1.0.43"' };

  const SLYNKS: readonly (readonly [title: string, info: Record<string, string>, remedy: RegExp])[] = [
    ["Slynk", {}, /^Load Swank .* beside Slynk, \(ql:quickload :swank\), start it/],
    ["Slynk beside Swank", { features: "(:swank :slynk)" }, /^Load Swank .* beside Slynk/],
    [
      "Slynk under Swank's name",
      { modules: '("SLYNK/RETRO" "SLYNK/COMPLETION")' },
      /^Take sly-retro out of SLY's sly-contribs and restart the Lisp\. Load Swank/,
    ],
  ];
  for (const [title, info, remedy] of SLYNKS)
    it(`refuses ${title} in a Lisp other than SBCL, and says how to start Swank there`, async () => {
      const play = tellImage({ ...slynk, ...info, "lisp-implementation": ecl });
      const error = await rejection(openFake(play), "SLYNK");
      expect(error.message).to.match(/^127\.0\.0\.1:\d+ is SLY's Slynk in ECL; Slynk is supported only in SBCL\.$/);
      expect(error.remedy)
        .to.match(remedy)
        .and.to.include(`(swank:create-server :port ${error.details.port} :dont-close t)`);
      expect(error.message).to.not.include(`:${error.details.port} `);
    });

  it("accepts a Slynk in SBCL", async () => expect((await openFake(tellImage(slynk))).info.version).to.equal("1.0.43"));

  it("asks a Slynk by its own names if it does not translate Swank's", async () => {
    const play = async (peer: FakePeer) => {
      const { text } = await peer.nextRequest();
      peer.send(`(:reader-error ${JSON.stringify(text)} "Package SWANK does not exist.")`);
      const { id, text: second } = await peer.nextRequest();
      expect(second.toLowerCase()).to.include("(slynk:connection-info)");
      peer.returnOk(id, imageInfo(slynk));
    };
    expect((await openFake(play)).info.features).to.deep.equal(["SLYNK"]);
  });

  it("accepts a Swank next to a Slynk", async () =>
    expect((await openFake(tellImage({ features: "(:swank :slynk :sbcl)" }))).info.features).to.include("SLYNK"));

  const bytes = (sent: Uint8Array | string) => (peer: FakePeer) => peer.sendBytes(Buffer.from(sent));
  const STRANGERS: readonly (readonly [title: string, says: RegExp, play: (peer: FakePeer) => unknown])[] = [
    ["a server that stays silent", /does not answer\.$/, () => {}],
    ["a server that closes", /closed the connection without an answer\.$/, (peer) => peer.end()],
    ["an SSH server", /It looks like an SSH server\.$/, bytes("SSH-2.0-x\r\n")],
    ["random bytes", /six hexadecimal digits/, bytes(Uint8Array.of(0x9f, 3, 0, 255, 17, 4, 4))],
    ["half a message, then silence", /does not answer\.$/, bytes("0000ff(:ret")],
    ["framed text that is no Lisp", /not a Swank message/, (peer) => peer.send('{"jsonrpc":"2.0"}')],
    [
      "a Lisp that has no package SWANK",
      /a Lisp without Swank and without SLY's Slynk\.$/,
      async (peer) => {
        const { text } = await peer.nextRequest();
        peer.send(`(:reader-error ${JSON.stringify(text)} "Package SWANK does not exist.")`);
      },
    ],
  ];
  for (const [title, says, play] of STRANGERS)
    it(`refuses ${title}`, async () => {
      const error = await rejection(openFake(play, { timeout: 150 }), "NOT_SWANK");
      expect(error.message).to.match(/^127\.0\.0\.1:\d+ /);
      expect(error.message).to.match(says);
      expect(error.remedy).to.match(/[Ss]wank/);
    });

  it("refuses a web server", async () => {
    const server = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The server has no port.");
    const error = await rejection(openConnection(tcpOpener({ port: address.port }), { secret: false }), "NOT_SWANK");
    expect(error.message).to.include("It looks like an HTTP server.");
    await new Promise((resolve) => server.close(resolve));
  });

  const SIGNS_OF_LIFE: readonly (readonly [play: (peer: FakePeer) => unknown, code: types.SwankErrorCode])[] = [
    [(peer) => peer.send("(:new-features (:a))"), "REQUEST_TIMEOUT"],
    [
      (peer) => {
        peer.send("(:new-features (:a))");
        peer.end();
      },
      "CONNECTION_LOST",
    ],
    [async (peer) => peer.returnAbort((await peer.nextRequest()).id, "boom"), "REQUEST_ABORTED"],
  ];
  for (const [play, code] of SIGNS_OF_LIFE)
    it(`identifies a Swank even if it fails: ${code}`, () => rejection(openFake(play, { timeout: 150 }), code));

  it("times out if the image answers only the first request", async () => {
    const server = await FakeSwank.listen();
    const connecting = connect({ port: server.port, secret: false, timeout: 150 });
    await tellImage()(await server.accept());
    const error = await rejection(connecting, "UNRESPONSIVE");
    expect(error.message).to.match(/^127\.0\.0\.1:\d+ accepted this client, and then stopped answering\.$/);
    await server.close();
  });

  describe("to a server that resets the connection before it answers", () => {
    let server: FakeSwank;
    beforeEach(async () => {
      server = await FakeSwank.listen();
    });
    afterEach(() => server.close());

    async function resetOne(): Promise<void> {
      const peer = await server.accept();
      await peer.next();
      peer.reset();
    }

    it("tries again", async () => {
      const opening = openConnection(tcpOpener({ port: server.port }), { secret: false });
      for (let times = 0; times < 3; times += 1) await resetOne();
      await tellImage()(await server.accept());
      const { connection } = await opening;
      await connection.close();
    });

    it("gives up at the fifth time, and says what the reason may be", async () => {
      const opening = rejection(openConnection(tcpOpener({ port: server.port }), { secret: false }), "NOT_SWANK");
      for (let times = 0; times < 5; times += 1) await resetOne();
      const error = await opening;
      expect(error.message).to.match(/ reset the connection without an answer\.$/);
      expect(error.remedy).to.match(/^If many clients connect at once, or the image is busy, try again\. Check that /);
    });

    it("sends a secret only once, because a wrong one stops Swank from accepting clients", async () => {
      const opening = rejection(openConnection(tcpOpener({ port: server.port }), { secret: "x" }), "SECRET_REJECTED");
      await resetOne();
      const error = await opening;
      expect(error.message).to.match(/ reset the connection after it received the secret\.$/);
      expect(error.remedy).to.match(/^Send none if .+ try again\.$/);
    });

    it("can be cancelled between two attempts", async () => {
      const controller = new AbortController();
      const options = { secret: false, signal: controller.signal } as const;
      const opening = rejection(openConnection(tcpOpener({ port: server.port }), options), "CANCELLED");
      for (let times = 0; times < 4; times += 1) await resetOne();
      await pause(20);
      controller.abort();
      // The last pause takes at least 400 ms.
      expect(await Promise.race([opening, pause(350)])).to.be.an("error");
    });

    it("ends with its timeout, and says what the last attempt met", async () => {
      const options = { secret: false, timeout: 400 } as const;
      const opening = rejection(openConnection(tcpOpener({ port: server.port }), options), "NOT_SWANK");
      await resetOne();
      await server.accept();
      expect((await opening).message).to.match(/ does not answer\.$/);
    });

    it("makes no signal that could end the connection later", async () => {
      const signals: AbortSignal[] = [];
      const open = tcpOpener({ port: server.port });
      const opener: TransportOpener = (signal) => {
        if (signal !== undefined) signals.push(signal);
        return open(signal);
      };
      const opening = openConnection(opener, { secret: false, timeout: 300 });
      await resetOne();
      await tellImage()(await server.accept());
      const { connection } = await opening;
      await pause(500);
      expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false]);
      await connection.close();
    });
  });

  it("is cancelled by its signal", async () => {
    const controller = new AbortController();
    const opening = openFake(
      async (peer) => {
        await peer.next();
        controller.abort();
      },
      { signal: controller.signal },
    );
    await rejection(opening, "CANCELLED");
  });
});

const PLAIN = "(swank:connection-info)";
const KAWA = imageInfo({
  "lisp-implementation": '(:type "Kawa" :name "kawa" :version "2.0" :program nil)',
  version: '"2.20"',
});

describe("connect to a server that does not understand the first request", () => {
  for (const refusal of ["reader-error", "abort"])
    it(`asks again with nothing but connection-info after ${refusal}`, async () => {
      const server = await FakeSwank.listen();
      const refused = rejection(connect({ port: server.port, secret: false }), "SWANK_TOO_OLD");
      const peer = await server.accept();
      const { id, text, form } = await peer.nextRequest();
      expect(form).to.not.equal(PLAIN);
      if (refusal === "abort") peer.returnAbort(id, "unbound cl:progn");
      else peer.send(`(:reader-error ${print(text)} "no package CL")`);
      const second = await peer.nextRequest(PLAIN);
      peer.returnOk(second.id, KAWA);
      expect((await refused).message).to.include("2.20");
      await server.close();
    });
});

describe("the first request of connect", () => {
  const image = liveImage();

  /** The part of the request that switches the indentation rules off. */
  async function preparation(): Promise<string> {
    const server = await FakeSwank.listen();
    const refused = rejection(connect({ port: server.port, secret: false }), "SWANK_TOO_OLD");
    const peer = await server.accept();
    const { id, form } = await peer.nextRequest();
    peer.returnOk(id, KAWA);
    await refused;
    await server.close();
    const datum = read(form);
    if (!isList(datum) || datum[1] === undefined) throw new Error(`An unexpected request: ${form}`);
    return print(datum[1]);
  }

  it("signals no error in a thread that serves no connection of Swank, such as one of Slynk", async () => {
    const form = await preparation();
    expect(await image.ask(`(cl:let ((swank::*emacs-connection* cl:nil)) ${form})`)).to.equal("NIL");
    expect(await image.ask(`(cl:consp ${form})`)).to.equal("T");
  });
});
