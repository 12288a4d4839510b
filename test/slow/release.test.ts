import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";

const RUN = fileURLToPath(new URL("../../../scripts/run.mjs", import.meta.url));

describe("npm run release -- --dry-run", () => {
  it("installs and starts all that would be published, lists it, and publishes nothing", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [RUN, "release", "--dry-run"], {
      // Without a token, nothing could be published.
      env: { ...process.env, NODE_AUTH_TOKEN: "" },
      maxBuffer: 2 ** 26,
    });
    for (const part of [
      "packages with Node 20",
      "packages with Node 22",
      "packages with Node 24",
      ".mcpb",
      "Emacs package",
    ])
      expect(stdout).to.include(`ok     ${part}\n`);
    for (const file of ["sexp-parser", "swank-client", "swank-mcp"])
      expect(stdout).to.match(new RegExp(`^npm +dist/release/${file}-[\\d.]+\\.tgz +\\d+ bytes`, "m"));
    expect(stdout).to.include("Nothing was published: this was a dry run.");
  });
});
