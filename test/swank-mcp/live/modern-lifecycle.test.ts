import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { answered } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

function start(...args: string[]): McpStdio {
  return new McpStdio(args, { revision: "2026-07-28", capabilities: { elicitation: {} } });
}

describe("swank-mcp process with a client of protocol revision 2026-07-28", () => {
  it("answers the calls that came before the end of its input", async () => {
    const server = start();
    const late = server.call("evaluate-lisp", { code: "(progn (sleep 0.3) :late)" });
    expect(await server.end()).to.deep.equal({ code: 0, signal: null });
    expect(await late).to.have.nested.property("content[0].text", "=> :LATE");
  });

  it("does not wait for an answer to its question after the end of its input", async () => {
    const server = start();
    await server.call("evaluate-lisp", { code: '(error "stopped")' });
    await server.ask("debugger_eval_in_frame", { frame: 0, code: "(list 1)" });
    const began = performance.now();
    expect(await server.end()).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - began).to.be.below(10_000);
  });

  it("acts on the stop that the question was about, even after later stops", async () => {
    const server = start();
    await server.call("evaluate-lisp", { code: '(defun stop-with (x) (error "stopped with ~a" x))' });
    await server.call("evaluate-lisp", { code: "(stop-with 1)" });
    const peek = { frame: 0, code: "(list :x x)" };
    const question = await server.ask("debugger_eval_in_frame", peek);
    await server.call("evaluate-lisp", { code: "(stop-with 2)" });
    const given = await server.finish("debugger_eval_in_frame", peek, answered(question, "Yes"));
    expect(given).to.have.nested.property("content[0].text", "=> (:X 1)");
    await server.end();
  });

  it("launches no image for a client that only discovers it, even under --share", async () => {
    const folder = await mkdtemp(join(tmpdir(), "modern-lifecycle-"));
    const file = join(folder, "log");
    try {
      const server = start("--share", "--log-file", file);
      await server.request("server/discover");
      await setTimeout(300);
      await server.end();
      expect(server.errorText).to.equal("");
      expect(await readFile(file, "utf8")).to.not.match(/^\S+ \d+ (?:launch|client|image|connected)\b/m);
      const used = start("--share", "--log-file", file);
      await used.request("tools/list");
      while (!used.errorText.includes("shared on 127.0.0.1:")) await setTimeout(20);
      await used.end();
      expect(await readFile(file, "utf8")).to.include("client: test 0");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("is not disturbed by a second server whose client only discovers it", async () => {
    const [probe, used] = [start("--share"), start("--share")];
    await probe.request("server/discover");
    const evaluated = used.call("evaluate-lisp", { code: "(+ 1 2)" });
    expect(await probe.end()).to.deep.equal({ code: 0, signal: null });
    expect(await evaluated).to.have.nested.property("content[0].text", "=> 3");
    await used.end();
  });
});
