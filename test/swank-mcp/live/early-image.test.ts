import { cp, readdir, readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { liveFolder } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { LAUNCH_CACHE } from "../../support/test-cache.js";

const CONNECTED = /connected to the image with pid (?<pid>\d+)/;

describe("swank-mcp before the first call", () => {
  const folder = liveFolder("early-image", { each: true });

  it("launches the image when the client lists the tools, and no earlier", async () => {
    const log = join(folder, "log");
    const server = await McpStdio.start(["--log-file", log]);
    await server.request("ping", {});
    await setTimeout(300);
    expect(await readFile(log, "utf8")).to.not.match(CONNECTED);
    await server.request("tools/list", {});
    let pid: string | undefined;
    while (pid === undefined) {
      await setTimeout(20);
      pid = CONNECTED.exec(await readFile(log, "utf8"))?.groups?.["pid"];
    }
    expect(await server.imagePid()).to.equal(Number(pid));
    await server.end();
  });

  it("ends without waiting for an image that no call needs", async () => {
    const server = await McpStdio.start(["--cache-dir", folder]);
    await server.request("tools/list", {});
    expect(await server.end()).to.deep.equal({ code: 0, signal: null });
    expect((await readdir(folder)).filter((name) => name.endsWith(".core"))).to.deep.equal([]);
  });

  it("says that there is no core, and answers the first call while one for later launches is built", async function () {
    // The build has a lower priority than everything else on the machine.
    this.timeout(300_000);
    // Compiling Swank and the runtime would take most of the time.
    await cp(LAUNCH_CACHE, folder, { recursive: true, filter: (file) => !file.endsWith(".core") });
    const log = join(folder, "log");
    const server = await McpStdio.start(["--cache-dir", folder, "--log-file", log]);
    const call = server.startCall("evaluate-lisp", { code: "(+ 1 2)" });
    const { params } = await server.progressOf(call);
    expect(params?.["message"]).to.match(/^There is no Lisp core for this SBCL and Swank yet\. Swank is loaded/);
    expect(server.errorText).to.match(
      /^swank-mcp: There is no Lisp core for this SBCL and Swank yet\. Swank is loaded.*\n$/,
    );
    expect(blocks(await call.result)).to.deep.equal(["=> 3"]);
    let text = "";
    while (!/launched SBCL .*, without a core/.test(text) || !text.includes("the core for later launches: ")) {
      await setTimeout(50);
      text = await readFile(log, "utf8");
    }
    expect(text).to.include("launch: the core for later launches: built");
    await server.end();
    expect((await readdir(folder)).filter((name) => name.endsWith(".core"))).to.have.length(1);
  });

  it("does not connect to an attached image", async () => {
    let connections = 0;
    const swank = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => swank.listen(0, "127.0.0.1", resolve));
    const { port } = addressOf(swank.address());
    const server = await McpStdio.start(["--attach", String(port)]);
    await server.request("tools/list", {});
    await setTimeout(300);
    expect(connections).to.equal(0);
    await server.call("evaluate-lisp", { code: "1" });
    // A connection that is reset is tried again.
    expect(connections).to.be.at.least(1);
    await server.end();
    swank.close();
  });
});

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === "string") throw new Error("It does not listen on a port.");
  return address;
}
