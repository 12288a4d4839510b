import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import {
  type ReconnectEvents,
  ReconnectingClient,
  type ReconnectOptions,
  type SwankClient,
  type SwankErrorCode,
} from "swank-client";
import { rejection } from "../../support/caught.js";
import { FakeSwank } from "../../support/fake-swank.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

/** Ends the connection from Lisp's side, as a restarted image or a broken network would. */
const HANG_UP = "(swank::close-connection swank::*emacs-connection* nil nil)";

function next<Name extends keyof ReconnectEvents & string>(
  client: ReconnectingClient,
  event: Name,
): Promise<ReconnectEvents[Name]> {
  return new Promise((resolve) => client.once(event, resolve));
}

async function value(client: SwankClient, code: string): Promise<unknown> {
  const outcome = await client.evaluate(code).next();
  return outcome.status === "returned" ? outcome.values : outcome.status;
}

describe("a client that reconnects", () => {
  let swank: RealSwank;

  before(async () => {
    swank = await startRealSwank();
  });
  after(() => swank.stop());

  it("gives a new client when the connection is lost, and sends nothing twice", async () => {
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

  it("tells of a lost connection with its reason", async () => {
    const reconnecting = new ReconnectingClient({ port: swank.port });
    const disconnected = next(reconnecting, "disconnected");
    void (await reconnecting.client()).evaluate(HANG_UP).next();
    expect((await disconnected).code).to.equal("CONNECTION_LOST");
    await reconnecting.close();
  });

  it("waits longer after each failure, and gives up after the attempts it was given", async () => {
    const reconnecting = new ReconnectingClient({ port: 1, backoff: { first: 1, factor: 3, longest: 5, attempts: 4 } });
    const delays: number[] = [];
    reconnecting.on("failed", ({ delay }) => delays.push(delay));
    const closed = await next(reconnecting, "closed");
    expect(closed.code).to.equal("CONNECTION_REFUSED");
    expect(delays).to.deep.equal([1, 3, 5]);
  });

  const PERMANENT: readonly [code: SwankErrorCode, options: ReconnectOptions][] = [
    ["INVALID_ARGUMENT", { port: 70_000 }],
    ["SECRET_UNREADABLE", { port: 1, secret: { file: "/no/such/file" } }],
    ["CANCELLED", { port: 1, signal: AbortSignal.abort() }],
    ["INVALID_ARGUMENT", { port: 1, foreignErrors: JSON.parse('"nobody"') }],
  ];
  for (const [code, options] of PERMANENT) {
    it(`ends with the first ${code}, which no other attempt mends`, async () => {
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
  }

  it("sends a rejected secret once only, since every one stops Swank from accepting clients", async () => {
    const home = await mkdtemp(join(tmpdir(), "secret-"));
    await writeFile(join(home, ".slime-secret"), "the right one\n", { mode: 0o600 });
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

  it("goes on trying while a tunnel has nothing at its other end", async () => {
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

  it("goes on trying when a transport of the application's fails in its own way", async () => {
    const transport = () => Promise.reject(new TypeError("the application's own"));
    const reconnecting = new ReconnectingClient({ transport, secret: false, backoff: { first: 1, attempts: 3 } });
    const { code, message } = await next(reconnecting, "closed");
    expect(code).to.equal("CONNECT_FAILED");
    expect(message).to.equal("The transport could not be opened: the application's own");
    await reconnecting.close();
  });

  it("stops trying when it is closed", async () => {
    const reconnecting = new ReconnectingClient({ port: 1, backoff: { first: 600_000 } });
    const closed = next(reconnecting, "closed");
    await next(reconnecting, "failed");
    await reconnecting.close();
    expect((await closed).code).to.equal("CONNECTION_CLOSED");
  });
});
