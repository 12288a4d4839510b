import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { listThreadsWhen } from "../../support/listed-threads.js";
import { blocks, refusalType } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

describe("What evaluate-lisp says about names and input that are missing", () => {
  let server: McpStdio;
  const aside = async (code: string) => {
    const result = await server.call("evaluate-lisp", { code });
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
    return blocks(result)[1]
      ?.split("\n")
      .find((line) => /^It may mean|stdin|Quicklisp/.test(line));
  };

  before(async function () {
    this.timeout(60_000);
    server = await McpStdio.start();
    await server.evaluate(`(defpackage :app (:use :cl) (:export :zork :run-all)) (defun app:zork (x) x)
      (defun zorka () 1) (defun zorklike () 2) (defvar *countr* 1)`);
  });
  after(() => server.close());

  for (const [code, hint] of [
    ["(zork 1)", "It may mean: APP:ZORK, ZORKA"],
    ["(mapcra 'car nil)", "It may mean: MAPCAR, MAPCAN, MAPCON, MAPC"],
    ["(print *counter*)", "It may mean: *COUNTR*"],
    ["(zorka-and-more)", undefined],
    ["(%simple-fun-name 1)", undefined],
    ["(list (read-line))", 'Input for the code is passed as "stdin".'],
    ['(with-input-from-string (s "") (read-line s))', undefined],
    ["(ql:quickload :app)", 'Quicklisp is not loaded. If it is installed, (load "~/quicklisp/setup.lisp") loads it.'],
  ] as const)
    it(`after ${code}: ${hint ?? "nothing"}`, async () => {
      expect(await aside(code)).to.equal(hint);
    });

  it("refuses code that was damaged on its way, and runs none of it", async () => {
    for (const code of ["```lisp\n(setf *countr* 2)\n```", "(setf *countr* 3)\\n(list 1)"]) {
      expect(refusalType(await server.call("evaluate-lisp", { code }))).to.equal("DAMAGED_CODE");
      expect(refusalType(await server.call("compile-code", { code }))).to.equal("DAMAGED_CODE");
    }
    expect(await server.evaluate("*countr*")).to.deep.equal(["=> 1"]);
  });

  it("proposes the repair of unbalanced code that its indentation says, and applies none", async () => {
    const code = "(defun f (x)\n  (let ((y 1)\n    (list x y)))\n(setf *countr* 9)";
    const file = join(await mkdtemp(join(tmpdir(), "hints-")), "broken.lisp");
    await writeFile(file, code);
    const note =
      "    By its indentation, it may mean (not applied):\n    line 2: - (let ((y 1)\n            + (let ((y 1))\n";
    const diff =
      "By its indentation, the code may mean (not applied):\n  (defun f (x)\n-   (let ((y 1)\n+   (let ((y 1))\n      (list x y)))\n";
    for (const [tool, args, proposal] of [
      ["evaluate-lisp", { code }, diff],
      ["compile-code", { code }, note],
      ["compile-code", { file }, note],
      ["load-system", { file }, note],
    ] as const) {
      const result = await server.call(tool, args);
      expect(`${blocks(result).join("\n")}\n`, tool).to.include(proposal);
      expect(result.isError).to.equal(true);
    }
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
    await rm(dirname(file), { recursive: true });
    expect(await server.evaluate("*countr*")).to.deep.equal(["=> 1"]);
    expect(blocks(await server.call("evaluate-lisp", { code: '(list "a)' })).join("\n")).not.to.include("not applied");
  });

  it("says that a restart worked when a thread of the code stops again", async () => {
    await server.evaluate(
      `(sb-thread:make-thread (lambda () (restart-case (error "first") (go-on () 1)) (error "second")) :name "restarted")`,
    );
    // The stop before this one may not have ended yet.
    await listThreadsWhen(server, { restarted: "stopped" });
    const again = blocks(await server.call("debugger_invoke_restart", { restart: "GO-ON" })).join("\n");
    expect(again).to.match(
      /second[\s\S]*\nIt worked: the thread left the stop \d+\/1, went on, and has stopped again here\.$/m,
    );
    await server.call("debugger_invoke_restart", { restart: "ABORT" });
  });

  it("says that a restart worked when the code stops again", async () => {
    const code = `(progn (restart-case (error "first") (go-on () 1)) (error "second"))`;
    expect(blocks(await server.call("evaluate-lisp", { code }))[1]).not.to.include("It worked");
    const again = await server.call("debugger_invoke_restart", { restart: "GO-ON" });
    expect(blocks(again)[0]).to.match(/^\[ERROR\] SIMPLE-ERROR\nsecond\n/);
    expect(blocks(again)[1]).to.match(
      /\nIt worked: the thread left the stop \d+\/1, went on, and has stopped again here\.$/m,
    );
    const ended = await server.call("debugger_invoke_restart", { restart: "ABORT" });
    expect(blocks(ended).join("\n")).not.to.include("It worked");
  });

  it("shows as much of a value as max-output says", async () => {
    const code = "(make-string 30000 :initial-element #\\x)";
    const shown = async (most?: number) =>
      blocks(await server.call("evaluate-lisp", { code, "max-output": most }))[0]?.match(/x+/)?.[0].length;
    expect(await shown()).to.be.within(10_000, 22_000);
    expect(await shown(40_000)).to.equal(30_000);
    expect(await shown(2000)).to.be.within(1000, 2000);
  });
});
