import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { expect } from "chai";
import { connect, type SwankClient } from "swank-client";
import { gone } from "../../support/mcp-processes.js";
import { blocks, McpStdio } from "../../support/mcp-stdio.js";

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("It does not listen on a port.");
  return address.port;
}

describe("an image of the server's own that others may join", () => {
  let server: McpStdio;
  const others: SwankClient[] = [];

  afterEach(async () => {
    await Promise.all(others.splice(0).map((other) => other.close()));
    await server.end();
  });

  /** The port that standard error names last; needs no call of a tool. */
  async function sharedPort(count = 1): Promise<number> {
    for (;;) {
      const told = [
        ...server.errorText.matchAll(/^swank-mcp: shared: M-x slime-connect RET 127\.0\.0\.1 RET (\d+)$/gm),
      ];
      if (told.length >= count) return Number(told.at(-1)?.[1]);
      await once(server.process.stderr, "data");
    }
  }

  async function join(port: number): Promise<SwankClient> {
    const other = await connect({ port });
    others.push(other);
    return other;
  }

  async function valuesFor(other: SwankClient, code: string): Promise<readonly string[]> {
    const outcome = await other.evaluate(code).next();
    return outcome.status === "returned" ? outcome.values : [outcome.status];
  }

  it("is there before the agent calls anything, on any free port, and lisp-status tells which", async () => {
    server = await McpStdio.start(["--share"]);
    const port = await sharedPort();
    const other = await join(port);
    await valuesFor(other, "(defun sh-hello () :from-the-other)");
    expect(await server.evaluate("(sh-hello)")).to.deep.equal(["=> :FROM-THE-OTHER"]);
    const { structuredContent } = await server.call("lisp-status");
    expect(structuredContent).to.include({ image: "own", shared: `127.0.0.1:${port}`, pid: other.info.pid });
  });

  it("is kept by reset-session as long as somebody is connected, and replaced on the same port afterwards", async () => {
    server = await McpStdio.start(["--share"]);
    const port = await sharedPort();
    const other = await join(port);
    await valuesFor(other, "(defvar *sh-theirs* :kept)");
    await server.evaluate("(defun sh-mine () 1)");
    expect(blocks(await server.call("reset-session"))).to.deep.equal([
      "Session reset. The package is COMMON-LISP-USER.\n\n[undefined]\nfunction COMMON-LISP-USER::SH-MINE",
      "The image was kept, as somebody else is connected to it.",
    ]);
    expect(await valuesFor(other, "(list *sh-theirs* (fboundp 'sh-mine))")).to.deep.equal(["(:KEPT NIL)"]);
    await other.close();
    const pid = await server.imagePid();
    let reset = blocks(await server.call("reset-session"));
    // the image may not have noticed yet that the other one has gone
    while (reset.length > 1) reset = blocks(await server.call("reset-session"));
    expect(reset[0]).to.match(/^Session reset\. A fresh image/);
    await gone(pid);
    expect(await sharedPort(2)).to.equal(port);
    expect(await valuesFor(await join(port), "(boundp '*sh-theirs*)")).to.deep.equal(["NIL"]);
  });

  describe("on a port that is in use", () => {
    let listener: Server;
    let port: number;

    beforeEach(async () => {
      listener = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
      await once(listener, "listening");
      port = portOf(listener.address());
    });

    it("is as good for the agent, who is told, as is whoever started the server", async () => {
      server = await McpStdio.start(["--share", String(port)]);
      const problem = `The image is not shared: something else listens on port ${port}. Start swank-mcp with another --share, or with --share alone for any free port.`;
      expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3", problem]);
      expect(server.errorText).to.equal(`swank-mcp: ${problem}\n`);
      const { structuredContent } = await server.call("lisp-status");
      expect(structuredContent).to.include({ not_shared: problem }).and.not.have.property("shared");
      listener.close();
      await server.call("reset-session");
      expect(await sharedPort()).to.equal(port);
    });
  });
});
