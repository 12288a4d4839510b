import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { decode, print, read } from "sexp-parser";
import { type ConnectOptions, connect as connectTo, type SwankClient, SwankError } from "swank-client";
import { rejection } from "../../support/caught.js";
import { FakeSwank } from "../../support/fake-swank.js";
import { imageInfo } from "../handshake/fake-image.js";
import { LiveImage } from "./live-image.js";
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

const OTHER_SWANK = `(cl:progn (cl:defmacro swank::with-connection ((connection) cl:&body body)
  (cl:list 'swank::call-with-connection connection (cl:list* 'cl:lambda '() cl:nil body))) cl:nil)`;

describe("A client that connects", function () {
  this.timeout(120_000);
  let filled: string;
  let cacheDir: string;
  let image: LiveImage;

  const connect = (options: Omit<ConnectOptions, "port"> = {}) => image.connect({ cacheDir, ...options });
  const ask = (client: SwankClient, form: string) => client.call(read(form), { label: form.slice(0, 40) });
  const loaded = async (client: SwankClient) =>
    decode
      .list(decode.string)(await ask(client, LOADED))
      .toSorted();

  async function untilLoaded(client: SwankClient): Promise<void> {
    while (!(await loaded(client)).includes("evaluate")) await pause(5);
  }

  before(async () => {
    cacheDir = filled = await mkdtemp(join(tmpdir(), "swank-client-cache-"));
    image = new LiveImage();
    await image.start();
    await (await connect()).prepare();
    await image.stop();
  });
  beforeEach(async () => {
    cacheDir = await mkdtemp(join(tmpdir(), "swank-client-cache-"));
    await cp(filled, cacheDir, { recursive: true });
    image = new LiveImage();
    await image.start();
  });
  afterEach(async () => {
    await image.stop();
    await rm(cacheDir, { recursive: true });
  });
  after(() => rm(filled, { recursive: true }));

  it("loads what evaluations need at once, if it was compiled before, and evaluates", async () => {
    const client = await connect();
    await untilLoaded(client);
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
    expect(await values(await connect(), "(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("loads only what guards its connection if it may load nothing else", async () => {
    expect(await loaded(await connect({ runtime: false }))).to.deep.equal(["connection"]);
  });

  it("loads no module of another Swank, and compiles them when they are needed", async () => {
    const plain = await image.connect({ runtime: false });
    await ask(plain, OTHER_SWANK);
    const keys = async () => (await readdir(join(cacheDir, "runtime"))).length;
    const before = await keys();
    const client = await connect();
    expect(await loaded(client)).to.deep.equal(["connection"]);
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
    expect(await keys()).to.equal(before);
  });

  it("does not wait for what evaluations need while a thread has the compiler's lock", async () => {
    const plain = await connect({ runtime: false });
    await ask(plain, HOLD);
    const client = await connect();
    expect(await ask(client, "(cl-user::loaded)")).to.deep.equal(["connection"]);
    await ask(plain, "(cl:setf cl-user::*free* cl:t)");
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("asks a server that it does not know for nothing that could stop there", async () => {
    const server = await FakeSwank.listen();
    const refused = rejection(connectTo({ port: server.port, cacheDir, secret: false }), "UNSUPPORTED_LISP");
    const peer = await server.accept();
    const first = await peer.nextRequest();
    const early = [await peer.nextRequest(), await peer.nextRequest()];
    for (const { text } of early) peer.send(`(:reader-error ${print(text)} "no package SB-EVAL")`);
    peer.returnOk(first.id, imageInfo({ "lisp-implementation": '(:type "Kawa" :name "kawa" :version "2.0")' }));
    expect((await refused).message).to.include("Kawa");
    await server.close();
    const client = await connect();
    for (const { form } of early) {
      // a thread of Slynk
      expect(await image.ask(`(cl:let ((swank::*emacs-connection* cl:nil)) ${form})`)).to.equal("NIL");
    }
    expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("notes as used only the files that an image has loaded, and makes no folder for a server that is not there", async () => {
    const folder = join(cacheDir, "runtime");
    const [key = ""] = await readdir(folder);
    const other = `${key.slice(0, 12)}${"f".repeat(12)}`;
    await mkdir(join(folder, other), { mode: 0o700 });
    const body = "# FASL\n  compiled from nothing\n";
    const header = `;swank-client 0123 ${createHash("sha256").update(body).digest("hex")}\n`;
    await writeFile(join(folder, other, "connection.fasl"), `${header}${body}`, { mode: 0o600 });
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(join(folder, key), longAgo, longAgo);
    expect(await values(await connect(), "(+ 1 2)")).to.deep.equal(["3"]);
    const times = await Promise.all([key, other].map(async (name) => (await stat(join(folder, name))).mtimeMs));
    expect(times[0]).to.be.greaterThan(times[1] ?? 0);
    const none = join(cacheDir, "none");
    await rejection(connectTo({ port: 1, cacheDir: none }), "CONNECTION_REFUSED");
    expect(await readdir(cacheDir)).not.to.include("none");
  });

  it("leaves the image to others when it is cancelled again and again", async () => {
    for (let milliseconds = 1; milliseconds <= 40; milliseconds += 1) {
      const signal = AbortSignal.timeout(Math.ceil(milliseconds / 2));
      const cancelled = await connect({ signal }).catch((error: unknown) => error);
      if (cancelled instanceof SwankError) expect(cancelled.code).to.equal("CANCELLED");
      expect(await values(await connect({ timeout: 5000 }), "(+ 1 2)")).to.deep.equal(["3"]);
      await image.closeClients();
    }
    await image.untilTidy();
  });

  it("receives the errors of background threads, if it wants them, in spite of that", async () => {
    await connect({ runtime: false });
    const client = await connect({ foreignErrors: "mine" });
    await untilLoaded(client);
    const stop = new Promise((resolve) => client.on("stop", resolve));
    await ask(client, '(cl:progn (sb-thread:make-thread (cl:lambda () (cl:error "in the background"))) cl:nil)');
    expect(await stop).to.have.nested.property("condition.message", "in the background");
    await client.stops[0]?.abort();
  });
});
