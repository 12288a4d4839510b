import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { OptionError } from "#swank-mcp/base/option.js";
import { PageServer } from "#swank-mcp/page/serve-page.js";
import { answerTo, statusOf } from "../../support/http-client.js";
import { type PageVisitor, ServedPage } from "../../support/page-server.js";

const JSON_TYPE = { "content-type": "application/json" };

describe("PageServer", () => {
  const asked: unknown[] = [];
  let page: ServedPage;
  let visitor: PageVisitor;
  before(async () => {
    page = await ServedPage.start({
      look: async (sent) => {
        asked.push(sent);
        return { ok: true, value: { seen: sent } };
      },
      act: async () => ({ ok: true, value: "Done." }),
    });
    visitor = await page.visit();
  });
  after(() => page.close());

  const post = async (headers: Readonly<Record<string, string>>, body: string | Buffer = "{}") =>
    visitor.ask("act", { method: "POST", headers, body });

  it("passes looks and acts on, and returns the replies", async () => {
    expect(await visitor.post("look", { look: "heap", n: 1 })).to.deep.equal({
      ok: true,
      value: { seen: { look: "heap", n: 1 } },
    });
    expect(await visitor.post("act", { act: "evaluate" })).to.deep.equal({ ok: true, value: "Done." });
  });

  it("refuses bodies that a form or a simple request of another site can send", async () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/json, text/plain",
      "application/jsonp",
      "",
    ])
      expect((await post({ "content-type": type })).status, type).to.equal(415);
    expect((await post({ "content-type": "application/json; charset=utf-8" })).status).to.equal(200);
  });

  it("acts on no other method, and knows no other name", async () => {
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
      expect((await visitor.ask("act", { method, headers: JSON_TYPE })).status, method).to.equal(405);
    expect((await visitor.ask("events", { method: "POST", headers: JSON_TYPE, body: "{}" })).status).to.equal(405);
    for (const name of ["other", "page.js/", "act/", "constructor", "..%2fpage.js", "../../swank-mcp.cjs"])
      expect((await visitor.ask(name)).status, name).to.be.oneOf([401, 404]);
  });

  it("refuses a body that is not JSON, or larger than a megabyte, announced or not", async () => {
    expect((await post(JSON_TYPE, "{")).status).to.equal(400);
    expect((await post(JSON_TYPE, Buffer.alloc(1_000_001))).status).to.equal(413);
    const { port, folder, cookie } = visitor;
    const head = `POST ${folder}act HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `${(100_000).toString(16)}\r\n${"x".repeat(100_000)}\r\n`;
    expect(statusOf(await answerTo(port, head + chunk.repeat(11)))).to.equal(413);
  });

  it("refuses all acts of a page that only reads", async () => {
    const reading = await ServedPage.start({ isReadOnly: true, act: async () => ({ ok: true, value: "Done." }) });
    try {
      const reply = await (await reading.visit()).post("act", { act: "evaluate", code: "(quit)" });
      expect(reply).to.have.nested.property("error.code", "READ_ONLY");
    } finally {
      await reading.close();
    }
  });

  it("tells a look when the browser drops the request", async () => {
    let dropped: () => void = () => {};
    const drop = new Promise<void>((resolve) => {
      dropped = resolve;
    });
    const waiting = await ServedPage.start({
      look: (_, signal) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => {
            dropped();
            resolve({ ok: true, value: "" });
          }),
        ),
    });
    try {
      const { port, folder, cookie } = await waiting.visit();
      const socket = connect(port, "127.0.0.1");
      socket.write(
        `POST ${folder}look HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
      );
      await setTimeout(50);
      socket.destroy();
      await drop;
    } finally {
      await waiting.close();
    }
  });

  it("serves the person while a thousand connections send nothing, or their requests byte by byte", async () => {
    const stream = await visitor.events();
    const sockets: Socket[] = [];
    for (let count = 0; count < 1000; count++) {
      const socket = connect(page.port, "127.0.0.1").on("error", () => undefined);
      sockets.push(socket);
      socket.write("GET / HTTP/1.1\r\nHost: 127.0");
      if (count % 100 === 0) await setTimeout(1);
    }
    try {
      for (const socket of sockets) if (!socket.destroyed) socket.write(".");
      expect((await visitor.ask("page.css")).status).to.equal(200);
      page.feed.stops([]);
      await stream.until(({ type }) => type === "stops");
    } finally {
      for (const socket of sockets) socket.destroy();
      stream.close();
    }
  });

  it("says which option chooses another port", async () => {
    const problem = await PageServer.listen(page.port, () => undefined).catch((error: unknown) => error);
    expect(problem).to.be.instanceOf(OptionError);
    expect(String(problem)).to.include(
      `Another program listens on port ${page.port} of 127.0.0.1. Choose another with --page.`,
    );
  });

  it("ends the streams of all pages when it closes", async () => {
    const other = await ServedPage.start();
    const stream = await (await other.visit()).events();
    await stream.state();
    await other.close();
    await stream.until(() => false).catch(() => undefined);
    expect(stream.hasEnded).to.equal(true);
  });
});
