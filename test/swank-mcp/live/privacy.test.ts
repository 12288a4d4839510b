import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { McpStdio } from "../../support/mcp-stdio.js";

describe("swank-mcp and other users of the machine", () => {
  let server: McpStdio;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "swank-mcp-privacy-"));
  });
  afterEach(() => server.end());
  after(() => rm(folder, { recursive: true }));

  it("makes a log file that they cannot read", async () => {
    const file = join(folder, "log");
    server = await McpStdio.start(["--log-file", file]);
    await server.evaluate("1");
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
  });

  it("does not open Node's inspector at SIGUSR1", async () => {
    server = await McpStdio.start();
    server.process.kill("SIGUSR1");
    expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3"]);
    expect(server.errorText).to.equal("");
  });
});
