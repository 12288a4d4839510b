import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { PipedConsole, runScript } from "../../support/mcp-console.js";
import { gone } from "../../support/mcp-processes.js";
import { startRealSwank } from "../../support/real-swank.js";

describe("swank-mcp console without a terminal", () => {
  it("prints only answers, and exits at the end of its input or at ,quit", async () => {
    const { output, code } = await runScript([
      "(+ 1 2)",
      "",
      "; nothing",
      "(list 1",
      "      2)",
      ",quit",
      "(princ :never)",
    ]);
    expect({ output, code }).to.deep.equal({ output: "=> 3\n=> (1 2)\n", code: 0 });
  });

  it("applies commands to the selected stop", async () => {
    const failing = (n: number) => `(let ((n ${n})) (cerror "Go on." "Stop ~d" n) n)`;
    const console = new PipedConsole();
    console.write(`${failing(1)}\n${failing(2)}\n`);
    const [, first] = await console.says(/thread (\d+)\/1\. [\s\S]*thread \d+\/1\. /);
    console.write(`,thread ${first}\n,continue\n,continue\n`);
    const { output } = await console.finish();
    expect(output).to.match(/\n=> 1\n=> 2\n$/);
  });

  it("exits with 1 after a failure, including an incomplete form at the end of the input", async () => {
    const { output, code } = await runScript(["(list 1"]);
    expect(output).to.match(/^\[ERROR\] END-OF-FILE\n/);
    expect(code).to.equal(1);
    expect(await runScript([",nothing"])).to.include({ code: 1 });
  });

  it("searches text with an open parenthesis, and says that a later line was taken by an unfinished form", async () => {
    const { output, code } = await runScript([",search (defun no-such-name", ",expand (when a", "(+ 1 2)"]);
    expect(output)
      .to.include("(defun no-such-name")
      .and.to.match(
        /\nUnfinished form: ,expand \(when a\nIt has an open [\w, ]+\. The line after it was read as part of it\. Close it\.\n$/,
      );
    expect(code).to.equal(1);
  });

  it("exits with 1 when a file of --load cannot be loaded, even without input", async () => {
    for (const lines of [[], ["(+ 1 2)"]]) {
      const { output, code } = await runScript(lines, ["--load", "/nosuch.lisp"]);
      const answers = lines.length === 0 ? "" : "=> 3\n";
      expect(output).to.equal(`/nosuch.lisp was not loaded: there is no such file. Check --load.\n${answers}`);
      expect(code).to.equal(1);
    }
    expect(await runScript([], ["--load", "/dev/null"])).to.deep.equal({ output: "", code: 0 });
  });

  it("shows output immediately, under its stream's name, and does not repeat it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "console-"));
    const file = join(folder, "go-on");
    try {
      const console = new PipedConsole();
      const wait = `(loop until (probe-file ${JSON.stringify(file)}) do (sleep 0.01))`;
      console.write(`(progn (princ "begun") (finish-output) ${wait} (format *error-output* "careful~%") :end)\n`);
      await console.says(/begun/);
      await writeFile(file, "");
      expect(await console.finish()).to.deep.equal({
        output: "[stdout]\nbegun\n\n[stderr]\ncareful\n\n=> :END\n",
        code: 0,
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("ends its image when a signal ends it during an evaluation", async () => {
    const console = new PipedConsole();
    console.write("(progn (princ (swank/backend:getpid)) (terpri) (finish-output) (loop (sleep 0.01)))\n");
    const [, pid] = await console.says(/^(\d+)\n/m);
    console.process.kill("SIGTERM");
    expect((await console.exited).code).to.equal(143);
    await gone(Number(pid));
  });

  it("exits when its output is closed", async () => {
    const console = new PipedConsole();
    console.process.stdout.destroy();
    console.write("(loop repeat 100000 do (print 1))\n");
    expect((await console.exited).code).to.equal(1);
  });
});

describe("swank-mcp console --attach", () => {
  it("uses the image and leaves it running", async () => {
    const lisp = await startRealSwank();
    try {
      const args = ["--attach", String(lisp.port)];
      const { output, code } = await runScript(["(defvar *kept* 7)", ",status", '(error "x")'], args);
      expect(output)
        .to.include(`image: attached\naddress: 127.0.0.1:${lisp.port}\n`)
        .and.to.include(`pid: ${lisp.process.pid}\n`);
      expect(code).to.equal(1);
      expect(await runScript(["*kept*", ",continue"], args)).to.include({ code: 1 });
    } finally {
      await lisp.stop();
    }
  });
});
