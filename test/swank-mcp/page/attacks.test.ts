import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { TestBrowser } from "../../support/browser.js";
import { liveFolder } from "../../support/live-server.js";
import { transportOf } from "../../support/mcp-client.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { textFrom } from "../../support/official-clients.js";
import { pageAddress, ServedPage } from "../../support/page-server.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";

/** What a page of an attacker does who knows all but the cookie: each answer that it can read is an array with what it has read. */
const ATTACK = `(async (base) => {
  const read = [];
  const attempt = async (what) => {
    try {
      const response = await what();
      if (response.type !== "opaque") read.push(await response.text());
    } catch {}
  };
  const body = JSON.stringify({ act: "evaluate", code: "(run-program)" });
  for (const name of ["", "page.js", "events", "act", "look"]) {
    await attempt(() => fetch(base + name, { credentials: "include" }));
    await attempt(() => fetch(base + name, { mode: "no-cors", credentials: "include" }));
  }
  for (const name of ["act", "look"]) {
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
      const sent = { method: "POST", body, credentials: "include", headers: { "content-type": type } };
      await attempt(() => fetch(base + name, sent));
      await attempt(() => fetch(base + name, { ...sent, mode: "no-cors" }));
    }
    navigator.sendBeacon(base + name, new Blob([body], { type: "text/plain" }));
  }
  const added = async (tag, attributes) => {
    const element = Object.assign(document.createElement(tag), attributes);
    await new Promise((done) => {
      element.onload = element.onerror = done;
      setTimeout(done, 500);
      document.body.append(element);
    });
    return element;
  };
  await added("script", { src: base + "page.js" });
  await added("img", { src: base });
  const frame = await added("iframe", { src: base, name: "victim" });
  try {
    if (frame.contentDocument?.querySelector(".head")) read.push("frame");
  } catch {}
  const source = new EventSource(base + "events", { withCredentials: true });
  source.onmessage = ({ data }) => read.push(data);
  await new Promise((done) => setTimeout(done, 500));
  source.close();
  const form = Object.assign(document.createElement("form"), { method: "post", action: base + "act", enctype: "text/plain", target: "victim" });
  form.append(Object.assign(document.createElement("input"), { name: body.slice(0, -1) + ',"x":"', value: '"}' }));
  document.body.append(form);
  form.submit();
  await new Promise((done) => setTimeout(done, 500));
  return read;
})`;

describe("attacks on the page from other sites", function () {
  this.timeout(120_000);
  const acts: unknown[] = [];
  let served: ServedPage;
  let evil: Server;
  let browser: TestBrowser;

  before(async () => {
    browser = await TestBrowser.start(["--host-resolver-rules=MAP rebound.example 127.0.0.1"]);
    evil = createServer((_, res) => res.setHeader("content-type", "text/html").end("<!doctype html><body>")).listen(
      0,
      "127.0.0.1",
    );
    await once(evil, "listening");
  });

  beforeEach(async () => {
    const take = async (sent: unknown) => {
      acts.push(sent);
      return { ok: true, value: "secret" } as const;
    };
    served = await ServedPage.start({ act: take, look: take });
    served.feed.agent({ id: "a", name: "secret", state: "idle" });
  });

  afterEach(async () => {
    acts.length = 0;
    // The browser logs each refusal.
    browser.errors.length = 0;
    await browser.closePages();
    await served.close();
  });

  after(async () => {
    await browser.close();
    evil.close();
  });

  /** An open page in the browser of a person, and its folder, whose name is a secret. */
  async function person(): Promise<{ readonly page: Page; readonly folder: string }> {
    const page = await browser.open(served.url);
    await page.locator(".connection").getByText("live").waitFor();
    return { page, folder: new URL(page.url()).pathname };
  }

  /** The address of the attacker's page under a name. */
  function evilAddress(name: string): string {
    const address = evil.address();
    if (address === null || typeof address === "string") throw new Error("A port was expected.");
    return `http://${name}:${address.port}/`;
  }

  for (const [what, name] of [
    ["another port", "127.0.0.1"],
    ["the name localhost", "localhost"],
    ["another name", "rebound.example"],
  ] as const) {
    it(`do nothing and read nothing from ${what}, even with the name of the folder`, async () => {
      const { page, folder } = await person();
      const attacker = await page.context().newPage();
      await attacker.goto(evilAddress(name));
      for (const host of ["127.0.0.1", "localhost"]) {
        const base = `http://${host}:${served.port}${folder}`;
        const read: unknown = await attacker.evaluate(`${ATTACK}(${JSON.stringify(base)})`);
        expect(read).to.deep.equal([]);
      }
      expect(acts).to.deep.equal([]);
      await page.bringToFront();
      await page.getByRole("button", { name: "Pause: secret" }).click();
      await page.locator(".notice").getByText("secret").waitFor();
      expect(acts).to.deep.equal([{ act: "pause", agent: "a" }]);
    });
  }

  it("do nothing through a name that begins to mean this machine", async () => {
    const { page, folder } = await person();
    const rebound = `http://rebound.example:${served.port}`;
    const attacker = await page.context().newPage();
    for (const path of [`/${new URL(served.url).search}`, folder]) {
      const response = await attacker.goto(`${rebound}${path}`);
      expect(response?.status()).to.equal(403);
      expect(await response?.text()).not.to.include(folder);
    }
    // Its own page has come from there before, so that everything is of the same origin for the browser.
    await attacker.route("**/before", (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
    await attacker.goto(`${rebound}/before`);
    const read: unknown = await attacker.evaluate(`${ATTACK}(${JSON.stringify(`${rebound}${folder}`)})`);
    // The browser may refuse by itself what leads from such a page to this machine.
    const refusal = "This server does not serve that host.\n";
    expect(Array.isArray(read) && read.filter((text) => text !== refusal)).to.deep.equal([]);
    expect(acts).to.deep.equal([]);
  });

  it("get nowhere with the token of an earlier start, or the cookie without the folder", async () => {
    const { page, folder } = await person();
    const earlier = new URL(served.url);
    const cookies = await page.context().cookies(`http://127.0.0.1:${served.port}${folder}`);
    expect(cookies.map(({ httpOnly, sameSite, path }) => ({ httpOnly, sameSite, path }))).to.deep.equal([
      { httpOnly: true, sameSite: "Strict", path: folder },
    ]);
    const next = await ServedPage.start();
    try {
      const other = await page.context().newPage();
      const stale = await other.goto(`http://127.0.0.1:${next.port}/${earlier.search}`);
      expect(stale?.status()).to.equal(403);
      expect(await stale?.text()).to.match(/not valid any more/);
      const root = await other.goto(`http://127.0.0.1:${served.port}/`);
      expect(root?.status()).to.equal(401);
      const found = await other.goto(`http://127.0.0.1:${next.port}${folder}`);
      expect(found?.status()).to.equal(401);
    } finally {
      await next.close();
    }
  });
});

/** Markup that would set a flag, in the forms in which Lisp may print it. */
const MARKUP = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>';

const lispString = (text: string) => `"${text.replaceAll('"', '\\"')}"`;

/** A definition whose every name and value has markup. */
const PROGRAM = `(defpackage |${MARKUP}| (:use :cl) (:export |<script>|))
(in-package |${MARKUP}|)
(defclass |<b>class</b>| () ((|<i>slot</i>| :initform ${lispString(MARKUP)})))
(define-condition |<b>condition</b>| (error) ((|<u>field</u>| :initform ${lispString(MARKUP)}))
  (:report (lambda (c s) (declare (ignore c)) (write-string ${lispString(MARKUP)} s))))
(defun |<script>| (|<b>x</b>| object)
  (restart-case (error '|<b>condition</b>|)
    (|<svg onload=window.broken=1>| (value) :report (lambda (s) (write-string ${lispString(MARKUP)} s)) (list value object |<b>x</b>|))))
`;

describe("markup that Lisp prints", function () {
  this.timeout(120_000);
  const folder = liveFolder("page-<b>markup");
  let image: RealSwank;
  let browser: TestBrowser;
  let client: Client;
  let address: string;

  before(async () => {
    [image, browser] = await Promise.all([startRealSwank(), TestBrowser.start()]);
    const driver = new McpStdio(["--attach", String(image.port), "--page", "--approval", "strict"]);
    client = new Client({ name: MARKUP, version: MARKUP });
    await client.connect(transportOf(driver));
    address = await pageAddress(driver);
  });

  after(async () => {
    await browser.close();
    await client.close();
    await image.stop();
  });

  const evaluate = (code: string) => textFrom(client, "evaluate-lisp", { code });

  it("is text everywhere on the page, and runs nowhere", async () => {
    const file = join(folder, "<img src=x onerror=window.broken=1>.lisp");
    await writeFile(file, PROGRAM);
    await evaluate(`(load (compile-file ${lispString(file)}))`);
    const page = await browser.open(address);
    await page.getByText(/^SBCL \d/).waitFor();
    await page.getByText(/^\d+ clients?$/).waitFor();
    const expectText = async (where: string) => {
      expect(await page.evaluate("window.broken"), where).to.equal(undefined);
      expect(await page.locator("img, body script, iframe, b > i, svg[onload]").count(), where).to.equal(0);
    };
    // What is read aloud beside the panels says some of it, too.
    const shown = (text: string) => page.locator("main").getByText(text).filter({ visible: true }).first().waitFor();

    await evaluate(`(in-package |${MARKUP}|)`);
    await evaluate(`(progn (write-string ${lispString(MARKUP)}) (values ${lispString(MARKUP)} '|<script>|))`);
    await evaluate(`(sb-thread:make-thread (lambda () (sleep 1000)) :name ${lispString(MARKUP)})`);
    await evaluate(
      `(defun |<script>| (|<b>x</b>| object) (restart-case (error '|<b>condition</b>|) (|<svg onload=window.broken=1>| (value) ${lispString(MARKUP)} (list value object |<b>x</b>|))))`,
    );
    await evaluate(`(|<script>| ${lispString(MARKUP)} (make-instance '|<b>class</b>|))`);
    await page.locator(".call-row").last().click();
    await page.getByRole("heading", { name: "Answer" }).waitFor();
    await shown("<img src=x onerror=");
    await expectText("timeline");

    await page.keyboard.press("Escape");
    await page.getByRole("tab", { name: /^Stops/ }).click();
    await page.locator(".frame-detail .source").waitFor();
    await shown("<b>condition</b>");
    await shown("<svg onload=window.broken=1>");
    await page.locator(".slots summary").click();
    await page
      .getByRole("button", { name: /^Parts of/ })
      .last()
      .click();
    await page.locator(".parts").first().waitFor();
    await shown("<i>slot</i>");
    await expectText("stops");

    const asked = textFrom(client, "debugger_eval_in_frame", { frame: 0, code: `(list ${lispString(MARKUP)})` });
    await page.locator(".question").waitFor();
    await expectText("question");
    await page.getByRole("button", { name: "Refuse" }).click();
    await asked;

    for (const name of ["Threads", "Changes", "Heap"]) {
      await page.getByRole("tab", { name }).click();
      await page
        .locator({ Threads: ".threads", Changes: ".change", Heap: ".heap-chart" }[name] ?? "")
        .first()
        .waitFor();
      if (name !== "Heap") await shown("<img src=x onerror=");
      await expectText(name);
    }
    await browser.closePages();
  });
});
