import { expect } from "chai";
import { ask, type PageVisitor, ServedPage } from "../../support/page-server.js";

describe("PageGuard", () => {
  let page: ServedPage;
  let visitor: PageVisitor;
  before(async () => {
    page = await ServedPage.start();
    visitor = await page.visit();
  });
  after(() => page.close());

  const token = () => new URL(page.url).searchParams.get("token") ?? "";
  const statusOf = async (name: string, headers: Readonly<Record<string, string>>) =>
    (await visitor.ask(name, { headers })).status;

  it("gives the browser a cookie for a folder of this port, and takes the token out of the address", async () => {
    const { status, headers } = await ask(page.port, `/?token=${token()}`);
    const [cookie = ""] = headers["set-cookie"] ?? [];
    expect(status).to.equal(303);
    expect(headers.location).to.equal(`http://127.0.0.1:${page.port}${visitor.folder}`);
    expect(cookie).to.match(
      new RegExp(`^swank-page-${page.port}=[\\w-]{32}; HttpOnly; SameSite=Strict; Path=/[\\w-]{32}/$`),
    );
    expect(cookie).not.to.include(token());
    expect(`${headers.location}`).not.to.include(token());
  });

  it("serves the page to the browser with the cookie, under a policy that lets nothing else run", async () => {
    const { status, headers, body } = await visitor.ask("");
    expect(status).to.equal(200);
    expect(body).to.match(/^<!doctype html>/);
    expect(headers["content-security-policy"]).to.match(
      /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/,
    );
    expect(headers["content-security-policy"]).to.include("frame-ancestors 'none'").and.not.include("unsafe");
    expect(headers).to.include({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
    expect((await visitor.ask("page.js")).headers["content-type"]).to.equal("text/javascript; charset=utf-8");
    expect((await visitor.ask("page.css")).headers["content-type"]).to.equal("text/css; charset=utf-8");
  });

  it("refuses a request without the cookie, with another port's, or with the cookie in no folder or another one", async () => {
    const { folder, cookie, port } = visitor;
    expect((await ask(port, folder)).status).to.equal(401);
    expect((await ask(port, folder, { headers: { cookie: cookie.replace(String(port), "1") } })).status).to.equal(401);
    for (const path of [
      "/",
      "/page.js",
      "/events",
      `${folder.slice(0, -2)}!/`,
      `/${folder}`,
      `${folder}../`,
      "//",
      "/%2e/",
    ])
      expect((await ask(port, path, { headers: { cookie } })).status, path).to.be.oneOf([401, 404]);
  });

  it("does not take the cookie for the token, or the token for the cookie", async () => {
    const value = visitor.cookie.split("=")[1] ?? "";
    expect((await ask(page.port, `/?token=${value}`)).status).to.equal(403);
    expect(await statusOf("", { cookie: `swank-page-${page.port}=${token()}` })).to.equal(401);
  });

  it("says where the address is to a page with a stale token or cookie", async () => {
    const stale = await ask(page.port, "/?token=of-an-earlier-start");
    expect(stale.status).to.equal(403);
    expect(stale.body).to.equal("That token is not valid any more. Open the address that the test has.\n");
    expect((await ask(page.port, "/")).body).to.equal("Open the address that the test has.\n");
  });

  it("refuses the name of another host, to which an attacker may have bound this address", async () => {
    for (const host of [
      "evil.example",
      `evil.example:${page.port}`,
      "127.0.0.1",
      `127.0.0.1:${page.port + 1}`,
      `[::1]:${page.port}`,
      `127.0.0.1.evil.example:${page.port}`,
    ])
      expect(await statusOf("", { host }), host).to.equal(403);
    expect(await statusOf("", { host: `LOCALHOST:${page.port}` })).to.equal(200);
  });

  it("refuses a foreign origin, also that of another port or the other name", async () => {
    for (const origin of [
      "http://evil.example",
      "null",
      `http://127.0.0.1:${page.port + 1}`,
      `https://127.0.0.1:${page.port}`,
      `http://localhost:${page.port}`,
      "",
    ])
      expect(await statusOf("", { origin }), origin).to.equal(403);
    expect(await statusOf("", { origin: `http://127.0.0.1:${page.port}` })).to.equal(200);
  });

  it("refuses requests that the browser sends for another site, also one on another port", async () => {
    for (const site of ["cross-site", "same-site", "anything"])
      expect(await statusOf("events", { "sec-fetch-site": site }), site).to.equal(403);
    expect(await statusOf("", { "sec-fetch-site": "none" })).to.equal(200);
    expect(await statusOf("", { "sec-fetch-site": "same-origin" })).to.equal(200);
  });

  it("lets the person follow a link with the token from another site", async () => {
    const { status, headers, body } = await ask(page.port, `/?token=${token()}`, {
      headers: { "sec-fetch-site": "cross-site" },
    });
    expect(status).to.equal(200);
    expect(headers["set-cookie"]?.[0]).to.include(visitor.cookie);
    expect(body).to.equal(
      `<!doctype html><meta http-equiv="refresh" content="0; url=http://127.0.0.1:${page.port}${visitor.folder}">`,
    );
  });

  it("sends a browser that came to localhost on, without a cookie for that name", async () => {
    const headers = { host: `localhost:${page.port}` };
    const answer = await ask(page.port, `/?token=${token()}`, { headers });
    expect(answer.status).to.equal(303);
    expect(answer.headers.location).to.equal(page.url);
    expect(answer.headers).not.to.have.property("set-cookie");
  });
});
