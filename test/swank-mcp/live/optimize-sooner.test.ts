import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { optimizationSettings } from "swank-mcp";
import { McpStdio } from "../../support/mcp-stdio.js";

/** Writes V8's settings to stderr when they are changed, and changes them. */
const REPORT = `
import v8 from "node:v8";
import { syncBuiltinESMExports } from "node:module";
const set = v8.setFlagsFromString;
v8.setFlagsFromString = (setting) => { process.stderr.write("<" + setting + ">"); set(setting); };
syncBuiltinESMExports();`;

describe("swank-mcp and V8's settings", () => {
  it("changes them once, when the first call has ended", async () => {
    const server = await McpStdio.start([], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REPORT)}`,
    });
    try {
      await server.request("tools/list");
      await pause(200);
      expect(server.errorText).to.not.include("<--");
      expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
      const settings = optimizationSettings(process.versions.v8).map((setting) => `<${setting}>`);
      const last = settings.at(-1) ?? "";
      while (!server.errorText.includes(last)) await pause(20);
      expect(await server.evaluate("(+ 3 4)")).to.deep.equal(["=> 7"]);
      expect(server.errorText.match(/<--[^>]*>/g)).to.deep.equal(settings);
    } finally {
      await server.close();
    }
  });
});
