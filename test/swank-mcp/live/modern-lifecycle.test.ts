import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import * as z from "zod";
import { McpStdio } from "../../support/mcp-stdio.js";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "newer", version: "7" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

const asking = z.looseObject({ resultType: z.literal("input_required"), requestState: z.string() });

/** Calls a tool like a client of protocol revision 2026-07-28. */
function call(server: McpStdio, name: string, args: object): Promise<unknown> {
  return server.request("tools/call", { name, arguments: args, _meta: META });
}

describe("swank-mcp process with a client of protocol revision 2026-07-28", () => {
  it("answers the calls that came before the end of its input", async () => {
    const server = new McpStdio([]);
    const late = call(server, "evaluate-lisp", { code: "(progn (sleep 0.3) :late)" });
    expect(await server.end()).to.deep.equal({ code: 0, signal: null });
    expect(await late).to.have.nested.property("content[0].text", "=> :LATE");
  });

  it("does not wait for an answer to its question after the end of its input", async () => {
    const server = new McpStdio([]);
    await call(server, "evaluate-lisp", { code: '(error "stopped")' });
    const asked = await call(server, "debugger_eval_in_frame", { frame: 0, code: "(list 1)" });
    expect(asked).to.have.property("resultType", "input_required");
    const began = performance.now();
    expect(await server.end()).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - began).to.be.below(10_000);
  });

  it("acts on the stop that the question was about, even after later stops", async () => {
    const server = new McpStdio([]);
    await call(server, "evaluate-lisp", { code: '(defun stop-with (x) (error "stopped with ~a" x))' });
    await call(server, "evaluate-lisp", { code: "(stop-with 1)" });
    const peek = { frame: 0, code: "(list :x x)" };
    const { requestState } = asking.parse(await call(server, "debugger_eval_in_frame", peek));
    await call(server, "evaluate-lisp", { code: "(stop-with 2)" });
    const yes = { approval: { action: "accept", content: { answer: "Yes" } } };
    const given = { name: "debugger_eval_in_frame", arguments: peek, requestState, inputResponses: yes, _meta: META };
    expect(await server.request("tools/call", given)).to.have.nested.property("structuredContent.values[0]", "(:X 1)");
    await server.end();
  });

  it("refuses a yes for a stop that has ended", async () => {
    const server = new McpStdio(["--max-stops", "1"]);
    await call(server, "evaluate-lisp", { code: '(error "old")' });
    const peek = { frame: 0, code: "(list 1)" };
    const { requestState } = asking.parse(await call(server, "debugger_eval_in_frame", peek));
    await call(server, "evaluate-lisp", { code: '(error "new")' });
    const yes = { approval: { action: "accept", content: { answer: "Yes" } } };
    const given = { name: "debugger_eval_in_frame", arguments: peek, requestState, inputResponses: yes, _meta: META };
    expect(await server.request("tools/call", given)).to.have.nested.property(
      "structuredContent.error.data.type",
      "STALE_STOP",
    );
    await server.end();
  });

  it("launches no image for a client that only discovers it, even under --share", async () => {
    const folder = await mkdtemp(join(tmpdir(), "modern-lifecycle-"));
    const file = join(folder, "log");
    try {
      const server = new McpStdio(["--share", "--log-file", file]);
      await server.request("server/discover", { _meta: META });
      await setTimeout(300);
      await server.end();
      expect(server.errorText).to.equal("");
      expect(await readFile(file, "utf8")).to.not.match(/^\S+ \d+ (?:launch|client|image|connected)\b/m);
      const used = new McpStdio(["--share", "--log-file", file]);
      await used.request("tools/list", { _meta: META });
      while (!used.errorText.includes("shared on 127.0.0.1:")) await setTimeout(20);
      await used.end();
      expect(await readFile(file, "utf8")).to.include("client: newer 7");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("is not disturbed by a second server whose client only discovers it", async () => {
    const [probe, used] = [new McpStdio(["--share"]), new McpStdio(["--share"])];
    await probe.request("server/discover", { _meta: META });
    const evaluated = call(used, "evaluate-lisp", { code: "(+ 1 2)" });
    expect(await probe.end()).to.deep.equal({ code: 0, signal: null });
    expect(await evaluated).to.have.nested.property("content[0].text", "=> 3");
    await used.end();
  });
});
