import { expect } from "chai";
import { type ReconnectEvents, ReconnectingClient, type SwankClient } from "swank-client";
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

  it("stops trying when it is closed", async () => {
    const reconnecting = new ReconnectingClient({ port: 1, backoff: { first: 600_000 } });
    const closed = next(reconnecting, "closed");
    await next(reconnecting, "failed");
    await reconnecting.close();
    expect((await closed).code).to.equal("CONNECTION_CLOSED");
  });
});
