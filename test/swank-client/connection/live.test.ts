import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { read, type Sexp } from "sexp-parser";
import { type Connection, type OpenOptions, openConnection, runnerOf, tcpOpener } from "swank-client/protocol";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

describe("Connection to a real Swank:", () => {
  let swank: RealSwank;
  let connection: Connection;

  const open = (options?: OpenOptions) => openConnection(tcpOpener({ port: swank.port }), options);

  before(async () => {
    swank = await startRealSwank();
  });
  after(() => swank.stop());
  beforeEach(async () => ({ connection } = await open()));
  afterEach(() => connection.close());

  const request = (form: string) => connection.request(read(form), { label: form, package: "COMMON-LISP-USER" });

  async function resultOf(form: string): Promise<Sexp> {
    const reply = await request(form);
    if (reply.status === "abort") throw new Error(`${form} was aborted: ${reply.condition}`);
    return reply.value;
  }

  const threadNames = async () => (await runnerOf(connection).run(calls.image.listThreads)).map(({ name }) => name);

  it("reports the image's properties", async () => {
    const info = await runnerOf(connection).run(calls.image.connectionInfo);
    expect(info).to.include({ pid: swank.process.pid, style: "spawn" });
    expect(info.implementation.type).to.equal("SBCL");
    expect(info.features).to.include.members(["SBCL", "SWANK"]);
    expect(info.version).to.match(/^\d+\.\d+/);
    expect(info.package).to.deep.equal({ name: "COMMON-LISP-USER", prompt: "CL-USER" });
    expect(info.machine.instance).to.be.a("string");
    expect(info.modules).to.be.an("array");
  });

  it("answers pings, so that Lisp can send much output", async () => {
    let pings = 0;
    connection.on("event", ({ type }) => {
      if (type === "ping") pings += 1;
    });
    await resultOf("(swank:flow-control-test 400 0)");
    expect(pings).to.be.greaterThan(5);
    // the last ping may come after the reply, and a worker that is never answered never ends
    while ((await threadNames()).includes("worker"));
  });

  it("answers every thread that asks for input", async () => {
    await resultOf("(swank:swank-require 'cl-user::swank-repl)");
    await resultOf("(swank-repl:create-repl cl:nil)");
    expect(await resultOf("(cl:read-line cl:*standard-input* cl:nil :end)")).to.deep.equal(read(":end"));
    expect(await resultOf('(swank::y-or-n-p-in-emacs "Really?")')).to.deep.equal(read("nil"));
    expect(await resultOf('(swank::read-from-minibuffer-in-emacs "Name: " "x")')).to.deep.equal(read("nil"));
    expect(await resultOf("(cl:not (swank:inspect-in-emacs 42 :wait cl:t))")).to.deep.equal(read("nil"));
    const refused = (form: string) => resultOf(`(cl:handler-case ${form} (cl:error (c) (cl:princ-to-string c)))`);
    expect(await refused("(swank::eval-in-emacs '(cl-user::point))")).to.match(/^not-supported: /);
    expect(await refused("(swank::ed-rpc 'cl-user::find-file)")).to.equal("ED-RPC forbidden for find-file");
  });

  it("fails only the request that Lisp cannot read", async () => {
    const good = resultOf("(cl:+ 1 2)");
    expect((await rejection(request("(no-such-package:foo)"), "REQUEST_UNREADABLE")).message).to.include(
      "NO-SUCH-PACKAGE",
    );
    await rejection(request("(swank:no-such-export 1 2 3)"), "REQUEST_UNREADABLE");
    expect(await good).to.equal(3);
  });

  it("fails a request to a thread that never existed", async () => {
    const reply = connection.request(read("(cl:+ 1 2)"), { label: "x", thread: 999_999_999 });
    expect((await rejection(reply, "NO_SUCH_THREAD")).message).to.include("Thread not found");
  });

  it("is lost with a reason if a reply does not fit into a frame", async () => {
    expect(await resultOf("(cl:length (cl:make-string 17000000))")).to.equal(17_000_000);
    await rejection(request("(cl:make-string 17000000 :initial-element #\\a)"), "CONNECTION_LOST");
    expect((await connection.closed).details.lastSent?.at(-1)).to.include("17000000");
  });

  it("sends heartbeats that run no code in the image", async () => {
    const { connection: watched } = await open({ heartbeat: { interval: 5, patience: 2000 } });
    const workers = async () => (await threadNames()).filter((name) => name === "worker");
    // That of the handshake ends a little after its reply.
    while ((await workers()).length > 0);
    await new Promise<void>((resolve) => {
      let signs = 0;
      watched.on("event", ({ type }) => {
        if (type === "invalid-rpc") signs += 1;
        if (signs === 5) resolve();
      });
    });
    expect(await workers()).to.deep.equal([]);
    await watched.close();
  });
});

describe("openConnection to a real Swank with a secret", () => {
  let home: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), "secret-"));
    await writeFile(join(home, ".slime-secret"), "open sesame\n");
  });
  after(() => rm(home, { recursive: true }));

  it("succeeds only with the secret", async () => {
    const swank = await startRealSwank(home);
    try {
      const opener = tcpOpener({ port: swank.port });
      const { connection } = await openConnection(opener, { secret: "open sesame" });
      // As at a prompt. The tests' core has its debugger disabled, so the error from a wrong secret would end the image.
      await runnerOf(connection).run(calls.evaluation.evalAndGrabOutput, "(sb-ext:enable-debugger)");
      await connection.close();
      const opening = openConnection(opener, { secret: "sesame", timeout: 1000 });
      const { remedy } = await rejection(opening, "SECRET_REJECTED");
      // From then on Swank rejects the right secret, too, until the form in the remedy is evaluated.
      await rejection(openConnection(opener, { secret: "open sesame", timeout: 1000 }), "SECRET_REJECTED");
      swank.type(/\(swank:[^)]*\)/.exec(remedy)?.[0] ?? "the remedy has no form");
      const again = () => openConnection(opener, { secret: "open sesame", timeout: 1000 });
      let opened = await again().catch(() => undefined);
      while (opened === undefined) opened = await again().catch(() => undefined);
      await opened.connection.close();
    } finally {
      await swank.stop();
    }
  });

  it("fails without the secret, and the error suggests that one may be needed", async () => {
    const swank = await startRealSwank(home);
    try {
      const opening = openConnection(tcpOpener({ port: swank.port }), { secret: false, timeout: 1000 });
      const { remedy, details } = await rejection(opening, "NOT_SWANK");
      expect(remedy).to.include("~/.slime-secret");
      expect(details.secretMissing).to.equal(true);
    } finally {
      await swank.stop();
    }
  });
});

describe("openConnection to a real Swank without a secret", () => {
  it("fails if it sends a secret, and the error says so", async () => {
    const swank = await startRealSwank();
    try {
      const opening = openConnection(tcpOpener({ port: swank.port }), { secret: "open sesame" });
      expect((await rejection(opening, "SECRET_REJECTED")).remedy).to.include("Send none");
    } finally {
      await swank.stop();
    }
  });
});
