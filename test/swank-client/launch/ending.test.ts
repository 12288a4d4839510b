import { expect } from "chai";
import { lispProblem } from "swank-client/launch";
import { rejection } from "../../support/caught.js";
import { launching, sharedCache } from "./launching.js";
import { processGone, runScript } from "./processes.js";

const BUSY = {
  nothing: "(cl:+ 1 2)",
  "an endless loop": "(cl:loop)",
  "an endless loop that no garbage collection can stop": "(sb-sys:without-gcing (cl:loop))",
  "an endless loop without interrupts": "(sb-sys:without-interrupts (cl:loop))",
  "a stop in the debugger": '(cl:error "stopped")',
  "endless output": '(cl:loop (cl:print "more"))',
  "holding the lock that reading needs": "(sb-impl::with-package-graph () (cl:sleep 1000))",
};

/** Nothing more can be asked of an image while it does that. */
const blocksReading = (form: string) => form.includes("package-graph");

describe("End of a launched image", () => {
  const { launch } = launching();

  describe("by exiting", () => {
    for (const [form, code] of [
      ["(sb-ext:exit)", 0],
      ["(sb-ext:exit :code 3)", 3],
      ["(sb-ext:exit :code 4 :abort t)", 4],
      ["(cl:progn (sb-thread:make-thread (cl:lambda () (cl:loop))) (sb-ext:exit :code 5))", 5],
      ["(cl:unwind-protect (sb-ext:exit :code 6) (cl:sleep 1/10))", 6],
      [
        "(cl:progn (sb-thread:make-thread (cl:lambda () (sb-sys:without-interrupts (cl:loop)))) (cl:sleep 1/10) (sb-ext:exit :code 7))",
        7,
      ],
    ] as const)
      it(`reports exit code ${code} for ${form}`, async () => {
        const { image, send, connection } = await launch();
        send(form);
        expect(await image.exited).to.deep.include({ code, signal: undefined });
        expect((await connection.closed).code).to.equal("CONNECTION_LOST");
      });

    it("comes if the garbage collector exhausts the heap, without a prompt at a terminal", async () => {
      const { image, send } = await launch({ dynamicSpaceSize: 200 });
      send("(cl:loop :with l :do (cl:push (cl:list 1 2 3 4) l))");
      const { code, outputTail } = await image.exited;
      expect(code).to.equal(1);
      expect(outputTail)
        .to.match(/Heap exhausted/)
        .and.not.include("ldb");
      expect(lispProblem(outputTail)).to.include("Heap exhausted").and.not.include("fp=0x");
    });
  });

  it("is not blamed on a heap exhaustion that the code has survived", async () => {
    const { image, send } = await launch({ dynamicSpaceSize: 400 });
    send(
      '(cl:progn (cl:handler-case (cl:loop :with l :do (cl:push (cl:make-array 1000000) l)) (cl:storage-condition () t)) (cl:write-line "bad input" sb-sys:*stderr*) (cl:finish-output sb-sys:*stderr*) (sb-ext:exit :code 7 :abort t))',
    );
    const { code, outputTail, problem, heapExhausted } = await image.exited;
    expect(outputTail).to.include("Heap exhausted during allocation");
    expect({ code, problem, heapExhausted }).to.deep.equal({ code: 7, problem: "bad input", heapExhausted: false });
    expect(lispProblem(`${outputTail}fatal error encountered in SBCL pid 1:\nHeap exhausted, game over.\n`)).to.include(
      "game over",
    );
  });

  describe("by its client", () => {
    for (const [doing, form] of Object.entries(BUSY))
      it(`comes when its socket is closed, even during ${doing}`, async () => {
        const { image, send, evaluate, connection } = await launch();
        send(form);
        if (!blocksReading(form)) await evaluate("(cl:+ 1 2)");
        await connection.close();
        expect(await image.exited).to.deep.include({ code: 0, signal: undefined });
      });

    it("runs cleanup forms, and exit hooks once", async () => {
      const lines: string[] = [];
      const { image, evaluate, send } = await launch({ onLog: (line) => lines.push(line) });
      await evaluate('(cl:progn (cl:push (cl:lambda () (cl:format sb-sys:*stdout* "hook~%")) sb-ext:*exit-hooks*) t)');
      // past the stream that the hook prints to: two threads in it at once would print things twice
      const cleanUp =
        '(sb-unix:unix-write 1 (cl:coerce (cl:format nil "cleaned~%") (cl:quote cl:simple-base-string)) 0 8)';
      send(`(cl:unwind-protect (cl:sleep 1000) ${cleanUp})`);
      await evaluate("(cl:sleep 1/10)");
      await image.stop();
      await image.exited;
      expect(lines.filter((line) => line === "hook" || line === "cleaned").sort()).to.deep.equal(["cleaned", "hook"]);
    });

    it("does not wait for an exit hook that hangs", async () => {
      const { image, evaluate } = await launch();
      await evaluate("(cl:progn (cl:push (cl:lambda () (cl:sleep 1000)) sb-ext:*exit-hooks*) t)");
      await image.stop();
      expect(await image.exited).to.deep.include({ code: undefined, signal: "SIGALRM" });
    });

    it("comes by a signal if the image does not react", async () => {
      const { image, evaluate } = await launch();
      await evaluate(
        "(cl:progn (sb-sys:enable-interrupt sb-unix:sigalrm :ignore) (sb-sys:enable-interrupt sb-unix:sigterm :ignore) (cl:push (cl:lambda () (cl:loop (cl:ignore-errors (cl:sleep 1000)))) sb-ext:*exit-hooks*) (cl:defun swank-client/launch::leave-image ()) t)",
      );
      await image.stop();
      expect((await image.exited).signal).to.equal("SIGKILL");
    });

    it("can be requested repeatedly, even after it has come", async () => {
      const { image } = await launch();
      await Promise.all([image.stop(), image.stop()]);
      await image.stop();
      expect((await image.exited).code).to.equal(0);
    });
  });

  describe("with the process that launched it", () => {
    for (const [doing, form] of Object.entries(BUSY))
      it(`comes when that process is killed, even during ${doing}`, async () => {
        const other = runScript("launch-and-hold", [
          await sharedCache(),
          ...(form.includes("package-graph") ? [] : [form]),
        ]);
        const { pid } = { ...JSON.parse(await other.firstLine) };
        other.child.kill("SIGKILL");
        await other.exited;
        await processGone(pid);
      });

    it("comes if only the image itself can detect that process's end", async () => {
      // No signal from the kernel, and Swank does not tell: the image's own watch is left.
      const other = runScript("launch-and-hold", [
        await sharedCache(),
        '(sb-alien:alien-funcall (sb-alien:extern-alien "prctl" (cl:function sb-alien:int sb-alien:int sb-alien:unsigned-long)) 1 0)',
        "(cl:setf swank::*connection-closed-hook* nil)",
        "(cl:loop)",
      ]);
      const { pid } = { ...JSON.parse(await other.firstLine) };
      other.child.kill("SIGKILL");
      await other.exited;
      await processGone(pid);
    });
  });

  describe("before it has started", () => {
    it("comes when the launch is cancelled", async () => {
      await rejection(launch({ signal: AbortSignal.abort() }), "CANCELLED");
      const cancel = new AbortController();
      const launched = launch({ useCore: false, signal: cancel.signal, onLog: () => undefined });
      setTimeout(() => cancel.abort(), 100);
      await rejection(launched, "CANCELLED");
    });

    it("comes when the start takes too long", async () => {
      const error = await rejection(launch({ useCore: false, startTimeout: 1 }), "LAUNCH_FAILED");
      expect(error.message).to.include("1 ms");
    });

    it("is reported with the image's output", async () => {
      const error = await rejection(launch({ useCore: false, dynamicSpaceSize: 1 }), "LAUNCH_FAILED");
      expect(error.details.output).not.to.equal("");
    });
  });
});

describe("OutputLog", () => {
  const { launch } = launching();

  it("delivers whole lines and characters until the image ends", async () => {
    const lines: string[] = [];
    const { image, send } = await launch({ onLog: (line) => lines.push(line) });
    send('(cl:progn (cl:format sb-sys:*stdout* "one~%zwei ä€😀~%no newline") (sb-ext:exit))');
    await image.exited;
    expect(lines).to.deep.equal(["one", "zwei ä€😀", "no newline"]);
    expect(image.outputTail).to.equal("one\nzwei ä€😀\nno newline");
  });

  it("never blocks the image, and keeps only the end", async () => {
    const { image, evaluate } = await launch();
    await evaluate(
      '(cl:progn (cl:dotimes (i 200000) (cl:format sb-sys:*stdout* "line ~d~%" i)) (cl:finish-output sb-sys:*stdout*))',
    );
    await image.stop();
    const { outputTail } = await image.exited;
    expect(outputTail).to.include("line 199999\n").and.not.include("line 100000\n");
  });

  it("delivers a long line in parts", async () => {
    const lines: string[] = [];
    const { image, send } = await launch({ onLog: (line) => lines.push(line) });
    send('(cl:progn (cl:dotimes (i 100000) (cl:write-string "xxxxxxxxxx" sb-sys:*stdout*)) (sb-ext:exit))');
    await image.exited;
    expect(lines.join("")).to.have.length(1_000_000);
    expect(lines).to.have.length.greaterThan(1);
  });

  it("continues after a listener throws", async () => {
    const warned = new Promise<Error>((resolve) => {
      process.once("warning", resolve);
    });
    const { image, send } = await launch({
      onLog: (line) => {
        throw new Error(`cannot take ${line}`);
      },
    });
    send('(cl:progn (cl:format sb-sys:*stdout* "one~%") (sb-ext:exit))');
    expect((await warned).message).to.equal("cannot take one");
    expect((await image.exited).outputTail).to.equal("one\n");
  });

  it("includes output of child processes, but does not wait for it", async () => {
    const { image, send } = await launch();
    send('(cl:progn (sb-ext:run-program "/bin/sleep" (cl:list "5") :wait nil :output t) (sb-ext:exit :abort t))');
    expect((await image.exited).code).to.equal(1);
  });
});
