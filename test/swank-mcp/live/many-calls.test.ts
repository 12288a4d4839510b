import { expect } from "chai";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

/** Number of calls that the server runs at the same time. */
const MOST = 256;

describe("swank-mcp at its limit of running calls", () => {
  it("answers pings and resets the session immediately while another call waits", async () => {
    const server = await McpStdio.start(["--approval", "off"]);
    const first = await server.imagePid();
    const sleeping = Array.from({ length: MOST }, () => server.evaluate("(sleep 600)", { timeout: 700 }));
    const waiting = server.evaluate("'served");
    expect(await server.request("ping", {})).to.deep.equal({});
    expect(blocks(await server.call("reset-session"))[0]).to.match(/^Session reset\. A fresh image/);
    for (const [answer] of await Promise.all(sleeping)) expect(answer).to.match(/reset/);
    expect(await waiting).to.deep.equal(["=> SERVED"]);
    expect(await server.imagePid()).to.not.equal(first);
    expect((await server.end()).code).to.equal(0);
  });
});
