import { expect } from "chai";
import { decode, list, read, symbol } from "sexp-parser";
import { lispFunction, type SwankClient, SwankError } from "swank-client";
import { runnerOf } from "swank-client/protocol";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { liveClient, liveImage } from "./live-image.js";
import type { stopped } from "./outcomes.js";

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
