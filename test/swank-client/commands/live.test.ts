import { expect } from "chai";
import { read } from "sexp-parser";
import { type Connection, commands, type DebugMessage, openConnection, type Reply, tcpOpener } from "swank-client";
import { rejection } from "../../support/caught.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

const { runCommand } = commands;

/** A request whose thread is stopped in the debugger. */
interface Stop {
  readonly reply: Promise<Reply>;
  readonly debug: DebugMessage;
}

describe("commands on a real Swank", () => {
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

  const evaluate = (source: string) => runCommand(connection, commands.evalAndGrabOutput, [source]);

  it("evaluate the first form of a source", async () => {
    expect(await evaluate('(progn (princ "out") (values 1 :two "three"))')).to.deep.equal({
      stdout: "out",
      values: '1\n:TWO\n"three"',
    });
    expect(await evaluate("(values) (+ 1 2)")).to.deep.equal({ stdout: "", values: "" });
  });

  it("tell lambda lists, and nothing of what is not known", async () => {
    const arglist = (name: string) => runCommand(connection, commands.operatorArglist, [name, "CL-USER"]);
    expect((await arglist("cl:mapcar"))?.toLowerCase()).to.equal("(cl:mapcar function list &rest more-lists)");
    expect(await arglist("no-such-function")).to.equal(undefined);
  });

  it("complete symbols, as one writes them where one is", async () => {
    const completions = async (prefix: string, packageName = "CL-USER") =>
      [...(await runCommand(connection, commands.simpleCompletions, [prefix, packageName]))].sort();
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

  it("tell the threads, and the current directory", async () => {
    const threads = await runCommand(connection, commands.listThreads, []);
    expect(threads.find(({ name }) => name === "reader-thread")?.id).to.be.a("number");
    expect(threads.every(({ status }) => status !== "")).to.equal(true);
    expect(await runCommand(connection, commands.defaultDirectory, [])).to.match(/^\/.*\/$/);
    const start = await runCommand(connection, commands.processStart, []);
    expect(start === undefined ? process.platform : "linux").to.equal(process.platform);
    expect(await runCommand(connection, commands.processStart, [])).to.equal(start);
  });

  it("look at a stopped thread", async () => {
    await evaluate(
      '(defun user-function (number) (declare (optimize (debug 3))) (let ((word "w")) (catch \'tag (error "boom ~a ~a" number word))))',
    );
    const { reply, debug } = await stopAt("(cl-user::user-function 42)");
    const on = { thread: debug.thread };
    expect(debug.condition).to.deep.include({ message: "boom 42 w", type: "SIMPLE-ERROR" });
    expect(debug.level).to.equal(1);
    const frames = await runCommand(connection, commands.backtrace, [0], on);
    expect(frames.slice(0, debug.frames.length)).to.deep.equal(debug.frames);
    expect(await runCommand(connection, commands.backtrace, [1, 3], on)).to.deep.equal(frames.slice(1, 3));
    const frame = frames.find(({ call }) => call === "(USER-FUNCTION 42)");
    if (frame === undefined) throw new Error("The function is not on its own stack.");
    expect(await runCommand(connection, commands.frameLocalsAndCatchTags, [frame.index], on)).to.deep.equal({
      locals: [
        { name: "NUMBER", id: 0, value: "42" },
        { name: "WORD", id: 0, value: '"w"' },
      ],
      catchTags: ["TAG"],
    });
    const inFrame = ["(list number word)", frame.index, "COMMON-LISP-USER"] as const;
    expect((await runCommand(connection, commands.pprintEvalStringInFrame, [...inFrame], on)).trim()).to.equal(
      '(42 "w")',
    );
    const location = await runCommand(connection, commands.frameSourceLocation, [frame.index], on);
    expect(location).to.have.property("status", "found");
    expect(location).to.have.nested.property("place.kind", "form");
    expect(await runCommand(connection, commands.throwToToplevel, [], on)).to.deep.equal({ unwound: true });
    expect(await reply).to.have.property("status", "abort");
  });

  it("invoke a restart, unless the thread is at another level by now", async () => {
    const { reply, debug } = await stopAt('(cl:restart-case (cl:error "x") (cl-user::use-seven () 7))');
    const on = { thread: debug.thread };
    const index = debug.restarts.findIndex(({ name }) => name === "USE-SEVEN");
    const stale = await runCommand(connection, commands.invokeNthRestartForEmacs, [2, index], on);
    expect(stale).to.deep.equal({ unwound: false, explanation: undefined });
    const invoked = await runCommand(connection, commands.invokeNthRestartForEmacs, [1, index], on);
    expect(invoked).to.deep.equal({ unwound: true });
    expect(await reply).to.deep.equal({ status: "ok", value: 7 });
  });

  it("continue, and leave the innermost level of the debugger", async () => {
    const broken = await stopAt('(cl:progn (cl:break "here") 8)');
    const on = { thread: broken.debug.thread };
    expect(await runCommand(connection, commands.sldbContinue, [], on)).to.deep.equal({ unwound: true });
    expect(await broken.reply).to.deep.equal({ status: "ok", value: 8 });
    const failed = await stopAt('(cl:error "x")');
    expect(await runCommand(connection, commands.sldbAbort, [], { thread: failed.debug.thread })).to.deep.equal({
      unwound: true,
    });
    expect(await failed.reply).to.have.property("status", "abort");
  });

  it("fail when they are aborted or answered in an unknown way", async () => {
    const aborted = { ...commands.evalAndGrabOutput, name: "aborted", encode: () => read("(cl:abort)") };
    expect((await rejection(runCommand(connection, aborted, [""]), "REQUEST_ABORTED")).message).to.match(/^aborted: /);
    const odd = { ...commands.evalAndGrabOutput, name: "odd", encode: () => read('(cl:list "x" 7)') };
    const error = await rejection(runCommand(connection, odd, [""]), "UNEXPECTED_REPLY");
    expect(error.message).to.equal("odd: values: expected a string, found 7");
  });
});
