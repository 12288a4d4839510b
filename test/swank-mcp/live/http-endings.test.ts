import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { HttpClient, messagesOf } from "../../support/http-client.js";
import { HttpServer, newTokenFile } from "../../support/http-server.js";
import { liveHttp } from "../../support/live-server.js";
import { gone } from "../../support/mcp-processes.js";

/** Code that runs until it is unwound, and then sets a variable. */
const UNTIL_UNWOUND =
  "(progn (defvar *begun* nil) (defvar *unwound* nil) (setf *begun* t) (unwind-protect (sleep 60) (setf *unwound* t)))";

const ERAS = ["2025", "2026"] as const;

async function clientOf(era: (typeof ERAS)[number], http: HttpServer): Promise<HttpClient> {
  return era === "2025" ? HttpClient.initialized(http.client()) : new HttpClient(http.client());
}

async function statusOf(client: HttpClient): Promise<Record<string, unknown>> {
  return (await client.call("lisp-status")).structuredContent ?? {};
}

async function until(client: HttpClient, variable: string): Promise<void> {
  while (!(await client.evaluate(`(and (boundp '${variable}) ${variable})`)).startsWith("=> T")) await setTimeout(50);
}

for (const era of ERAS) {
  describe(`a client of ${era} over HTTP`, () => {
    const http = liveHttp({ each: true, args: ["--session-minutes", "0.05"] });
    let client: HttpClient;
    let watcher: HttpClient;

    beforeEach(async () => {
      client = await clientOf(era, http);
      watcher = await clientOf("2026", http);
    });

    it("ends its call in the image when it closes the connection", async () => {
      const closing = new AbortController();
      const call = client.begin("evaluate-lisp", { code: UNTIL_UNWOUND }, { signal: closing.signal }).then(messagesOf);
      const failed = call.catch(() => "cut");
      await until(watcher, "*begun*");
      closing.abort();
      expect(await failed).to.equal("cut");
      await until(watcher, "*unwound*");
      expect(await client.evaluate("1")).to.match(/^=> 1/);
    });

    it("keeps the stop of a call that was answered", async () => {
      await client.evaluate('(error "kept")');
      await setTimeout(500);
      expect((await client.call("debugger_restarts")).structuredContent).to.have.property("restarts");
    });

    it("keeps a background evaluation after the call that began it", async () => {
      await client.call("evaluate-lisp", { code: "(progn (sleep 0.7) (defvar *done* t))", background: true });
      await until(watcher, "*done*");
    });

    it("is forgotten when it sends nothing for a while, with its stops and breakpoints", async () => {
      await client.evaluate("(defun forgotten (x) x)");
      await client.call("breakpoint_set", { function: "forgotten", thread: "any" });
      await client.evaluate('(error "forgotten")');
      const { pid } = await statusOf(client);
      const listed = async () => JSON.stringify((await statusOf(watcher))["stopped"]);
      expect(await listed()).to.include("forgotten");
      while ((await listed()).includes("forgotten")) await setTimeout(200);
      expect(await watcher.evaluate("(forgotten 1)")).to.match(/^=> 1/);
      const after = await client.begin("describe-last-error");
      if (era === "2025") expect(after.status).to.equal(404);
      else expect(await after.text()).to.include("No error");
      expect((await statusOf(watcher))["pid"]).to.equal(pid);
    });
  });
}

describe("a session over HTTP", () => {
  const http = liveHttp();

  it("ends the stream of a cancelled call, and the call", async () => {
    const client = await HttpClient.initialized(http.client());
    const message = { jsonrpc: "2.0", id: 77, method: "tools/call" };
    const call = client.post({ ...message, params: { name: "evaluate-lisp", arguments: { code: UNTIL_UNWOUND } } });
    await until(client, "*begun*");
    await client.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 77 } });
    expect(await messagesOf(await call)).to.have.nested.property("[0].error.message", "The request was cancelled.");
    await until(client, "*unwound*");
  });

  it("refuses a request with the id of an open one", async () => {
    const client = await HttpClient.initialized(http.client());
    const message = { jsonrpc: "2.0", id: 5, method: "tools/call" };
    const call = (code: string) => client.post({ ...message, params: { name: "evaluate-lisp", arguments: { code } } });
    const first = call("(sleep 1)");
    await setTimeout(300);
    const second = await call("2");
    expect(second.status).to.equal(400);
    expect(await second.text()).to.include("still in progress");
    expect(await messagesOf(await first)).to.have.nested.property("[0].result");
  });
});

describe("an image whose clients have all gone", () => {
  const http = liveHttp({ args: ["--session-minutes", "0.02", "--stop-minutes", "0.02"] });

  it("ends the stop of a thread that fails meanwhile", async () => {
    const client = await HttpClient.initialized(http.client());
    await client.evaluate('(defvar *left* (sb-thread:make-thread (lambda () (sleep 4) (error "nobody there"))))');
    const { pid } = await statusOf(client);
    await client.delete();
    await setTimeout(6000);
    const later = new HttpClient(http.client());
    while (!(await later.evaluate("(sb-thread:thread-alive-p *left*)")).startsWith("=> NIL")) await setTimeout(200);
    expect((await statusOf(later))["pid"]).to.equal(pid);
  });
});

describe("an HTTP server that ends", () => {
  it("answers running calls, and leaves no process", async () => {
    const http = await HttpServer.start();
    const clients = [await clientOf("2025", http), await clientOf("2026", http)];
    const pid = Number((await statusOf(clients[0] ?? new HttpClient(http.client())))["pid"]);
    const stream = await fetch(http.url, {
      headers: {
        accept: "text/event-stream",
        authorization: `Bearer ${clients[0]?.at.token}`,
        "mcp-session-id": clients[0]?.session ?? "",
      },
    });
    const calls = clients.map((client) => client.call("evaluate-lisp", { code: "(sleep 60)" }));
    await setTimeout(500);
    expect((await http.close()).code).to.equal(143);
    for (const { structuredContent } of await Promise.all(calls))
      expect(structuredContent).to.have.nested.property("error.data.type", "SHUTTING_DOWN");
    expect(await stream.text()).to.match(/^(: keepalive\n\n)*$/);
    await gone(pid);
  });

  it("takes its image with it when it is killed", async () => {
    const http = await HttpServer.start();
    const client = new HttpClient(http.client());
    const pid = Number((await statusOf(client))["pid"]);
    const call = client.evaluate("(sleep 60)").catch(() => "cut");
    await setTimeout(300);
    http.kill("SIGKILL");
    expect(await call).to.equal("cut");
    await gone(pid);
    await http.close();
  });

  it("serves clients of 2026 after it was started again, and sends those of 2025 to initialize", async () => {
    const tokenFile = newTokenFile();
    const first = await HttpServer.start([], { tokenFile });
    const modern = new HttpClient(first.client());
    const old = await HttpClient.initialized(first.client());
    const { port } = first;
    first.kill("SIGTERM");
    await first.exited;
    const second = await HttpServer.start([], { port, tokenFile });
    expect(second.output).not.to.include("A token was made");
    expect(await modern.evaluate("1")).to.match(/^=> 1/);
    expect((await old.begin("lisp-status")).status).to.equal(404);
    await second.close();
  });

  it("refuses a token that was removed, and ends its client", async () => {
    const http = await HttpServer.start(["--session-minutes", "1"]);
    const watcher = new HttpClient(http.client());
    const client = await HttpClient.initialized(http.client("leaving"));
    await client.evaluate('(error "leaving")');
    http.tokens.remove("leaving");
    expect((await client.begin("lisp-status")).status).to.equal(401);
    const listed = async () => JSON.stringify((await statusOf(watcher))["stopped"]);
    while ((await listed()).includes("leaving")) await setTimeout(500);
    await http.close();
  });

  it("says what is wrong with a port, a host or the file of tokens", async () => {
    const http = await HttpServer.start();
    const failed = async (...args: Parameters<typeof HttpServer.start>) =>
      HttpServer.start(...args).then(
        () => "started",
        (error: Error) => error.message,
      );
    const tokenFile = newTokenFile();
    expect(await failed([], { port: http.port, tokenFile })).to.include("Another program listens on port");
    // The first token is made by the first start that can show it.
    const next = await HttpServer.start([], { tokenFile });
    expect(next.output).to.include("A token was made");
    await next.close();
    expect(await failed(["--host", "0.0.0.0"])).to.include("--public-url");
    expect(await failed(["--no-token", "--public-url", "https://lisp.example"])).to.include("--no-token");
    expect(await failed([], { tokenFile: "/dev/null" })).to.include("is not a file");
    await http.close();
  });
});
