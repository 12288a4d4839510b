import { expect } from "chai";
import { decode, keyword, list, quote, read, type Sexp } from "sexp-parser";
import { lispFunction, SwankError } from "swank-client";
import { runnerOf } from "swank-client/protocol";
import { rejection } from "../../support/caught.js";
import { liveClient } from "./live-image.js";

const { any, integer, map, nullable, string, tuple } = decode;

/** Calls `cl:identity`, whose reply is what its argument says. */
const identity = lispFunction({ name: "cl:identity", encode: (datum: Sexp) => [quote(datum)], decode: any });

describe("SwankClient.run", () => {
  const image = liveClient();

  it("calls a function by the user's descriptor, and decodes its answer", async () => {
    const describe = lispFunction({ name: "swank:describe-symbol", encode: (name: string) => [name], decode: string });
    expect(await image.client.run(describe, "cl:mapcar")).to.match(/MAPCAR.*compiled function/s);
  });

  it("passes no arguments if the descriptor encodes none", async () => {
    const version = lispFunction({ name: "cl:lisp-implementation-type", decode: string });
    expect(await image.client.run(version)).to.equal("SBCL");
  });

  it("runs in a new thread for each call", async () => {
    const name = lispFunction({
      name: "cl:identity",
      encode: () => [read("(sb-thread:thread-name sb-thread:*current-thread*)")],
      decode: string,
    });
    expect(await image.client.run(name)).to.match(/worker/i);
  });

  it("runs in Swank's REPL thread, if the client has a REPL", async () => {
    const inRepl = lispFunction({ ...identity, where: "repl-thread" });
    expect((await rejection(image.client.run(inRepl, 7), "NO_SUCH_THREAD")).message).to.include(":REPL-THREAD");
  });

  it("runs in the given stopped thread, and refuses a call without one", async () => {
    const { evaluation, stop } = await image.stopIn('(error "x")');
    const backtrace = lispFunction({
      name: "swank:backtrace",
      where: "stopped-thread",
      encode: (end: number) => [0, end],
      decode: decode.list(any),
    });
    expect(await image.client.lisp.with({ thread: stop.thread }).run(backtrace, 3)).to.have.length(3);
    await rejection(image.client.run(backtrace, 3), "INVALID_ARGUMENT");
    await evaluation.abort();
  });

  it("throws the error of a refusal, made from the reply and the arguments", async () => {
    const refusing = lispFunction({
      ...identity,
      refusals: {
        "no-such-thing": (asked: Sexp) =>
          map(
            tuple(integer),
            ([told]) => new SwankError("NO_SUCH_FRAME", `${Array.isArray(asked) ? asked.length : 0} ${told}`),
          ),
      },
    });
    const error = await rejection(image.client.run(refusing, list(keyword("no-such-thing"), 7)), "NO_SUCH_FRAME");
    expect(error.message).to.equal("2 7");
    expect(await image.client.run(refusing, "else")).to.equal("else");
    await rejection(image.client.run(refusing, list(keyword("no-such-thing"), "seven")), "UNEXPECTED_REPLY");
  });

  it("gives every failure a code, even exceptions of the descriptor's own functions", async () => {
    const fail = (): never => {
      throw new TypeError("a defect");
    };
    await rejection(image.client.run({ ...identity, decode: string }, 7), "UNEXPECTED_REPLY");
    await rejection(image.client.run({ ...identity, decode: fail }, 7), "UNEXPECTED_REPLY");
    await rejection(image.client.run({ ...identity, encode: fail }, 7), "INVALID_ARGUMENT");
    await rejection(
      Reflect.apply(image.client.run, image.client, [{ ...identity, encode: () => 7 }, 7]),
      "INVALID_ARGUMENT",
    );
    const refused = list(keyword("refused"));
    await rejection(image.client.run({ ...identity, refusals: { refused: fail } }, refused), "UNEXPECTED_REPLY");
    await rejection(image.client.run({ ...identity, refusals: { refused: () => fail } }, refused), "UNEXPECTED_REPLY");
    await rejection(
      image.client.run(lispFunction({ name: "cl:abort", decode: any, unwound: fail })),
      "UNEXPECTED_REPLY",
    );
    await rejection(image.client.run({ ...identity, name: "no symbol" }, 7), "INVALID_ARGUMENT");
    await rejection(
      image.client.run(lispFunction({ name: "cl:car", encode: () => [7], decode: any })),
      "REQUEST_FAILED",
    );
    await rejection(image.client.run(lispFunction({ name: "cl:abort", decode: any })), "REQUEST_ABORTED");
    await rejection(image.client.run(lispFunction({ name: "no-such-package:f", decode: any })), "REQUEST_UNREADABLE");
    await rejection(Reflect.apply(image.client.run, image.client, [undefined]), "INVALID_ARGUMENT");
    await image.untilTidy();
  });

  it("ends a call after its timeout or the descriptor's", async () => {
    const sleep = lispFunction({ name: "cl:sleep", encode: (seconds: number) => [seconds], decode: any, timeout: 100 });
    await rejection(image.client.run(sleep, 60), "REQUEST_TIMEOUT");
    await rejection(image.client.lisp.with({ signal: AbortSignal.abort() }).run(sleep, 60), "CANCELLED");
    expect(await image.client.lisp.with({ timeout: 5000 }).run(sleep, 1)).to.deep.equal(read("nil"));
    await image.untilTidy();
  });

  it("loads the module that a function needs, unlike a connection without a client", async () => {
    const abort = lispFunction({
      name: "abort-evaluation",
      module: "evaluate",
      encode: (id: number) => [id],
      decode: nullable(integer),
    });
    expect(await image.client.run(abort, 1_000_000)).to.equal(undefined);
    await rejection(runnerOf(image.client.connection).run(abort, 1), "RUNTIME_FORBIDDEN");
  });
});
