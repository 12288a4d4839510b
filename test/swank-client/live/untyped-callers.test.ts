import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { decode, lispFunction } from "swank-client";
import { rejection, thrown } from "../../support/caught.js";
import { forUsualServer } from "../../support/usual-server.js";
import { liveClient, liveImage } from "./live-image.js";
import { aborted, returned, stopped, values } from "./outcomes.js";

/** Calls a method as a program without types does. */
function untyped(target: object, method: string, ...args: unknown[]): unknown {
  return Reflect.apply(Reflect.get(target, method), target, args);
}

const rejected = (call: unknown) => rejection(Promise.resolve(call), "INVALID_ARGUMENT");

const MILLISECONDS = 'timeout is a number of milliseconds, not the string "5".';

describe("SwankClient: callers without types", () => {
  const image = liveClient();

  it("on refuses an unknown event with the nearest one", () => {
    for (const method of ["on", "once"]) {
      const error = thrown("INVALID_ARGUMENT", () => untyped(image.client, method, "stopp", () => undefined));
      expect(error).to.include({
        message: 'There is no event "stopp". Did you mean "stop"?',
        remedy: "The events are hitElsewhere, paused, sessionForm, stop, threadEnded, threadOutput, userAsks.",
      });
    }
    const distant = thrown("INVALID_ARGUMENT", () => untyped(image.client, "on", "constructor", () => undefined));
    expect(distant.message).to.equal('There is no event "constructor".');
  });

  it("on refuses a listener that is not a function", () => {
    for (const method of ["on", "once"]) {
      const error = thrown("INVALID_ARGUMENT", () => untyped(image.client, method, "stop"));
      expect(error.message).to.equal("A listener is a function, not a value of type undefined.");
    }
  });

  it("next refuses a timeout that is not a number, and the evaluation goes on", async () => {
    const evaluation = image.client.evaluate("(+ 1 2)");
    const error = await rejected(untyped(evaluation, "next", { timeout: "5" }));
    expect(error).to.include({ message: MILLISECONDS, remedy: "Pass the number 5, without quotes." });
    for (const timeout of [Number.NaN, -1, null, "5 s"]) await rejected(untyped(evaluation, "next", { timeout }));
    const { message } = await rejected(untyped(evaluation, "next", { signal: 5 }));
    expect(message).to.equal("signal is an AbortSignal, not 5.");
    expect(returned(await evaluation.next()).values).to.deep.equal(["3"]);
  });

  it("with refuses a timeout that is not a number", () => {
    const error = thrown("INVALID_ARGUMENT", () => untyped(image.client.lisp, "with", { timeout: "5" }));
    expect(error.message).to.equal(MILLISECONDS);
  });

  it("a stop's methods refuse wrong timeouts and limits, and the stop stays", async () => {
    const { evaluation, stop } = await image.stopIn('(let ((x 1)) (error "x") x)');
    for (const options of [{ timeout: "5" }, { signal: "x" }, { valueLimit: "5" }])
      await rejected(untyped(stop, "evaluateInFrame", 0, "1", options));
    await rejected(untyped(stop, "invokeRestart", 0, [], { timeout: "5" }));
    expect(await rejected(untyped(stop, "invokeRestart", 0, "1"))).to.include({
      message: 'values is a list of strings, not the string "1".',
      remedy: 'Pass one Lisp expression for each argument, such as ["1"].',
    });
    expect(stop.isLive).to.equal(true);
    aborted(await evaluation.abort());
  });

  it("evaluate refuses limits that are not numbers", async () => {
    for (const name of ["outputLimit", "valueLimit"]) {
      const error = await rejected(image.client.evaluate("1", { [name]: "5" }).next());
      expect(error.message).to.equal(`${name} is a number of characters, not the string "5".`);
    }
  });

  it("breakpoints.set refuses conditions of another type", async () => {
    for (const options of [{ condition: 5 }, { hitCount: "2" }, { package: 1 }, { thread: "2" }])
      await rejected(untyped(image.client.breakpoints, "set", "cl-user::f", options));
  });

  it("run refuses a descriptor without a name", async () => {
    const descriptor = { nam: "cl:identity", decode: decode.any };
    expect((await rejected(untyped(image.client, "run", descriptor))).message).to.equal(
      "run takes the descriptor of a Lisp function, made with lispFunction.",
    );
  });
});

describe("lispFunction", () => {
  const refused = (descriptor: object) =>
    thrown("INVALID_ARGUMENT", () => Reflect.apply(lispFunction, undefined, [descriptor])).message;
  const name = "cl:identity";

  it("refuses unknown fields by name", () => {
    expect(refused({ nam: name, decode: decode.any })).to.equal(
      'lispFunction has no option "nam". Did you mean "name"?',
    );
  });

  it("refuses missing and wrong fields", () => {
    expect(refused({ decode: decode.any })).to.equal("name is a string, not undefined.");
    expect(refused({ name })).to.equal("decode is a function, not a value of type undefined.");
    expect(refused({ name, decode: decode.any, encode: [] })).to.equal(
      "encode is a function, not a value of type object.",
    );
    expect(refused({ name, decode: decode.any, where: "here" })).to.include("where is one of new-thread, ");
    expect(refused({ name, decode: decode.any, module: "evaluation" })).to.include("module is one of connection, ");
    expect(refused({ name, decode: decode.any, timeout: "5" })).to.equal(MILLISECONDS);
  });
});

function failing(): never {
  throw new Error("the listener's own");
}

/** A listener whose promise rejects, as that of an async function can. */
const rejecting = (): unknown => Promise.reject(new Error("the listener's own"));

describe("SwankClient: listeners that fail", () => {
  const image = liveImage();
  const reported: string[] = [];
  const unhandled: unknown[] = [];
  const options = {
    onListenerError: (error: unknown, event: string) => {
      reported.push(`${event}: ${error instanceof Error ? error.message : String(error)}`);
    },
  };
  const onUnhandled = (error: unknown) => unhandled.push(error);

  beforeEach(() => {
    reported.length = 0;
    unhandled.length = 0;
    process.on("unhandledRejection", onUnhandled);
  });
  afterEach(() => process.off("unhandledRejection", onUnhandled));

  it("stop: the other listeners and the evaluation get the stop, and the error is reported", async () => {
    const client = await image.connect(options);
    const threads: number[] = [];
    client.on("stop", failing);
    client.on("stop", rejecting);
    const stopListening = client.on("stop", ({ thread }) => threads.push(thread));
    client.on("stop", () => stopListening());
    const evaluation = client.evaluate('(error "x")');
    const { stop } = stopped(await evaluation.next());
    await pause(10);
    expect(threads).to.deep.equal([stop.thread]);
    expect(reported).to.deep.equal(["stop: the listener's own", "stop: the listener's own"]);
    aborted(await evaluation.abort());
    expect(unhandled).to.deep.equal([]);
  });

  for (const [what, onOutput] of [
    ["throws", failing],
    ["rejects", rejecting],
  ] as const)
    it(`onOutput: the evaluation keeps its output when the listener ${what}, and the error is reported`, async () => {
      const client = await image.connect(options);
      const outcome = returned(await client.evaluate('(princ "out") 1', { onOutput }).next());
      await pause(10);
      expect(outcome).to.include({ stdout: "out" });
      expect(reported).to.deep.equal(["output: the listener's own"]);
      expect(await values(client, "2")).to.deep.equal(["2"]);
      expect(unhandled).to.deep.equal([]);
    });

  it("replyPolicy: Lisp gets the default answer when the policy is an async function", async () => {
    const replyPolicy = new Proxy(() => undefined, { apply: rejecting });
    const client = await image.connect({ ...options, replyPolicy });
    const asked = forUsualServer(
      '(swank::with-connection ((first (last swank::*connections*))) (swank::y-or-n-p-in-emacs "sure?"))',
    );
    expect(await values(client, asked)).to.deep.equal(["NIL"]);
    await pause(10);
    expect(reported).to.include("replyPolicy: the listener's own");
    expect(unhandled).to.deep.equal([]);
  });

  it("onListenerError: a rejection of an async reporter becomes a process warning", async () => {
    const warning = new Promise<Error>((resolve) => process.once("warning", resolve));
    const client = await image.connect({ onListenerError: rejecting });
    client.on("stop", failing);
    const evaluation = client.evaluate('(error "x")');
    stopped(await evaluation.next());
    expect((await warning).message).to.equal('A listener for "stop" failed: the listener\'s own');
    aborted(await evaluation.abort());
    expect(unhandled).to.deep.equal([]);
  });
});
