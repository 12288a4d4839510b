import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { PipedConsole, runScript } from "../../support/mcp-console.js";
import { gone } from "../../support/mcp-processes.js";
import { startRealSwank } from "../../support/real-swank.js";

describe("console without a terminal", () => {
  it("prints answers and nothing else, and ends with its input", async () => {
    const { output, code } = await runScript(["(+ 1 2)", "", "; nothing", "(list 1", "      2)"]);
    expect({ output, code }).to.deep.equal({ output: "=> 3\n=> (1 2)\n", code: 0 });
  });

  it("has commands be about the stop that is chosen", async () => {
    const failing = (n: number) => `(let ((n ${n})) (cerror "Go on." "Stop ~d" n) n)`;
    const console = new PipedConsole();
    console.write(`${failing(1)}\n${failing(2)}\n`);
    const [, first] = await console.says(/thread (\d+)\/1\. [\s\S]*thread \d+\/1\. /);
    console.write(`,thread ${first}\n,continue\n,continue\n`);
    const { output } = await console.end();
    expect(output).to.match(/\n=> 1\n=> 2\n$/);
  });

  it("ends with 1 when something failed, also when that is the end of the input", async () => {
    const { output, code } = await runScript(["(list 1"]);
    expect(output).to.match(/^\[ERROR\] END-OF-FILE\n/);
    expect(code).to.equal(1);
    expect(await runScript([",nothing"])).to.include({ code: 1 });
  });

  it("leaves at once when told to", async () => {
    expect(await runScript([",quit", "(princ :never)"])).to.deep.equal({ output: "", code: 0 });
  });

  it("shows output as it comes, under its stream, and does not repeat it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "console-"));
    const file = join(folder, "go-on");
    try {
      const console = new PipedConsole();
      const wait = `(loop until (probe-file ${JSON.stringify(file)}) do (sleep 0.01))`;
      console.write(`(progn (princ "begun") (finish-output) ${wait} (format *error-output* "careful~%") :end)\n`);
      await console.says(/begun/);
      await writeFile(file, "");
      expect(await console.end()).to.deep.equal({
        output: "[stdout]\nbegun\n\n[stderr]\ncareful\n\n=> :END\n",
        code: 0,
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("asks nobody where nobody is: what needs a yes is refused when that is wanted", async () => {
    const { output } = await runScript(['(error "x")', ",in 0 1", ",abort"], ["--approval", "strict"]);
    expect(
      output.match(/^Not allowed \(:[a-z-]+\): .*; --approval strict, and this client cannot ask\.$/gm),
    ).to.have.length(2);
  });

  it("leaves nothing behind when a signal ends it in the middle of an evaluation", async () => {
    const console = new PipedConsole();
    console.write("(progn (princ (swank/backend:getpid)) (terpri) (finish-output) (loop))\n");
    const [, pid] = await console.says(/^(\d+)\n/m);
    console.process.kill("SIGTERM");
    expect(await console.exited).to.equal(143);
    await gone(Number(pid));
  });

  it("ends when nobody reads what it writes", async () => {
    const console = new PipedConsole();
    console.process.stdout.destroy();
    console.write("(loop repeat 100000 do (print 1))\n");
    expect(await console.exited).to.equal(1);
  });
});

describe("console on an image that is there", () => {
  it("uses it, and leaves it as it was", async () => {
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

  it("says how to have one listen when none does, and ends with 1", async () => {
    const { output, code } = await runScript(["(+ 1 2)"], ["--attach", "1"]);
    expect(output)
      .to.match(/^No Lisp can be reached\. /)
      .and.to.include("(swank:create-server :port 1 :dont-close t)");
    expect(code).to.equal(1);
  });
});
