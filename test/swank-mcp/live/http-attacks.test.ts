import { expect } from "chai";
import { answerTo, HttpClient, messagesOf, RawConnection, statusOf } from "../../support/http-client.js";
import { liveHttp } from "../../support/live-server.js";

const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

const MEGABYTE = "x".repeat(1024 * 1024);

describe("an HTTP server under attack", () => {
  const http = liveHttp({ args: ["--max-clients", "3"] });

  /** A request as bytes, of which each part can be replaced. */
  function bytes({
    method = "POST",
    path = "/mcp",
    host = `127.0.0.1:${http.port}`,
    headers = "",
    body = LIST,
    token = "",
    length = String(body.length),
  } = {}): string {
    const authorization = token === "" ? "" : `Authorization: Bearer ${token}\r\n`;
    return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Type: application/json\r\n${authorization}${headers}Content-Length: ${length}\r\n\r\n${body}`;
  }

  /** The status of the answer to such a request. */
  async function answered(parts: Parameters<typeof bytes>[0]): Promise<number | undefined> {
    return statusOf(await answerTo(http.port, bytes(parts)));
  }

  /** The server still serves its clients. */
  async function serves(): Promise<void> {
    const client = await HttpClient.initialized(http.client());
    expect(await client.evaluate("(+ 1 2)")).to.match(/^=> 3/);
    expect((await client.delete()).status).to.equal(200);
  }

  it("asks for a token, and says that a wrong one is wrong", async () => {
    const missing = await answerTo(http.port, bytes());
    expect(missing)
      .to.match(/^HTTP\/1\.1 401/)
      .and.match(/^WWW-Authenticate: Bearer realm="swank-mcp"\r$/m);
    const { token } = http.client();
    for (const wrong of [`${token}x`, token.slice(1), token.toUpperCase(), "x", "undefined"]) {
      const refused = await answerTo(http.port, bytes({ token: wrong }));
      expect(refused)
        .to.match(/^HTTP\/1\.1 401/)
        .and.match(/^WWW-Authenticate: Bearer .*error="invalid_token"/m);
    }
    for (const authorization of [`Basic ${token}`, "Bearer", "Bearer ", token, `Bearer ${token} ${token}`])
      expect(await answered({ headers: `Authorization: ${authorization}\r\n` }), authorization).to.equal(401);
    expect(await answered({ path: `/mcp?token=${token}` })).to.equal(401);
  });

  it("serves clients while many wrong tokens wait", async () => {
    const all = Promise.all(Array.from({ length: 60 }, () => answered({ token: "wrong" })));
    await serves();
    expect(new Set(await all)).to.deep.equal(new Set([401, 429]));
  });

  it("serves its own hosts only, whatever a name resolves to", async () => {
    const { token } = http.client();
    for (const host of [`127.0.0.1:${http.port}`, `LocalHost:${http.port}`, `[::1]:${http.port}`])
      expect(await answered({ host, token }), host).to.equal(400);
    for (const host of [
      "evil.example",
      `evil.example:${http.port}`,
      "127.0.0.1",
      "localhost:1",
      `127.0.0.1.:${http.port}`,
      "",
    ])
      expect(await answered({ host, token }), host).to.equal(403);
    expect(statusOf(await answerTo(http.port, `GET /mcp HTTP/1.0\r\nAuthorization: Bearer ${token}\r\n\r\n`))).to.equal(
      403,
    );
  });

  it("serves no foreign web page", async () => {
    const { token } = http.client();
    const own = [`http://127.0.0.1:${http.port}`, `http://localhost:${http.port}`];
    const foreign = [
      "http://localhost:1",
      "https://evil.example",
      "null",
      `https://127.0.0.1:${http.port}`,
      "",
      `${own[0]}/`,
    ];
    for (const origin of own) expect(await answered({ token, headers: `Origin: ${origin}\r\n` }), origin).to.equal(400);
    for (const origin of foreign)
      expect(await answered({ token, headers: `Origin: ${origin}\r\n` }), origin).to.equal(403);
    expect(await answered({ token, method: "OPTIONS", headers: `Origin: ${own[0]}\r\n` })).to.equal(405);
  });

  it("has one path, and one without secrets for supervisors", async () => {
    const { token } = http.client();
    for (const path of [
      "/",
      "/mcp/",
      "//mcp",
      "/MCP",
      "/mcp%2f",
      `http://127.0.0.1:${http.port}/mcp`,
      "/.well-known/oauth-protected-resource",
    ])
      expect(await answered({ path, token }), path).to.equal(404);
    for (const method of ["PUT", "PATCH", "HEAD"]) expect(await answered({ method, token }), method).to.equal(405);
    const health = await answerTo(http.port, "GET /healthz HTTP/1.1\r\nHost: pod.example\r\nConnection: close\r\n\r\n");
    expect(health)
      .to.match(/^HTTP\/1\.1 200/)
      .and.match(/\{"status":"ok"\}/);
  });

  it("refuses bodies that are not one message in JSON", async () => {
    const { token } = http.client();
    const bad = [
      "",
      "{",
      "[]",
      `[${LIST}]`,
      "null",
      "1",
      '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
      "[".repeat(100_000),
    ];
    for (const body of bad) expect(await answered({ token, body }), body.slice(0, 60)).to.equal(400);
    expect(statusOf(await answerTo(http.port, bytes({ token }).replace("application/json", "text/plain")))).to.equal(
      415,
    );
    await serves();
  });

  it("reads no more of a body than it takes", async () => {
    const { token } = http.client();
    expect(await answered({ length: "1000000000" })).to.equal(401);
    expect(await answered({ length: "1000000000", token })).to.equal(413);
    const raw = new RawConnection(http.port);
    const head = bytes({ token }).replace(/Content-Length: \d+\r\n\r\n.*$/s, "Transfer-Encoding: chunked\r\n\r\n");
    raw.write(`${head}${`100000\r\n${MEGABYTE}\r\n`.repeat(6)}`);
    expect(statusOf(await raw.received)).to.equal(413);
    await serves();
  });

  it("refuses requests that hide another one", async () => {
    const { token } = http.client();
    const inner = bytes({ token });
    const smuggled = [
      bytes({ token, headers: "Transfer-Encoding: chunked\r\n", body: `0\r\n\r\n${inner}` }),
      bytes({ token, headers: "Content-Length: 5\r\n", body: `12345${inner}` }),
      bytes({ token, headers: "Transfer-Encoding: chunked, identity\r\n", body: inner }),
      bytes({ token, headers: "Transfer-Encoding : chunked\r\n", body: inner }),
      bytes({ token, headers: "X: y\n\r\n", body: inner }),
      bytes({ token, length: "+5" }),
      bytes({ token, length: "0x5" }),
    ];
    for (const text of smuggled) {
      const received = await answerTo(http.port, text);
      expect(statusOf(received), text.slice(0, 200)).to.equal(400);
      expect(received.match(/HTTP\/1\.1 /g), text.slice(0, 200)).to.have.length(1);
    }
    await serves();
  });

  it("closes connections that never send a request, and serves others meanwhile", async () => {
    const silent = Array.from({ length: 1500 }, () => new RawConnection(http.port));
    const slow = new RawConnection(http.port);
    slow.write("POST /mcp HTTP/1.1\r\nHost: ");
    const slowBody = new RawConnection(http.port);
    slowBody.write(bytes({ length: "500" }));
    await serves();
    expect(statusOf(await slow.received)).to.be.oneOf([408, undefined]);
    expect(statusOf(await slowBody.received)).to.equal(401);
    // The system may have dropped some of them before the server saw them, which it does not tell the client.
    for (const { socket } of silent) socket.destroy();
  });

  it("refuses clients above the limit, and serves them when others have gone", async () => {
    const clients = [];
    for (let count = 0; count < 3; count += 1) clients.push(await HttpClient.initialized(http.client()));
    const modern = new HttpClient(http.client());
    const refused = await modern.begin("lisp-status");
    expect(refused.status).to.equal(429);
    expect(await refused.text()).to.include("3 clients, the maximum (--max-clients)");
    for (const client of clients) await client.delete();
    expect(await modern.evaluate("1")).to.match(/^=> 1/);
  });

  it("refuses more than eight calls of a client at once", async () => {
    const client = new HttpClient(http.client());
    await client.evaluate("(defvar *go* nil)");
    const calls = Array.from({ length: 8 }, () => client.evaluate("(loop until *go* do (sleep 0.05))"));
    let refused: Response;
    do {
      refused = await client.begin("lisp-status");
      if (refused.status !== 429) await refused.text();
    } while (refused.status !== 429);
    expect(await messagesOf(refused))
      .to.have.nested.property("[0].error.message")
      .that.includes("8 running calls");
    const other = new HttpClient(http.client());
    await other.evaluate("(setf *go* t)");
    for (const answer of await Promise.all(calls)) expect(answer).to.match(/^=> NIL/);
  });
});

describe("an HTTP server with a client that never ends its sessions", () => {
  const http = liveHttp({ args: ["--max-clients", "3"] });

  it("forgets a session without a connection for another one of the same identity", async () => {
    const at = http.client();
    const sessions = [];
    for (let count = 0; count < 4; count += 1) sessions.push(await HttpClient.initialized(at));
    const [gone, ...kept] = sessions;
    expect((await gone?.begin("lisp-status"))?.status).to.equal(404);
    for (const session of kept) {
      expect(await session.evaluate("1")).to.match(/^=> 1/);
      await session.delete();
    }
  });
});
