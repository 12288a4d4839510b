import { once } from "node:events";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createConnection, createServer, type Server } from "node:net";
import { join as joinPath } from "node:path";
import { expect } from "chai";
import { connect, type SwankClient } from "swank-client";
import { liveFolder } from "../../support/live-server.js";
import { gone } from "../../support/mcp-processes.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("It does not listen on a port.");
  return address.port;
}

const MADE_SECRET =
  /^swank-mcp: shared on 127\.0\.0\.1:(?<port>\d+)\. A secret was created in (?<file>\S+), because there is no/gm;

/** Connects, sends a text, and returns what the server sends until it disconnects. */
async function hungUp(port: number, text: string): Promise<string> {
  const socket = createConnection(port, "127.0.0.1");
  socket.on("error", () => undefined).end(text);
  let answer = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    answer += part;
  });
  await once(socket, "close");
  return answer;
}

/** Starts a server and lists its tools, as every client does. */
async function startShared(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<McpStdio> {
  const server = await McpStdio.start(args, environment);
  await server.request("tools/list", {});
  return server;
}

describe("swank-mcp --share", () => {
  let server: McpStdio;
  const others: SwankClient[] = [];

  afterEach(async () => {
    await Promise.all(others.splice(0).map((other) => other.close()));
    await server.end();
  });

  /** Returns the last port on standard error and the file of the created secret, without calling a tool. */
  async function sharedAt(count = 1): Promise<{ readonly port: number; readonly file: string }> {
    for (;;) {
      const told = [...server.errorText.matchAll(MADE_SECRET)];
      const { port = "", file = "" } = told.at(-1)?.groups ?? {};
      if (told.length >= count) return { port: Number(port), file };
      await once(server.process.stderr, "data");
    }
  }

  async function join(shared: { readonly port: number; readonly file: string }): Promise<SwankClient> {
    const other = await connect({ port: shared.port, secret: { file: shared.file } });
    others.push(other);
    return other;
  }

  async function valuesFor(other: SwankClient, code: string): Promise<readonly string[]> {
    const outcome = await other.evaluate(code).next();
    return outcome.status === "returned" ? outcome.values : [outcome.status];
  }

  it("listens on any free port before the agent's first call, and lisp-status names the port", async () => {
    server = await startShared(["--share"]);
    const shared = await sharedAt();
    const other = await join(shared);
    await valuesFor(other, "(defun sh-hello () :from-the-other)");
    expect(await server.evaluate("(sh-hello)")).to.deep.equal(["=> :FROM-THE-OTHER"]);
    const { structuredContent } = await server.call("lisp-status");
    const { port, file } = shared;
    const address = { shared: `127.0.0.1:${port}`, shared_secret: file };
    expect(structuredContent).to.include({ image: "own", ...address, pid: other.info.pid });
  });

  it("keeps the image at reset-session while another client is connected, and otherwise replaces it on the same port", async () => {
    server = await startShared(["--share"]);
    const shared = await sharedAt();
    const other = await join(shared);
    await valuesFor(other, "(defvar *sh-theirs* :kept)");
    await server.evaluate("(defun sh-mine () 1)");
    expect(blocks(await server.call("reset-session"))).to.deep.equal([
      "Session reset. The package is COMMON-LISP-USER.\n\n[undefined]\nfunction COMMON-LISP-USER::SH-MINE",
      "The image was kept because another client is connected to it.",
    ]);
    expect(await valuesFor(other, "(list *sh-theirs* (fboundp 'sh-mine))")).to.deep.equal(["(:KEPT NIL)"]);
    await other.close();
    const pid = await server.imagePid();
    let reset = blocks(await server.call("reset-session"));
    // The image may not have detected yet that the other client has disconnected.
    while (reset.length > 1) reset = blocks(await server.call("reset-session"));
    expect(reset[0]).to.match(/^Session reset\. A fresh image/);
    await gone(pid);
    expect(await sharedAt(2)).to.deep.equal(shared);
    expect(await valuesFor(await join(shared), "(boundp '*sh-theirs*)")).to.deep.equal(["NIL"]);
  });

  it("rejects clients without the secret, and is not blocked by clients that send none", async () => {
    server = await startShared(["--share"]);
    const shared = await sharedAt();
    const request = '(:emacs-rex (swank:connection-info) "CL-USER" t 1)';
    const packet = `${request.length.toString(16).padStart(6, "0")}${request}`;
    for (const text of [packet, "000006secret", "ffffff(", "GET / HTTP/1.1\r\n\r\n", "", "00"]) {
      expect(await hungUp(shared.port, text), text).to.equal("");
    }
    const silent = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const socket = createConnection(shared.port, "127.0.0.1");
        await once(
          socket.on("error", () => undefined),
          "connect",
        );
        return socket;
      }),
    );
    expect(await valuesFor(await join(shared), "(+ 1 2)")).to.deep.equal(["3"]);
    for (const socket of silent) socket.destroy();
    expect(await valuesFor(await join(shared), "(+ 1 2)")).to.deep.equal(["3"]);
    expect(await server.evaluate("(length swank::*connections*)")).to.deep.equal(["=> 3"]);
  });

  it("keeps the secret for the next server, in a file that only the user can read", async () => {
    server = await startShared(["--share"]);
    const { file } = await sharedAt();
    const secret = await readFile(file, "utf8");
    expect(secret).to.match(/^[0-9a-f]{32}$/);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect(server.errorText).not.to.include(secret);
    await server.end();
    server = await startShared(["--share"]);
    expect((await sharedAt()).file).to.equal(file);
    expect(await readFile(file, "utf8")).to.equal(secret);
  });

  describe("with a home folder that has a ~/.slime-secret", () => {
    const home = liveFolder("swank-mcp-home", { each: true });
    const file = joinPath(home, ".slime-secret");
    beforeEach(() => writeFile(file, "open sesame\n", { mode: 0o600 }));

    async function said(...args: readonly string[]): Promise<string> {
      server = await startShared(["--share", ...args], { HOME: home });
      while (!server.errorText.includes("\n")) await once(server.process.stderr, "data");
      return server.errorText;
    }

    it("requires that secret, which Emacs sends automatically", async () => {
      const line = /^swank-mcp: shared: M-x slime-connect RET 127\.0\.0\.1 RET (\d+)\n$/.exec(await said());
      const port = Number(line?.[1]);
      expect(await valuesFor(await join({ port, file }), "(+ 1 2)")).to.deep.equal(["3"]);
      expect(await hungUp(port, "00000bopen sesamy")).to.equal("");
    });

    it("does not share the image if other users can read the file", async () => {
      await chmod(file, 0o644);
      expect(await said()).to.equal(
        `swank-mcp: The image is not shared: The secret in ${file} is not safe: other users can read the file. Make it readable for its owner only: chmod 600 ${file}\n`,
      );
      expect((await server.evaluate("(+ 1 2)"))[0]).to.equal("=> 3");
    });

    it("requires no secret under --no-secret, and says who can connect", async () => {
      const line =
        /^swank-mcp: shared: M-x slime-connect RET 127\.0\.0\.1 RET (\d+)\. No secret is required: every user of this machine can connect\.\n$/;
      const port = Number(line.exec(await said("--no-secret"))?.[1]);
      const other = await connect({ port, secret: false });
      others.push(other);
      expect(await valuesFor(other, "(+ 1 2)")).to.deep.equal(["3"]);
    });
  });

  describe("on a port that is in use", () => {
    let listener: Server;
    let port: number;

    beforeEach(async () => {
      listener = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
      await once(listener, "listening");
      port = portOf(listener.address());
    });

    it("serves the agent, and reports the problem to the agent and on standard error", async () => {
      server = await startShared(["--share", String(port)]);
      const problem = `The image is not shared: another program listens on port ${port}. Start swank-mcp with another --share port, or with --share alone for any free port.`;
      expect(await server.evaluate("(+ 1 2)")).to.deep.equal(["=> 3", problem]);
      expect(server.errorText).to.equal(`swank-mcp: ${problem}\n`);
      const { structuredContent } = await server.call("lisp-status");
      expect(structuredContent).to.include({ not_shared: problem }).and.not.have.property("shared");
      listener.close();
      await server.call("reset-session");
      expect((await sharedAt()).port).to.equal(port);
    });
  });
});
