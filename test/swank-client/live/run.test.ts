import { expect } from "chai";
import { decode, keyword, list, quote, read, type Sexp, symbol } from "sexp-parser";
import { lispFunction, type SwankClient, SwankError } from "swank-client";
import { runnerOf } from "swank-client/protocol";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { liveClient, liveImage } from "./live-image.js";
import type { stopped } from "./outcomes.js";

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

/** Has functions of the runtime give something else, as an image with another version of it would. */
const redefine = (...names: readonly string[]) => `
  (dolist (package (remove-if-not (lambda (package) (eql 0 (search "SWANK-CLIENT/" (package-name package))))
                                  (list-all-packages)))
    (dolist (name '(${names.map((name) => `"${name}"`).join(" ")}))
      (let ((symbol (find-symbol name package)))
        (when (and symbol (fboundp symbol) (eq package (symbol-package symbol)))
          (sb-int:encapsulate symbol 'odd (lambda (function &rest arguments)
                                            (declare (ignore function arguments))
                                            (list :odd 42)))))))`;

const RESTORE = `
  (dolist (package (list-all-packages))
    (when (eql 0 (search "SWANK-CLIENT/" (package-name package)))
      (do-symbols (symbol package)
        (when (and (eq package (symbol-package symbol)) (fboundp symbol) (sb-int:encapsulated-p symbol 'odd))
          (sb-int:unencapsulate symbol 'odd)))))`;

describe("SwankClient: replies of an unexpected shape", () => {
  const image = liveClient();

  async function evaluate(code: string, evaluator = image.client): Promise<void> {
    const form = list(symbol("cl:null"), list(symbol("cl:eval"), list(symbol("cl:read-from-string"), code)));
    await evaluator.request(form, { label: "test", package: "CL-USER" });
  }
  afterEach(async () => {
    const restorer = await image.connect({ runtime: false });
    await evaluate(RESTORE, restorer);
    await restorer.close();
  });

  const QUESTIONS: readonly [what: string, lisp: string, ask: (client: SwankClient) => Promise<unknown>][] = [
    ["definitions", "DEFINITIONS", (client) => client.definitions()],
    ["reset", "RESET", (client) => client.reset()],
    ["describeSymbol", "DESCRIBE-NAME", (client) => client.describeSymbol("car")],
    ["breakpoints.set", "SET-BREAKPOINT", (client) => client.breakpoints.set("print")],
    ["breakpoints.list", "LIST-BREAKPOINTS", (client) => client.breakpoints.list()],
    ["evaluate", "EVALUATE", (client) => client.evaluate("1").next()],
  ];
  for (const [what, lisp, question] of QUESTIONS)
    it(`make ${what} fail with UNEXPECTED_REPLY`, async () => {
      await image.values("1");
      await Promise.allSettled([
        image.client.definitions(),
        image.client.describeSymbol("car"),
        image.client.breakpoints.list(),
      ]);
      await evaluate(redefine(lisp));
      expect((await rejection(question(image.client), "UNEXPECTED_REPLY")).message).to.match(/expected .*, found /);
      await evaluate(RESTORE);
      expect(await image.values("2")).to.deep.equal(["2"]);
    });

  const AT_STOP: readonly [
    what: string,
    lisp: string,
    ask: (session: ReturnType<typeof stopped>["stop"]) => Promise<unknown>,
  ][] = [
    ["frames", "FRAMES", (session) => session.frames()],
    ["frameLocals", "FRAME-LOCALS", (session) => session.frameLocals(0)],
    ["evaluateInFrame", "EVAL-IN-FRAME", (session) => session.evaluateInFrame(0, "1")],
    ["restartFrame", "RESTART-FRAME", (session) => session.restartFrame(0)],
    ["returnFromFrame", "RETURN-FROM-FRAME", (session) => session.returnFromFrame(0, "1")],
    ["invokeRestart", "INVOKE-OFFERED-RESTART", (session) => session.invokeRestart(0)],
    ["continue", "CONTINUE-STOP", (session) => session.continue()],
    ["step", "STEP-ON", (session) => session.step("over")],
  ];
  it("make every question to a stopped thread fail with UNEXPECTED_REPLY", async () => {
    const { evaluation, stop } = await image.stopIn('(error "x")');
    await stop.frames();
    await evaluate(redefine(...AT_STOP.map(([, lisp]) => lisp)));
    const codes = [];
    for (const [what, , question] of AT_STOP) {
      const failure = await question(stop).then(
        () => "nothing",
        (error: unknown) => error,
      );
      codes.push(`${what} ${failure instanceof SwankError ? failure.code : String(failure)}`);
    }
    expect(codes).to.deep.equal(AT_STOP.map(([what]) => `${what} UNEXPECTED_REPLY`));
    expect(stop.isLive).to.equal(true);
    await evaluate(RESTORE);
    await evaluation.abort();
  });
});

describe("LispRunner.run: a call whose form fails", () => {
  const image = liveImage();
  const failing = (form: string) =>
    lispFunction({ name: "cl:identity", label: () => "failing", encode: () => [read(form)], decode: decode.any });

  it("is unwound, and fails with the Lisp error", async () => {
    const client = await image.connect();
    const stops: number[] = [];
    client.on("stop", ({ thread }) => stops.push(thread));
    const running = runnerOf(client.connection).run(failing('(cl:error "boom ~a" 1)'));
    expect((await rejection(running, "REQUEST_FAILED")).message).to.equal("failing: boom 1 [SIMPLE-ERROR]");
    expect(stops).to.deep.equal([]);
    expect(client.stops).to.deep.equal([]);
    await image.untilTidy();
  });

  it("is unwound on a bare Connection, too", async () => {
    const { connection } = await image.connect({ runtime: false });
    const running = runnerOf(connection).run(calls.evaluation.evalAndGrabOutput, "(car 1)");
    expect((await rejection(running, "REQUEST_FAILED")).message).to.match(/^swank:eval-and-grab-output: .*TYPE-ERROR/s);
    await image.untilTidy();
  });
});

describe("SwankClient.request: a form that cannot be sent", () => {
  const image = liveImage();
  const circular: unknown[] = [];
  circular.push(circular);
  for (const [what, form] of [
    ["undefined", undefined],
    ["null", null],
    ["a boolean", true],
    ["a list with undefined in it", [undefined]],
    ["a list that contains itself", circular],
  ] as const)
    it(`${what} is refused, and the connection stays`, async () => {
      const client = await image.connect({ runtime: false });
      const call: unknown = Reflect.apply(client.request, client, [form, { label: "test" }]);
      const error = await rejection(Promise.resolve(call), "INVALID_ARGUMENT");
      expect(error.cause).to.have.property("code", "UNPRINTABLE");
      expect(await client.request(read("(cl:+ 1 2)"), { label: "test" })).to.equal(3);
    });

  it("a message of an unknown type, or to no thread, is refused, and the connection stays", async () => {
    const { connection } = await image.connect({ runtime: false });
    for (const message of [{ type: "nonsense" }, { type: "emacs-interrupt" }, { type: "emacs-interrupt", thread: "x" }])
      expect(() => Reflect.apply(connection.send, connection, [message])).to.throw(SwankError);
    expect(await runnerOf(connection).run(calls.evaluation.evalAndGrabOutput, "3")).to.include({ values: "3" });
  });
});
