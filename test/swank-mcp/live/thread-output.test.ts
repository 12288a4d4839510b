import { expect } from "chai";
import { attachedTo, liveEditor, liveServer, liveSwank } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import type { McpStdio } from "../../support/mcp-stdio.js";

/** Evaluates until an answer has a block about output, and returns the blocks about output of all answers. */
async function untilPrinted(server: McpStdio, pattern: RegExp): Promise<string> {
  let printed = "";
  while (!pattern.test(printed)) {
    const found = (await server.evaluate("(sleep 0.05) 1")).filter((block) => block.startsWith("[output of "));
    printed += found.join("\n");
  }
  return printed;
}

/** Starts a thread that waits before it prints, so that its evaluation has ended. */
function later(code: string): string {
  return `(let ((out *standard-output*))
    (declare (ignorable out))
    (sb-thread:make-thread (lambda () (sleep 0.3) ${code}) :name "worker")
    :started)`;
}

const TITLE = /^\[output of thread \d+ \(worker\), \d\d:\d\d:\d\d(?: to \d\d:\d\d:\d\d)?\]\n/;

/** How a thread prints. */
const WAYS: Readonly<Record<string, string>> = {
  "its standard output": '(format t "printed~%")',
  "its error output": '(format *error-output* "printed~%")',
  "its trace output, without the end of a line": '(write-string "printed" *trace-output*)',
  "the stream of the evaluation that has started it": '(format out "printed~%")',
  "a thread that it has started": '(sb-thread:make-thread (lambda () (format t "printed~%")) :name "worker")',
};

describe("output of the agent's threads", function () {
  this.timeout(120_000);
  const server = liveServer();

  for (const [way, code] of Object.entries(WAYS)) {
    it(`is in the next answer, with the thread and the time: ${way}`, async () => {
      expect(await server.evaluate(later(code))).to.deep.equal(["=> :STARTED"]);
      const text = await untilPrinted(server, /printed/);
      expect(text)
        .to.match(TITLE)
        .and.match(/\]\nprinted$/);
      expect(await server.evaluate("1")).to.deep.equal(["=> 1"]);
    });
  }

  it("is apart from that of the evaluation that waits for the thread", async () => {
    const code = `(progn (princ "mine") (sb-thread:join-thread (sb-thread:make-thread (lambda () (princ "its")) :name "worker")) 1)`;
    const [report, apart] = await server.evaluate(code);
    expect(report).to.equal("[stdout]\nmine\n\n=> 1");
    expect(apart)
      .to.match(TITLE)
      .and.match(/\]\nits$/);
  });

  it("has a section for each thread, and one for all further ones", async () => {
    const code = `(dotimes (i 8 1)
      (sb-thread:join-thread (sb-thread:make-thread (lambda (i) (format t "text ~d~%" i)) :arguments (list i) :name (format nil "t~d" i))))`;
    const [, apart = ""] = await server.evaluate(code);
    expect(apart.match(/^\[output of thread \d+ \(t\d\), /gm)).to.have.length(8);
    expect(apart.match(/^\[output of 3 others\]$/gm)).to.have.length(1);
    for (let i = 0; i < 8; i += 1) expect(apart).to.include(`\ntext ${i}`);
  });

  it("is cut when it is long, and can be read on", async () => {
    const code = `(progn (sb-thread:join-thread (sb-thread:make-thread (lambda () (dotimes (i 2000) (format t "line ~4,'0d~%" i))) :name "worker")) 1)`;
    const [, apart = ""] = await server.evaluate(code);
    expect(apart).to.have.lengthOf.within(2000, 2300);
    const [, output, offset] = /\{"output":(\d+),"offset":(\d+)\}/.exec(apart) ?? [];
    const [more = ""] = blocks(
      await server.call("evaluate-lisp", { output: Number(output), offset: Number(offset), "max-output": 30_000 }),
    );
    expect(more).to.match(TITLE).and.include("\nline 1000\n").and.include("line 1999");
  });

  it("of a thread that prints without end is bounded, and goes on after each answer", async () => {
    await server.evaluate(
      `(defvar *stop* nil)
       (sb-thread:make-thread (lambda () (loop for i from 0 until *stop* do (format t "line ~9,'0d~%" i)) (format t "over~%")) :name "worker")`,
    );
    const seen: number[] = [];
    while (seen.length < 4) {
      const answer = await server.evaluate("(sleep 0.2) 1");
      const last = (answer[1] ?? "").match(/(?<=line )\d{9}$/gm)?.at(-1);
      if (last !== undefined) seen.push(Number(last));
      expect(answer[1] ?? "").to.have.lengthOf.below(2400);
    }
    expect(seen).to.deep.equal([...new Set(seen)].sort((a, b) => a - b));
    const [, end = ""] = await server.evaluate("(setf *stop* t)");
    if (!end.includes("over")) await untilPrinted(server, /over/);
  });

  it("is in the look at a background evaluation, too", async () => {
    const begun = await server.call("evaluate-lisp", {
      code: `${later('(princ "printed")')} (sleep 1) :end`,
      background: true,
    });
    const id = /evaluation (\d+)/.exec(blocks(begun)[0] ?? "")?.[1];
    let text = blocks(begun).at(-1) ?? "";
    while (!text.includes("printed")) text += blocks(await server.call("evaluate-lisp", { id: Number(id) })).at(-1);
    expect(text).to.match(/\[output of thread \d+ \(worker\), [^\]]*\]\nprinted$/);
  });
});

describe("output of the agent's threads in an attached image", function () {
  this.timeout(120_000);
  const image = liveSwank();
  const editor = liveEditor(image);
  const agent = liveServer({ args: attachedTo(image), each: true });

  it("is in the next answer, and where the user reads it; what the user's threads print is only there", async () => {
    const { type } = editor;
    await type(`(progn (defvar cl-user::*seen* (make-string-output-stream))
      (setf (sb-ext:symbol-global-value '*standard-output*) cl-user::*seen*))`);
    await type('(sb-thread:join-thread (sb-thread:make-thread (lambda () (format t "the user\'s~%")) :name "user"))');
    const code = `(progn (sb-thread:join-thread (sb-thread:make-thread (lambda () (format t "agent's~%")) :name "worker")) 1)`;
    const [value, apart] = await agent.evaluate(code);
    expect(value).to.equal("=> 1");
    expect(apart)
      .to.match(TITLE)
      .and.match(/\]\nagent's$/);
    expect(String(await type("(get-output-stream-string cl-user::*seen*)"))).to.include("the user's\nagent's\n");
  });

  it("is shown only to the user once the agent has gone", async () => {
    const { type } = editor;
    await type(
      `(setf cl-user::*seen* (make-string-output-stream) (sb-ext:symbol-global-value '*standard-output*) cl-user::*seen*)`,
    );
    await agent.evaluate(`(defvar cl-user::*gone* nil)
      (sb-thread:make-thread (lambda () (loop until cl-user::*gone* do (sleep 0.01)) (format t "left alone") (setf cl-user::*gone* :printed)))
      1`);
    await agent.close();
    await type("(setf cl-user::*gone* t)");
    await type("(loop until (eq cl-user::*gone* :printed) do (sleep 0.01))");
    expect(String(await type("(get-output-stream-string cl-user::*seen*)"))).to.include("left alone");
  });
});
