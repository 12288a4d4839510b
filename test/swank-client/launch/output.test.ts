import { expect } from "chai";
import { launching } from "./launching.js";

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
