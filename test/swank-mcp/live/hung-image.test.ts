import { expect } from "chai";
import { refusalType } from "../../support/mcp-client.js";
import { blocks, McpStdio } from "../../support/mcp-stdio.js";
import { startRealSwank } from "../../support/real-swank.js";

describe("an image that hangs", () => {
  it("leaves lisp-status what was known, and is replaced by reset-session", async () => {
    const server = await McpStdio.start();
    const pid = await server.imagePid();
    process.kill(pid, "SIGSTOP");
    const { structuredContent, isError } = await server.call("lisp-status");
    expect(isError).to.equal(false);
    expect(structuredContent).to.deep.include({ image: "own", pid, package: "COMMON-LISP-USER", stopped: [] });
    expect(structuredContent?.["unresponsive"]).to.match(/^The image does not answer: /);
    expect(blocks(await server.call("reset-session"))[0]).to.match(/^Session reset\. A fresh image/);
    expect(await server.evaluate("1")).to.deep.equal(["=> 1"]);
    await server.end();
  });

  it("is left as it is by reset-session when it is somebody else's", async () => {
    const lisp = await startRealSwank();
    const server = await McpStdio.start(["--attach", String(lisp.port)]);
    await server.evaluate("(defun hung-image () 1)");
    lisp.process.kill("SIGSTOP");
    expect(refusalType(await server.call("reset-session"))).to.equal("REQUEST_TIMEOUT");
    lisp.process.kill("SIGCONT");
    expect(await server.evaluate("(hung-image)")).to.deep.equal(["=> 1"]);
    await server.end();
    await lisp.stop();
  });
});
