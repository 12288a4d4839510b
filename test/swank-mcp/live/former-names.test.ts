import { expect } from "chai";
import { CATALOGUE, readConfig } from "swank-mcp";
import { allBlocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

/** Calls with the former name of `mode`. */
const CALLS = [
  ["heap", "what", "path", { object: 999_999_999 }],
  ["heap", "what", "summary", { type: "former" }],
  ["heap", "what", "nothing", {}],
  ["interrupt-thread", "action", "kill", { thread: 999_999_999 }],
  ["find-references", "kind", "callers", { name: "former-callee" }],
] as const;

describe("The former name of the argument mode", () => {
  let server: McpStdio;

  before(async () => {
    server = await McpStdio.start();
    await server.evaluate("(defstruct former) (defun former-callee () 1) (defun former-caller () (former-callee))");
  });
  after(() => server.end());

  async function answer(tool: string, args: object): Promise<string> {
    const text = allBlocks(await server.call(tool, { ...args })).join("\n");
    return text.replaceAll(/[\d.,]+ (?:µs|ms|s|[kMG]?B)\b/g, "N");
  }

  for (const [tool, former, mode, args] of CALLS)
    it(`gives the same answer: ${tool} ${former} ${mode}`, async () => {
      const today = await answer(tool, { ...args, mode });
      expect(today).to.not.include(`"${former}"`);
      expect(await answer(tool, { ...args, [former]: mode })).to.equal(today);
      expect(await answer(tool, { ...args, [former]: mode, mode })).to.equal(today);
    });

  it("is refused beside another mode", async () => {
    expect(await answer("heap", { mode: "summary", what: "path" })).to.include(
      'heap: "mode" and "what" are one argument, but have two values.',
    );
  });

  it("is in no schema", () => {
    for (const [name, former] of CALLS) {
      const tool = CATALOGUE.find((declared) => declared.name === name)?.for(readConfig([], {}));
      expect(tool?.inputSchema.properties).to.have.property("mode");
      expect(tool?.inputSchema.properties).to.not.have.property(former);
    }
  });
});
