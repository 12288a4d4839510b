import { expect } from "chai";
import type { Stop } from "swank-client";
import * as calls from "swank-client/swank";
import { DEFINITIONS } from "./called-code.js";
import { liveClient } from "./live-image.js";
import { stopped } from "./outcomes.js";

describe("calls: Swank's functions for the debugger, traces and profiles", function () {
  this.timeout(120_000);
  const image = liveClient();

  beforeEach(() => image.values(DEFINITIONS));

  async function stopOf(code: string): Promise<Stop> {
    return stopped(await image.evaluate(code)).stop;
  }

  async function frameOf(stop: Stop, call: string): Promise<number> {
    const { frames } = await stop.frames(0, 30);
    const found = frames.find((frame) => frame.call.startsWith(call));
    if (found === undefined) throw new Error(`No frame ${call} among ${frames.map((frame) => frame.call).join(" ")}.`);
    return found.index;
  }

  it("show a stop: debuggerInfoForEmacs, framePackageName, sdlbPrintCondition, inspectors of its parts", async () => {
    const stop = await stopOf('(defun sc-fail (n) (restart-case (error "boom ~a" n) (sc-use () 5))) (sc-fail 1)');
    const frame = await frameOf(stop, "(SC-FAIL");
    const info = await stop.run(calls.debugging.debuggerInfoForEmacs, 0, 2);
    expect(info).to.include({ message: "boom 1", type: "   [Condition of type SIMPLE-ERROR]" });
    expect(info.restarts[0]?.name).to.equal("SC-USE");
    // The evaluation and this request.
    expect([info.frames.length, info.continuations.length]).to.deep.equal([2, 2]);
    expect(await stop.run(calls.debugging.framePackageName, frame)).to.equal("COMMON-LISP-USER");
    expect(await stop.run(calls.debugging.sdlbPrintCondition)).to.equal("boom 1");
    expect((await stop.run(calls.inspecting.inspectInFrame, "n", frame))?.parts[0])
      .to.have.property("text")
      .that.includes("1");
    expect(await stop.run(calls.inspecting.inspectFrameVar, frame, 0)).to.have.property("title");
    expect((await stop.run(calls.inspecting.inspectCurrentCondition))?.title).to.match(/SIMPLE-ERROR/);
    expect(await stop.run(calls.debugging.invokeNthRestart, 0)).to.deep.equal({ unwound: true });
    expect(await stop.evaluation?.next()).to.deep.include({ status: "returned", values: ["5"] });
  });

  it("look at frames: backtrace, frameLocalsAndCatchTags, evalStringInFrame, pprintEvalStringInFrame, frameSourceLocation", async () => {
    const stop = await stopOf(
      '(defun sc-framed (number) (let ((word "w")) (catch \'tag (error "boom ~a ~a" number word)))) (sc-framed 42)',
    );
    const frame = await frameOf(stop, "(SC-FRAMED 42)");
    const { debugging } = calls;
    const frames = await stop.run(debugging.backtrace, 0);
    expect(frames[frame]?.call).to.equal("(SC-FRAMED 42)");
    expect(await stop.run(debugging.backtrace, 1, 3)).to.deep.equal(frames.slice(1, 3));
    expect(await stop.run(debugging.frameLocalsAndCatchTags, frame)).to.deep.equal({
      locals: [
        { name: "NUMBER", id: 0, value: "42" },
        { name: "WORD", id: 0, value: '"w"' },
      ],
      catchTags: ["TAG"],
    });
    const inFrame = ["(list number word)", frame, "COMMON-LISP-USER"] as const;
    expect((await stop.run(debugging.pprintEvalStringInFrame, ...inFrame)).trim()).to.equal('(42 "w")');
    expect(await stop.run(debugging.evalStringInFrame, ...inFrame)).to.equal('=> (42 "w")');
    expect(await stop.run(debugging.frameSourceLocation, frame)).to.have.property("status", "found");
    expect(await stop.run(debugging.throwToToplevel)).to.deep.equal({ unwound: true });
  });

  it("leave stops: invokeNthRestartForEmacs, unless the thread is at another level, sldbContinue, sldbAbort", async () => {
    const { invokeNthRestartForEmacs, sldbAbort, sldbContinue } = calls.debugging;
    const stop = await stopOf('(restart-case (error "x") (use-seven () 7))');
    const stale = { unwound: false, explanation: undefined };
    expect(await stop.run(invokeNthRestartForEmacs, 2, 0)).to.deep.equal(stale);
    expect(await stop.run(invokeNthRestartForEmacs, 1, 0)).to.deep.equal({ unwound: true });
    expect(await stop.evaluation?.next()).to.deep.include({ values: ["7"] });
    const broken = await stopOf('(progn (break "here") 8)');
    expect(await broken.run(sldbContinue)).to.deep.equal({ unwound: true });
    expect(await broken.evaluation?.next()).to.deep.include({ values: ["8"] });
    const failed = await stopOf('(error "x")');
    expect(await failed.run(sldbAbort)).to.deep.equal({ unwound: true });
    expect(await failed.evaluation?.next()).to.deep.include({ status: "aborted" });
  });

  it("leave frames: restartFrame, sldbReturnFromFrame", async () => {
    const stop = await stopOf('(defun sc-again (n) (error "boom ~a" n)) (list (sc-again 1))');
    expect(await stop.run(calls.debugging.restartFrame, await frameOf(stop, "(SC-AGAIN"))).to.deep.equal({
      unwound: true,
    });
    const again = stopped((await stop.evaluation?.next()) ?? (await image.evaluate("nil"))).stop;
    const frame = await frameOf(again, "(SC-AGAIN");
    expect(await again.run(calls.debugging.sldbReturnFromFrame, frame, "77")).to.deep.equal({ unwound: true });
    expect(await again.evaluation?.next()).to.deep.include({ status: "returned", values: ["(77)"] });
  });

  it("stop and end threads by their position: debugNthThread, killNthThread, quitThreadBrowser", async () => {
    await image.values('(sb-thread:make-thread (lambda () (loop (sleep 1/50))) :name "sc-victim")');
    const position = async () =>
      (await image.run(calls.image.listThreads)).findIndex(({ name }) => name === "sc-victim");
    const stops = new Promise<Stop>((resolve) => image.client.once("stop", resolve));
    await image.run(calls.debugging.debugNthThread, await position());
    const stop = await stops;
    expect(stop.condition.message).to.match(/[Ii]nterrupt/);
    await stop.continue();
    await image.run(calls.debugging.killNthThread, await position());
    await image.run(calls.debugging.quitThreadBrowser);
    while ((await position()) !== -1);
  });

  it("switch breaking on signals: toggleBreakOnSignals", async () => {
    expect(await image.run(calls.debugging.toggleBreakOnSignals)).to.equal("*break-on-signals* = T");
    expect(await image.run(calls.debugging.toggleBreakOnSignals)).to.equal("*break-on-signals* = NIL");
  });

  it("trace: swankToggleTrace, untraceAll, and the trace dialog's records of calls", async () => {
    const name = "cl-user::sc-add";
    expect(await image.run(calls.tracing.swankToggleTrace, name)).to.match(/is now traced\.$/);
    await image.run(calls.tracing.untraceAll);
    expect(await image.run(calls.tracing.dialogToggleTrace, name)).to.match(/is now traced for trace dialog$/);
    await image.values("(sc-caller 5)");
    expect(await image.run(calls.tracing.reportTotal)).to.equal(1);
    expect(await image.run(calls.tracing.reportSpecs)).to.have.length(1);
    const report = await image.run(calls.tracing.reportPartialTree, "cl-user::sc-key");
    expect(report.remaining).to.equal(0);
    const [call] = report.calls;
    expect(call).to.deep.include({ id: 0, parent: undefined });
    expect([call?.args[0]?.text, call?.values[0]?.text]).to.deep.equal(["5", "7"]);
    expect(await image.run(calls.tracing.reportTraceDetail, 0)).to.deep.equal(call);
    expect(await image.run(calls.tracing.reportTraceDetail, 99)).to.equal(undefined);
    expect((await image.run(calls.tracing.inspectTracePart, 0, 0, "arg"))?.title).to.be.a("string");
    await image.run(calls.tracing.clearTraceTree);
    expect(await image.run(calls.tracing.reportTotal)).to.equal(0);
    await image.run(calls.tracing.dialogUntraceAll);
  });

  it("profile calls: toggleProfileFdefinition, profileBySubstring, swankProfilePackage, profileReport, unprofileAll", async () => {
    expect(await image.run(calls.profiling.toggleProfileFdefinition, "cl-user::sc-add")).to.match(/is now profiled\.$/);
    expect(await image.run(calls.profiling.profiledFunctions)).to.deep.equal(["SC-ADD"]);
    expect(await image.run(calls.profiling.profileBySubstring, "SC-CALL", "CL-USER")).to.equal(
      "1 function is now profiled",
    );
    await image.values("(sc-caller 5)");
    await image.run(calls.profiling.profileReport);
    await image.run(calls.profiling.profileReset);
    await image.values("(defpackage :sc-empty (:use :cl))");
    await image.run(calls.profiling.swankProfilePackage, "SC-EMPTY");
    await image.run(calls.profiling.unprofileAll);
    expect(await image.run(calls.profiling.profiledFunctions)).to.deep.equal([]);
  });

  it("profile by samples: swankSprofStart, swankSprofStop, swankSprofGetCallGraph, swankSprofDisassemble", async () => {
    await image.run(calls.profiling.swankSprofStart, "cpu");
    await image.values("(defun sc-busy (n) (loop repeat n sum (random 10))) (sc-busy 20000000)");
    await image.run(calls.profiling.swankSprofStop);
    const rows = await image.run(calls.profiling.swankSprofGetCallGraph);
    const busy = rows.find(({ name }) => name.endsWith("SC-BUSY"));
    expect(busy?.total).to.be.greaterThan(0);
    expect(await image.run(calls.profiling.swankSprofDisassemble, busy?.index ?? -1)).to.be.a("string");
  });
});
