import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { decode, EvaluationError, LispError, type SwankClient, SwankError } from "swank-client";
import { WORKER_THREAD } from "../../support/usual-server.js";
import { freshImage, liveClient } from "./live-image.js";

const UNINTERRUPTIBLE = "(sb-sys:without-interrupts (sleep 6))";
/** Keeps everything from being compiled for some seconds, and so the runtime from being loaded. */
const HOLD_COMPILER = `(cl:let ((held (sb-thread:make-semaphore)))
  (sb-thread:make-thread
    (cl:lambda ()
      (sb-thread:with-recursive-lock (sb-kernel::**world-lock**)
        (sb-thread:signal-semaphore held)
        (cl:sleep 3))))
  (sb-thread:wait-on-semaphore held)
  0)`;
const WORKERS = `(cl:count "${WORKER_THREAD}" (sb-thread:list-all-threads) :key 'sb-thread:thread-name :test 'cl:equal)`;

/** The error of a call that must fail. */
async function failure(promise: Promise<unknown>): Promise<SwankError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof SwankError) return error;
    throw error;
  }
  throw new Error("It did not fail.");
}

describe("SwankClient.eval", () => {
  const image = liveClient();

  /** Waits until the image runs nothing for any client; the worker that asks is one itself. */
  async function untilIdle(): Promise<void> {
    while ((await image.ask(WORKERS)) !== "1") await pause(20);
  }

  it("returns the printed values of the last form", async () => {
    expect(await image.client.eval("(+ 1 2)")).to.deep.equal(["3"]);
    expect(await image.client.eval('(print 1) (values :a "b")')).to.deep.equal([":A", '"b"']);
    expect(await image.client.eval("")).to.deep.equal([]);
    expect(await image.client.eval("(values)")).to.deep.equal([]);
  });

  it("passes the options of evaluate", async () => {
    const chunks: string[] = [];
    const options = { package: "KEYWORD", stdin: "typed", onOutput: ({ text }: { text: string }) => chunks.push(text) };
    expect(await image.client.eval("(cl:princ (cl:read-line))", options)).to.deep.equal(['"typed"']);
    expect(chunks.join("")).to.equal("typed");
  });

  it("throws a LispError with the whole report, and nothing stays stopped", async () => {
    const error = await failure(image.client.eval('(defun ev-outer (x) (1+ (/ x 0))) (princ "before") (ev-outer 7)'));
    if (!(error instanceof LispError)) throw error;
    expect(error).to.include({ code: "LISP_ERROR", name: "LispError" });
    expect(error.message).to.match(/^DIVISION-BY-ZERO: arithmetic error DIVISION-BY-ZERO signalled/);
    expect(error.report.frames.map(({ call }) => call)).to.include("(EV-OUTER 7)");
    expect(error.report.restarts.map(({ name }) => name)).to.include("ABORT");
    expect(error.transcript.stdout).to.equal("before");
    expect(image.client.stops).to.deep.equal([]);
    await untilIdle();
  });

  it("unwinds code that would stop without an error", async () => {
    const error = await failure(image.client.eval('(break "here")'));
    if (!(error instanceof LispError)) throw error;
    expect(error.report.message).to.equal("here");
    await untilIdle();
    expect(image.client.stops).to.deep.equal([]);
  });

  it("throws a LispError for code that cannot be read", async () =>
    expect(await failure(image.client.eval("(list 1"))).to.be.instanceOf(LispError));

  it("decodes the first value, as data in standard syntax whatever the print settings are", async () => {
    const { integer, list, string, tuple } = decode;
    await image.values("(setf *print-base* 16 *print-length* 2 *print-case* :downcase)");
    expect(await image.client.eval("(+ 250 5)", { decode: integer })).to.equal(255);
    const numbers = await image.client.eval("(loop for i below 5000 collect i)", { decode: list(integer) });
    expect(numbers).to.deep.equal([...Array(5000).keys()]);
    const shared = '(let ((x "a\\"b")) (values (list x 1) 2))';
    expect(await image.client.eval(shared, { decode: tuple(string, integer) })).to.deep.equal(['a"b', 1]);
    expect(await image.client.eval("(values)", { decode: list(integer) })).to.deep.equal([]);
    const options = { decode: integer, timeout: 30_000 };
    const sum: number = await image.client.eval("(+ 1 2)", options);
    expect(sum).to.equal(3);
    const called: number = await image.client.call("+", [1, 2], options);
    expect(called).to.equal(3);
  });

  it("says what is wrong with a value that cannot be decoded", async () => {
    const wrong = await failure(image.client.eval(":a", { decode: decode.integer }));
    expect(wrong).to.include({
      code: "UNEXPECTED_REPLY",
      message: "The value :A is not what `decode` accepts: expected an integer below 2^53, found :a.",
    });
    const inner = await failure(image.client.eval('(list 1 "2")', { decode: decode.list(decode.integer) }));
    expect(inner.message).to.include("accepts: [1]: expected an integer");
    const none = await failure(image.client.eval('(princ "done") (values)', { decode: decode.integer }));
    const message =
      "The code returned no value, and NIL in its place is not what `decode` accepts: expected an integer below 2^53, found nil.";
    expect(none).to.include({ code: "UNEXPECTED_REPLY", message });
    expect(none).to.have.nested.property("transcript.stdout", "done");
    const unreadable = await failure(image.client.eval("(make-hash-table)", { decode: decode.integer }));
    expect(unreadable).to.have.property("code", "UNEXPECTED_REPLY");
    const circular = await failure(
      image.client.eval("(let ((x (list 1))) (setf (cdr x) x))", { decode: decode.integer }),
    );
    expect(circular).to.include({ code: "REPLY_TOO_LARGE", message: "The value has more than 1000000 characters." });
  });

  it("has the output so far in the error of a limit", async () => {
    const controller = new AbortController();
    const onOutput = () => controller.abort();
    const timed = await failure(image.client.eval('(princ "so far") (warn "w") (loop)', { timeout: 1000 }));
    const cancelled = await failure(
      image.client.eval('(princ "so far") (loop)', { signal: controller.signal, onOutput }),
    );
    for (const [error, code] of [
      [timed, "EVALUATION_TIMEOUT"],
      [cancelled, "CANCELLED"],
    ] as const) {
      if (!(error instanceof EvaluationError)) throw error;
      expect(error).to.include({ code, name: "EvaluationError" });
      expect(error.transcript.stdout).to.equal("so far");
    }
    expect(timed).to.have.nested.property("transcript.warnings").that.has.lengthOf(1);
  });

  it("has the timeout as its reason even if a cleanup form fails then", async () => {
    const error = await failure(image.client.eval('(unwind-protect (loop) (error "cleanup"))', { timeout: 200 }));
    expect(error.code).to.equal("EVALUATION_TIMEOUT");
    await untilIdle();
  });

  it("ends code whose signal is aborted", async () => {
    const controller = new AbortController();
    const onOutput = () => controller.abort(new Error("enough"));
    const error = await failure(image.client.eval("(princ 1) (loop)", { signal: controller.signal, onOutput }));
    expect(error.code).to.equal("CANCELLED");
    expect(error.cause).to.have.property("message", "enough");
    await untilIdle();
    expect((await failure(image.client.eval("1", { signal: controller.signal }))).code).to.equal("CANCELLED");
  });

  it("rejects also if the code cannot be ended", async () => {
    const error = await failure(image.client.eval(UNINTERRUPTIBLE, { timeout: 200 }));
    const message = "The code took longer than 200 ms. It could not be ended, and continues.";
    expect(error).to.include({ code: "EVALUATION_TIMEOUT", message });
    await untilIdle();
  });

  it("refuses unknown options and options that it sets itself", async () => {
    const wrong: object = { onError: "stop" };
    const error = await failure(image.client.eval("1", wrong));
    expect(error).to.include({ code: "INVALID_ARGUMENT", message: 'eval has no option "onError".' });
    const nothing: object = { timeout: "1" };
    expect((await failure(image.client.eval("1", nothing))).code).to.equal("INVALID_ARGUMENT");
  });
});

describe("SwankClient.eval while the runtime is being loaded", () => {
  const image = freshImage();

  async function slowToLoad(): Promise<SwankClient> {
    const lisp = await image.connect({ cacheDir: false });
    await image.ask(HOLD_COMPILER);
    return lisp;
  }

  it("begins to count the time when the code is sent", async () => {
    const lisp = await slowToLoad();
    expect(await lisp.eval("(+ 1 2)", { timeout: 2500 })).to.deep.equal(["3"]);
  });

  it("sends nothing if its signal is aborted while the runtime is being loaded", async () => {
    const lisp = await slowToLoad();
    const controller = new AbortController();
    const ending = failure(lisp.eval("(defvar *sent-late* t)", { signal: controller.signal }));
    controller.abort();
    expect((await ending).code).to.equal("CANCELLED");
    expect(await lisp.eval("1")).to.deep.equal(["1"]);
    expect(await image.ask('(cl:if (cl:find-symbol "*SENT-LATE*" :cl-user) 1 0)')).to.equal("0");
  });
});

describe("SwankClient.evaluate with limits", () => {
  const image = liveClient();

  it("interrupts code that runs longer than its timeout, and leaves it stopped", async () => {
    const evaluation = image.client.evaluate("(loop)", { timeout: 200 });
    expect((await evaluation.next()).status).to.equal("stopped");
    expect(evaluation.stop?.reason).to.equal("interrupt");
    await evaluation.abort();
  });

  it("ends code that runs longer than its timeout if errors unwind it", async () => {
    const outcome = await image.client.evaluate("(loop)", { timeout: 200, onError: "unwind" }).next();
    expect(outcome.status).to.equal("aborted");
    expect(image.client.stops).to.deep.equal([]);
  });

  it("leaves code alone that is stopped when its timeout passes", async () => {
    const evaluation = image.client.evaluate('(error "first")', { timeout: 300 });
    await evaluation.next();
    await pause(600);
    expect(evaluation.stop?.condition.message).to.equal("first");
    await evaluation.abort();
  });

  it("sends nothing if the signal was aborted before", async () => {
    const outcome = image.client.evaluate("(defvar *sent* t)", { signal: AbortSignal.abort() }).next();
    expect(await outcome.catch((error: SwankError) => error.code)).to.equal("CANCELLED");
    expect(await image.ask('(cl:if (cl:find-symbol "*SENT*" :cl-user) 1 0)')).to.equal("0");
  });
});
