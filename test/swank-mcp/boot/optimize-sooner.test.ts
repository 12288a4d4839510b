import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { optimizationSettings } from "swank-mcp";

const run = promisify(execFile);

describe("optimizationSettings", () => {
  it("are accepted by this version of V8 without a message", async () => {
    const settings = optimizationSettings(process.versions.v8);
    const script = `for (const setting of ${JSON.stringify(settings)}) require("node:v8").setFlagsFromString(setting)`;
    expect(await run(process.execPath, ["--eval", script])).to.deep.equal({ stdout: "", stderr: "" });
  });

  it("exist for the versions of V8 in Node 20, 22 and 24, and for no other", () => {
    for (const known of ["11.3.244.8-node.38", "12.4.254.21-node.33", "13.6.233.17-node.37"])
      expect(optimizationSettings(known)).to.not.deep.equal([]);
    for (const unknown of ["10.2.154.26-node.36", "14.1.146.11-node.9"])
      expect(optimizationSettings(unknown)).to.deep.equal([]);
  });
});
