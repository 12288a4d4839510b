import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { ReconnectingClient, type SwankClient, type types } from "swank-client";
import { rejection } from "../../support/caught.js";
import { type FakePeer, FakeSwank } from "../../support/fake-swank.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";
import { forUsualServer, SECRET_FILE } from "../../support/usual-server.js";
import { imageInfo } from "../handshake/fake-image.js";

/** Ends the connection from Lisp's side, as a restarted image or a broken network would. */
const HANG_UP = forUsualServer("(swank::close-connection swank::*emacs-connection* nil nil)");

function next<Name extends keyof types.ReconnectEvents & string>(
  client: ReconnectingClient,
  event: Name,
): Promise<types.ReconnectEvents[Name]> {
  return new Promise((resolve) => client.once(event, resolve));
}

/** Answers what a client asks while it connects, until the connection is over. */
async function answerHandshake(peer: FakePeer): Promise<void> {
  for (;;) {
    const request = await peer.nextRequest().catch(() => undefined);
    if (request === undefined) return;
    const isLookingForModule = request.form.includes("cl:get");
    peer.returnOk(
      request.id,
      request.form.includes("connection-info") ? imageInfo() : isLookingForModule ? "(:ok t)" : "nil",
    );
  }
}

async function value(client: SwankClient, code: string): Promise<unknown> {
  const outcome = await client.evaluate(code).next();
  return outcome.status === "returned" ? outcome.values : outcome.status;
}

describe("ReconnectingClient", () => {
  let swank: RealSwank;

  before(async () => {
    swank = await startRealSwank();
  });
  after(() => swank.stop());

  it("makes a new client when the connection is lost, and sends nothing twice", async () => {
    const reconnecting = new ReconnectingClient({ port: swank.port, backoff: { first: 1 } });
    const first = await reconnecting.client();
    await value(first, "(defvar cl-user::*runs* 0)");
    const connected = new Promise<SwankClient>((resolve) => {
      reconnecting.on("connected", (client) => {
        if (client !== first) resolve(client);
      });
    });
    const pending = first.evaluate(`(incf cl-user::*runs*) ${HANG_UP} (sleep 60)`);
    expect((await pending.next()).status).to.equal("lost");
    const second = await connected;
    expect(await value(second, "cl-user::*runs*")).to.deep.equal(["1"]);
    expect(await reconnecting.client()).to.equal(second);
    await reconnecting.close();
    expect(second.isOpen).to.equal(false);
  });

  it("reports a lost connection with its reason", async () => {
    const reconnecting = new ReconnectingClient({ port: swank.port });
    const disconnected = next(reconnecting, "disconnected");
    void (await reconnecting.client()).evaluate(HANG_UP).next();
    expect((await disconnected).code).to.equal("CONNECTION_LOST");
    await reconnecting.close();
  });

  it("waits longer after each failure, and gives up after the given attempts", async () => {
    const reconnecting = new ReconnectingClient({ port: 1, backoff: { first: 1, factor: 3, longest: 5, attempts: 4 } });
    const delays: number[] = [];
    reconnecting.on("failed", ({ delay }) => delays.push(delay));
    expect((await next(reconnecting, "closed")).code).to.equal("CONNECTION_REFUSED");
    expect(delays).to.deep.equal([1, 3, 5]);
  });

  it("refuses wrong options at once", () => {
    for (const options of [{ port: 70_000 }, { port: 1, foreignErrors: JSON.parse('"nobody"') }])
      expect(() => new ReconnectingClient(options))
        .to.throw()
        .with.property("code", "INVALID_ARGUMENT");
  });

  const PERMANENT: readonly [code: types.SwankErrorCode, options: types.ReconnectOptions][] = [
    ["SECRET_UNREADABLE", { port: 1, secret: { file: "/no/such/file" } }],
    ["CANCELLED", { port: 1, signal: AbortSignal.abort() }],
  ];
  for (const [code, options] of PERMANENT)
    it(`ends with the first ${code}, which retrying cannot fix`, async () => {
      const reconnecting = new ReconnectingClient({ ...options, backoff: { first: 1 } });
      let failures = 0;
      reconnecting.on("failed", () => {
        failures += 1;
      });
      expect((await next(reconnecting, "closed")).code).to.equal(code);
      expect(failures).to.equal(0);
      await rejection(reconnecting.client(), code);
      await reconnecting.close();
    });

  it("sends a rejected secret only once, because each stops Swank from accepting clients", async () => {
    const home = await mkdtemp(join(tmpdir(), "secret-"));
    await writeFile(join(home, SECRET_FILE), "the right one\n", { mode: 0o600 });
    const guarded = await startRealSwank(home);
    try {
      const reconnecting = new ReconnectingClient({
        port: guarded.port,
        secret: "a wrong one",
        timeout: 1000,
        backoff: { first: 1 },
      });
      expect((await next(reconnecting, "closed")).code).to.equal("SECRET_REJECTED");
      await reconnecting.close();
    } finally {
      await guarded.stop();
      await rm(home, { recursive: true });
    }
  });

  it("keeps trying while nothing listens at the other end of a tunnel", async () => {
    const tunnel = await FakeSwank.listen();
    const reconnecting = new ReconnectingClient({ port: tunnel.port, secret: false, backoff: { first: 1 } });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const failed = next(reconnecting, "failed");
      (await tunnel.accept()).end();
      expect(await failed).to.include({ attempt });
    }
    await reconnecting.close();
    await tunnel.close();
  });

  it("keeps trying when an application's transport fails with an unknown error", async () => {
    const transport = () => Promise.reject(new TypeError("the application's own"));
    const reconnecting = new ReconnectingClient({ transport, secret: false, backoff: { first: 1, attempts: 3 } });
    const { code, message } = await next(reconnecting, "closed");
    expect(code).to.equal("CONNECT_FAILED");
    expect(message).to.equal("The transport could not be opened: the application's own");
    await reconnecting.close();
  });

  it("waits before it connects again to a server that closes soon after the handshake, longer each time", async () => {
    const server = await FakeSwank.listen();
    const reconnecting = new ReconnectingClient({
      port: server.port,
      secret: false,
      backoff: { first: 1, factor: 1_000_000, longest: 600_000 },
    });
    for (let round = 1; round <= 2; round += 1) {
      const connected = next(reconnecting, "connected");
      const peer = await server.accept();
      const answering = answerHandshake(peer);
      await connected;
      const disconnected = next(reconnecting, "disconnected");
      peer.end();
      expect((await disconnected).code).to.equal("CONNECTION_LOST");
      await answering;
    }
    const third = server.accept().then(() => "connected");
    expect(await Promise.race([third, pause(200, "waiting")])).to.equal("waiting");
    const closed = next(reconnecting, "closed");
    await reconnecting.close();
    expect((await closed).code).to.equal("CONNECTION_CLOSED");
    await rejection(reconnecting.client(), "CONNECTION_CLOSED");
    await server.close();
  });

  it("connects again at once when the connection was stable", async () => {
    const server = await FakeSwank.listen();
    const backoff = { first: 600_000, longest: 0 };
    const reconnecting = new ReconnectingClient({ port: server.port, secret: false, backoff });
    for (let round = 1; round <= 3; round += 1) {
      const connected = next(reconnecting, "connected");
      const peer = await server.accept();
      const answering = answerHandshake(peer);
      await connected;
      peer.end();
      await answering;
    }
    await reconnecting.close();
    await server.close();
  });

  it("stops trying when it is closed", async () => {
    const reconnecting = new ReconnectingClient({ port: 1, backoff: { first: 600_000 } });
    const closed = next(reconnecting, "closed");
    await next(reconnecting, "failed");
    await reconnecting.close();
    expect((await closed).code).to.equal("CONNECTION_CLOSED");
  });
});
