import { expect } from "chai";
import { Connection, connect, openConnection, ReconnectingClient, SwankError, tcpOpener } from "swank-client";
import { launchImage, loadInitFiles } from "swank-client/launch";
import { inMemoryPeer } from "../support/fake-swank.js";

/** What a call throws, or rejects with. */
async function failure(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

describe("options that do not exist", () => {
  const open = () => Promise.reject(new Error("nothing is to be opened"));
  const CALLS: readonly [title: string, call: (options: unknown) => unknown, option: string][] = [
    ["connect", (options) => Reflect.apply(connect, undefined, [options]), "prot"],
    ["openConnection", (options) => Reflect.apply(openConnection, undefined, [open, options]), "port"],
    ["tcpOpener", (options) => Reflect.apply(tcpOpener, undefined, [options]), "prot"],
    ["Connection", (options) => Reflect.construct(Connection, [inMemoryPeer().factory, options]), "timeout"],
    ["ReconnectingClient", (options) => Reflect.construct(ReconnectingClient, [options]), "prot"],
    ["launchImage", (options) => Reflect.apply(launchImage, undefined, [options]), "sbcl"],
    ["loadInitFiles", (options) => Reflect.apply(loadInitFiles.encode, undefined, [options]), "files"],
  ];
  for (const [title, call, option] of CALLS) {
    it(`${title} refuses them by name`, async () => {
      const error = await failure(() => call({ [option]: 1 }));
      expect(error).to.be.instanceOf(SwankError);
      expect(error).to.include({ code: "INVALID_ARGUMENT", message: `${title} has no option "${option}".` });
    });

    it(`${title} refuses what is no object`, async () => {
      for (const options of [4005, "4005", null]) {
        expect(await failure(() => call(options))).to.include({ code: "INVALID_ARGUMENT" });
      }
    });
  }

  it("are refused inside other options, too", async () => {
    for (const [options, message] of [
      [{ heartbeat: { intervall: 1 } }, 'heartbeat has no option "intervall".'],
      [{ backoff: { attempt: 1 } }, 'backoff has no option "attempt".'],
    ] as const) {
      const error = await failure(() => Reflect.construct(ReconnectingClient, [options]));
      expect(error).to.include({ code: "INVALID_ARGUMENT", message });
    }
  });

  it("are refused with the names of those that exist", async () => {
    const error = await failure(() => Reflect.apply(tcpOpener, undefined, [{ prot: 1 }]));
    expect(error).to.have.property("remedy", "Its options are host, port, timeout.");
  });
});
