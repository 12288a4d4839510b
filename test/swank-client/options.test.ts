import { expect } from "chai";
import { connect, launch, ReconnectingClient, SwankError } from "swank-client";
import { findLisp, findShareSecret, findSwank, launchImage, loadInitFiles } from "swank-client/launch";
import { Connection, FrameDecoder, openConnection, tcpOpener } from "swank-client/protocol";
import { inMemoryPeer } from "../support/fake-swank.js";

/** What a call throws, or rejects with. */
async function failure(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

const never = () => "it takes arguments";

describe("Option checks", () => {
  const open = () => Promise.reject(new Error("nothing is to be opened"));
  const CALLS: readonly [title: string, call: (options: unknown) => unknown, option: string, meant?: string][] = [
    ["connect", (options) => Reflect.apply(connect, undefined, [options]), "prot", "port"],
    ["launch", (options) => Reflect.apply(launch, undefined, [options]), "useCores", "useCore"],
    ["openConnection", (options) => Reflect.apply(openConnection, undefined, [open, options]), "tiemout", "timeout"],
    ["tcpOpener", (options) => Reflect.apply(tcpOpener, undefined, [options]), "prot", "port"],
    ["Connection", (options) => Reflect.construct(Connection, [inMemoryPeer().factory, options]), "signal"],
    ["ReconnectingClient", (options) => Reflect.construct(ReconnectingClient, [options]), "prot", "port"],
    ["FrameDecoder", (options) => Reflect.construct(FrameDecoder, [() => undefined, options]), "size"],
    ["launchImage", (options) => Reflect.apply(launchImage, undefined, [options]), "sbcl"],
    ["findLisp", (options) => Reflect.apply(findLisp, undefined, [options]), "list", "lisp"],
    ["findSwank", (options) => Reflect.apply(findSwank, undefined, [options]), "slime"],
    ["findShareSecret", (options) => Reflect.apply(findShareSecret, undefined, [options]), "files", "file"],
    ["loadInitFiles", (options) => Reflect.apply(loadInitFiles.encode ?? never, undefined, [options]), "init"],
  ];
  for (const [title, call, option, meant] of CALLS) {
    it(`${title} refuses unknown options by name`, async () => {
      const error = await failure(() => call({ [option]: 1 }));
      const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
      expect(error).to.be.instanceOf(SwankError);
      expect(error).to.include({ code: "INVALID_ARGUMENT", message: `${title} has no option "${option}".${hint}` });
    });

    it(`${title} refuses options that are not an object`, async () => {
      for (const options of [4005, "4005", null])
        expect(await failure(() => call(options))).to.include({ code: "INVALID_ARGUMENT" });
    });
  }

  it("refuse unknown options inside other options", async () => {
    for (const [options, message] of [
      [{ heartbeat: { intervall: 1 } }, 'heartbeat has no option "intervall". Did you mean "interval"?'],
      [{ backoff: { attempt: 1 } }, 'backoff has no option "attempt". Did you mean "attempts"?'],
    ] as const) {
      const error = await failure(() => Reflect.construct(ReconnectingClient, [options]));
      expect(error).to.include({ code: "INVALID_ARGUMENT", message });
    }
  });

  it("refuse times, numbers and ports of another type, and say what to pass", async () => {
    const PORT = 'port is a whole number from 1 to 65535, not the string "4005".';
    for (const [call, options, message, remedy] of [
      [connect, { port: "4005" }, PORT, "Pass the number 4005, without quotes."],
      [connect, { timeout: "10" }, 'timeout is a number of milliseconds, not the string "10".'],
      [connect, { linger: -1 }, "linger is a number of milliseconds, not -1."],
      [connect, { host: 4005 }, "host is a string, not number."],
      [connect, { signal: {} }, "signal is an AbortSignal, not a value of type object."],
      [launch, { dynamicSpaceSize: "512" }, 'dynamicSpaceSize is a number of megabytes, not the string "512".'],
      [launch, { startTimeout: "5 s" }, 'startTimeout is a number of milliseconds, not the string "5 s".'],
      [launch, { heartbeat: { interval: "1" } }, 'interval is a number of milliseconds, not the string "1".'],
    ] as const) {
      const error = await failure(() => Reflect.apply(call, undefined, [options]));
      expect(error).to.include({ code: "INVALID_ARGUMENT", message, ...(remedy && { remedy }) });
    }
    for (const backoff of [{ attempts: "3" }, { first: "1" }, { longest: "1" }, { factor: 0 }]) {
      const error = await failure(() => Reflect.construct(ReconnectingClient, [{ backoff }]));
      expect(error).to.include({ code: "INVALID_ARGUMENT" });
    }
  });

  it("list the existing options in the error", async () => {
    const error = await failure(() => Reflect.apply(tcpOpener, undefined, [{ prot: 1 }]));
    expect(error).to.have.property("remedy", "Its options are host, port, timeout.");
  });
});
