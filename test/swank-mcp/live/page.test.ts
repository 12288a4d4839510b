import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import type { PageCall } from "#swank-mcp/page/model.js";
import { HttpClient } from "../../support/http-client.js";
import { HttpServer } from "../../support/http-server.js";
import { PipedConsole } from "../../support/mcp-console.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { ask, type PageStream, PageVisitor, pageAddress } from "../../support/page-server.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";
import { ServerProcess } from "../../support/server-process.js";

async function streamOf(server: { readonly errorText: string }): Promise<PageStream> {
  return (await PageVisitor.open(await pageAddress(server))).events();
}

/** The call that has ended with this code. */
async function endedCall(stream: PageStream, code: string): Promise<PageCall> {
  const event = await stream.until(
    (each) => each.type === "call" && each.call.code === code && each.call.ended !== undefined,
  );
  if (event.type !== "call") throw new Error("This is no call.");
  return event.call;
}

/** Where lisp-status says that the page's address is. */
const PLACE = /^(http:\/\/127\.0\.0\.1:\d+\/), for the user, who finds the address with its token in (\/.*\.url)$/;

describe("swank-mcp --page", () => {
  let server: McpStdio;
  let stream: PageStream;
  before(async () => {
    server = await McpStdio.start(["--page"]);
    stream = await streamOf(server);
  });
  after(() => server.close());

  it("shows an agent's call with its output as it comes", async () => {
    const code = '(progn (format t "first~%") (finish-output) (sleep 0.3) (format t "second~%") 42)';
    const answer = server.evaluate(code);
    await stream.until((each) => each.type === "output" && each.text === "first\n");
    expect(stream.events.some((each) => each.type === "call" && each.call.ended !== undefined)).to.equal(false);
    expect((await answer).join()).to.include("=> 42");
    expect(await endedCall(stream, code)).to.include({
      outcome: "returned",
      summary: "=> 42",
      output: "first\nsecond\n",
    });
  });

  it("knows the agent by the name of its client, and that one of its threads is stopped", async () => {
    await server.evaluate('(error "seen")');
    const { stop } = await endedCall(stream, '(error "seen")');
    expect(stop).to.match(/^\d+\/1$/);
    const { name } = (await stream.state()).agents.find(({ isYou }) => isYou !== true) ?? {};
    expect(name).not.to.equal("you");
    await stream.until((each) => each.type === "agent" && each.agent.name === name && each.agent.state === "stopped");
  });

  it("tells the agent where the page is, but not the token, which only the user can read", async () => {
    const { structuredContent = {}, content } = await server.call("lisp-status");
    expect(structuredContent).to.include({ image: "own" });
    const [, page, file = ""] = PLACE.exec(String(structuredContent["page"])) ?? [];
    const address = await pageAddress(server);
    expect(address).to.include(page ?? "nothing");
    expect(JSON.stringify({ structuredContent, content })).not.to.include(new URL(address).searchParams.get("token"));
    expect(readFileSync(file, "utf8")).to.equal(`${address}\n`);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect((await ask(Number(new URL(address).port), "/")).body).to.include(file);
  });

  it("ends with its client, and takes the file with the address away", async () => {
    const other = await McpStdio.start(["--page"]);
    const pages = await streamOf(other);
    await other.evaluate("1");
    const [, , file = ""] = PLACE.exec(String((await other.call("lisp-status")).structuredContent?.["page"])) ?? [];
    expect(await other.end()).to.deep.equal({ code: 0, signal: null });
    await pages.until(() => false).catch(() => undefined);
    expect(() => statSync(file)).to.throw(/ENOENT/);
  });

  it("goes on without a page if another program has its port, and says so", async () => {
    const { port } = new URL(await pageAddress(server));
    const why = `swank-mcp: Another program listens on port ${port} of 127.0.0.1. Choose another with --page.`;
    const other = await McpStdio.start(["--page", port]);
    expect(other.errorText).to.equal(`${why} This server goes on without a page.\n`);
    expect((await other.call("lisp-status")).structuredContent).not.to.have.property("page");
    await other.close();
    const page = new ServerProcess(["page", "--attach", "4005", "--page", port]);
    expect(await page.end()).to.deep.equal({ code: 2, signal: null });
    expect(page.errorText).to.equal(`${why}\n`);
  });

  it("is in no other start: neither its code nor a port", () => {
    const programs = new URL("../../../../packages/swank-mcp/dist/program/", import.meta.url);
    const textOf = (name: string) => readFileSync(fileURLToPath(new URL(name, programs)), "utf8");
    expect(textOf("swank-mcp-http.cjs")).to.include("swank-page-");
    expect(textOf("swank-mcp.cjs")).not.to.include("swank-page-");
  });
});

describe("swank-mcp http --page", () => {
  it("shows the calls of all clients, and ends the stream of the page at the end", async () => {
    const http = await HttpServer.start(["--page"]);
    try {
      const stream = await streamOf(http);
      const [one, two] = [new HttpClient(http.client("one")), new HttpClient(http.client("two"))];
      await Promise.all([one.evaluate("(+ 1 1)"), two.evaluate("(+ 2 2)")]);
      expect(await endedCall(stream, "(+ 1 1)")).to.include({ agentName: "one", summary: "=> 2" });
      expect(await endedCall(stream, "(+ 2 2)")).to.include({ agentName: "two", summary: "=> 4" });
      expect((await one.call("lisp-status")).structuredContent).to.have.property("page");
      expect((await http.close()).code).to.equal(143);
      await stream.until(() => false).catch(() => undefined);
      expect(stream.hasEnded).to.equal(true);
    } finally {
      http.kill("SIGKILL");
    }
  });
});

describe("swank-mcp console --page", () => {
  it("shows what the person types", async () => {
    const console = new PipedConsole(["--page"]);
    const stream = await streamOf(console);
    console.write("(* 6 7)\n");
    expect(await endedCall(stream, "(* 6 7)")).to.include({
      agentName: "console",
      outcome: "returned",
      summary: "=> 42",
    });
    const { output, code } = await console.finish();
    expect(output).to.include("=> 42");
    expect(code).to.equal(0);
  });
});

describe("swank-mcp page --attach", () => {
  let image: RealSwank;
  before(async () => {
    image = await startRealSwank();
  });
  after(() => image.stop());

  it("serves the page alone until a signal ends it", async () => {
    const server = new ServerProcess(["page", "--attach", String(image.port)]);
    const stream = await streamOf(server);
    expect((await stream.state()).server).to.include({ mode: "image", isReadOnly: false });
    server.process.kill("SIGTERM");
    expect((await server.exited).code).to.equal(143);
    expect(stream.hasEnded).to.equal(true);
  });

  it("only shows, if it is told so", async () => {
    const server = new ServerProcess(["page", "--attach", String(image.port), "--page-read-only"]);
    const visitor = await PageVisitor.open(await pageAddress(server));
    const reply = await visitor.post("act", { act: "evaluate", code: "(quit)" });
    expect(reply).to.have.nested.property("error.code", "READ_ONLY");
    server.process.kill("SIGTERM");
    await server.exited;
  });
});
