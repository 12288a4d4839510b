import { expect } from "chai";
import { decode, read } from "sexp-parser";
import { lispFunction } from "swank-client";
import {
  type Connection,
  type DebugMessage,
  openConnection,
  type Reply,
  runnerOf,
  tcpOpener,
} from "swank-client/protocol";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

/** A request whose thread is stopped in the debugger. */
interface Stop {
  readonly reply: Promise<Reply>;
  readonly debug: DebugMessage;
}

describe("Swank calls on a real Swank", () => {
  let swank: RealSwank;
  let connection: Connection;

  before(async () => {
    swank = await startRealSwank();
    ({ connection } = await openConnection(tcpOpener({ port: swank.port })));
  });
  after(async () => {
    await connection.close();
    await swank.stop();
  });

  /** Stops a thread, and returns when Swank is ready to be asked about it. */
  function stopAt(form: string): Promise<Stop> {
    const id = connection.nextId();
    const reply = connection.request(read(form), { label: form, package: "COMMON-LISP-USER", id });
    return new Promise((resolve) => {
      const leave = connection.on("event", (message) => {
        if (message.type !== "debug" || !message.continuations.includes(id)) return;
        leave();
        resolve({ reply, debug: message });
      });
    });
  }

  const evaluate = (source: string) => runnerOf(connection).run(calls.evaluation.evalAndGrabOutput, source);

  it("evaluate the first form of a source", async () => {
    expect(await evaluate('(progn (princ "out") (values 1 :two "three"))')).to.deep.equal({
      stdout: "out",
      values: '1\n:TWO\n"three"',
    });
    expect(await evaluate("(values) (+ 1 2)")).to.deep.equal({ stdout: "", values: "" });
  });

  it("return lambda lists, and undefined for unknown names", async () => {
    const arglist = (name: string) => runnerOf(connection).run(calls.definitions.operatorArglist, name, "CL-USER");
    expect((await arglist("cl:mapcar"))?.toLowerCase()).to.equal("(cl:mapcar function list &rest more-lists)");
    expect(await arglist("no-such-function")).to.equal(undefined);
  });

  it("complete symbols as code in the given package writes them", async () => {
    const completions = async (prefix: string, packageName = "CL-USER") =>
      [...(await runnerOf(connection).run(calls.completion.simpleCompletions, prefix, packageName))].sort();
    expect(await completions("multiple-value-p")).to.deep.equal(["multiple-value-prog1"]);
    expect(await completions("cl:multiple-value-")).to.deep.equal([
      "cl:multiple-value-bind",
      "cl:multiple-value-call",
      "cl:multiple-value-list",
      "cl:multiple-value-prog1",
      "cl:multiple-value-setq",
    ]);
    expect(await completions("multiple-value-p", "KEYWORD")).to.deep.equal([]);
    expect(await completions(":external-forma")).to.deep.equal([":external-format"]);
    expect(await completions("no-such-package:x")).to.deep.equal([]);
  });

  it("return the threads and the current directory", async () => {
    const threads = await runnerOf(connection).run(calls.image.listThreads);
    expect(threads.find(({ name }) => name === "reader-thread")?.id).to.be.a("number");
    expect(threads.every(({ status }) => status !== "")).to.equal(true);
    expect(await runnerOf(connection).run(calls.image.defaultDirectory)).to.match(/^\/.*\/$/);
    const start = await runnerOf(connection).run(calls.image.processStart);
    expect(start === undefined ? process.platform : "linux").to.equal(process.platform);
    expect(await runnerOf(connection).run(calls.image.processStart)).to.equal(start);
  });

  it("inspect a stopped thread", async () => {
    await evaluate(
      '(defun user-function (number) (declare (optimize (debug 3))) (let ((word "w")) (catch \'tag (error "boom ~a ~a" number word))))',
    );
    const { reply, debug } = await stopAt("(cl-user::user-function 42)");
    const on = { thread: debug.thread };
    expect(debug.condition).to.deep.include({ message: "boom 42 w", type: "SIMPLE-ERROR" });
    expect(debug.level).to.equal(1);
    const frames = await runnerOf(connection).with(on).run(calls.debugging.backtrace, 0);
    expect(frames.slice(0, debug.frames.length)).to.deep.equal(debug.frames);
    expect(await runnerOf(connection).with(on).run(calls.debugging.backtrace, 1, 3)).to.deep.equal(frames.slice(1, 3));
    const frame = frames.find(({ call }) => call === "(USER-FUNCTION 42)");
    if (frame === undefined) throw new Error("The function is not on its own stack.");
    expect(await runnerOf(connection).with(on).run(calls.debugging.frameLocalsAndCatchTags, frame.index)).to.deep.equal(
      {
        locals: [
          { name: "NUMBER", id: 0, value: "42" },
          { name: "WORD", id: 0, value: '"w"' },
        ],
        catchTags: ["TAG"],
      },
    );
    const inFrame = ["(list number word)", frame.index, "COMMON-LISP-USER"] as const;
    expect(
      (
        await runnerOf(connection)
          .with(on)
          .run(calls.debugging.pprintEvalStringInFrame, ...inFrame)
      ).trim(),
    ).to.equal('(42 "w")');
    expect(
      await runnerOf(connection)
        .with(on)
        .run(calls.debugging.evalStringInFrame, ...inFrame),
    ).to.equal('=> (42 "w")');
    const location = await runnerOf(connection).with(on).run(calls.debugging.frameSourceLocation, frame.index);
    expect(location).to.have.property("status", "found");
    expect(location).to.have.nested.property("place.kind", "form");
    expect(await runnerOf(connection).with(on).run(calls.debugging.throwToToplevel)).to.deep.equal({ unwound: true });
    expect(await reply).to.have.property("status", "abort");
  });

  it("invoke a restart, unless the thread is at another level", async () => {
    const { reply, debug } = await stopAt('(cl:restart-case (cl:error "x") (cl-user::use-seven () 7))');
    const on = { thread: debug.thread };
    const index = debug.restarts.findIndex(({ name }) => name === "USE-SEVEN");
    const stale = await runnerOf(connection).with(on).run(calls.debugging.invokeNthRestartForEmacs, 2, index);
    expect(stale).to.deep.equal({ unwound: false, explanation: undefined });
    const invoked = await runnerOf(connection).with(on).run(calls.debugging.invokeNthRestartForEmacs, 1, index);
    expect(invoked).to.deep.equal({ unwound: true });
    expect(await reply).to.deep.equal({ status: "ok", value: 7 });
  });

  it("continue, and leave the innermost debugger level", async () => {
    const broken = await stopAt('(cl:progn (cl:break "here") 8)');
    const on = { thread: broken.debug.thread };
    expect(await runnerOf(connection).with(on).run(calls.debugging.sldbContinue)).to.deep.equal({ unwound: true });
    expect(await broken.reply).to.deep.equal({ status: "ok", value: 8 });
    const failed = await stopAt('(cl:error "x")');
    expect(
      await runnerOf(connection).with({ thread: failed.debug.thread }).run(calls.debugging.sldbAbort),
    ).to.deep.equal({ unwound: true });
    expect(await failed.reply).to.have.property("status", "abort");
  });

  it("fail when they are aborted or get an unknown reply", async () => {
    const aborted = lispFunction({ name: "cl:abort", decode: decode.any });
    expect((await rejection(runnerOf(connection).run(aborted), "REQUEST_ABORTED")).message).to.match(
      /^cl:abort: aborted in Lisp/,
    );
    const odd = { ...calls.evaluation.evalAndGrabOutput, name: "cl:list", label: () => "odd", encode: () => ["x", 7] };
    const error = await rejection(runnerOf(connection).run(odd, ""), "UNEXPECTED_REPLY");
    expect(error.message).to.equal("odd: values: expected a string, found 7");
  });
});
