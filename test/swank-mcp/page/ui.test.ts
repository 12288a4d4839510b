import { expect } from "chai";
import type { Page } from "playwright-core";
import type { PageCall, PageReply, PageStop } from "#swank-mcp/page/model.js";
import { TestBrowser } from "../../support/browser.js";
import { ServedPage } from "../../support/page-server.js";

const MARKUP = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>';

const call = (id: string, more: Partial<PageCall> = {}): PageCall => ({
  id,
  agent: "a",
  tool: "evaluate-lisp",
  code: `(f ${id})`,
  isLisp: true,
  begun: 1000,
  ended: 1012,
  outcome: "returned",
  output: "",
  ...more,
});

const stop: PageStop = {
  thread: 7,
  level: 1,
  reason: "error",
  type: `<b>${MARKUP}</b>`,
  message: MARKUP,
  owner: MARKUP,
  restarts: [
    { index: 0, name: "USE-VALUE", description: MARKUP, arguments: { min: 1, max: 1 } },
    { index: 1, name: "ABORT", description: "Return to top level.", arguments: { min: 0, max: 0 } },
  ],
  since: 1000,
};

const LOOKS: Readonly<Record<string, unknown>> = {
  call: { code: MARKUP, arguments: {}, output: MARKUP, answer: [MARKUP] },
  stop: {
    stop,
    slots: [{ name: MARKUP, value: MARKUP }],
    frames: [{ index: 0, call: `(${MARKUP})`, kind: "user", isRestartable: true }],
    totalFrames: 1,
  },
  frame: {
    variables: [{ name: MARKUP, value: MARKUP, marks: [], objectId: 1 }],
    source: { file: MARKUP, first: 1, line: 1, lines: [MARKUP] },
  },
  object: {
    id: 1,
    kind: MARKUP,
    text: MARKUP,
    expression: "x",
    facts: [{ label: MARKUP, text: MARKUP }],
    count: 1,
    parts: [{ index: 0, name: MARKUP, text: MARKUP }],
    cut: false,
    looking: 1,
  },
};

describe("the page in a browser", function () {
  this.timeout(120_000);
  const acts: unknown[] = [];
  const looks: string[] = [];
  let served: ServedPage;
  let browser: TestBrowser;

  before(async () => {
    browser = await TestBrowser.start();
  });

  beforeEach(async () => {
    served = await ServedPage.start({
      look: async (sent): Promise<PageReply<unknown>> => {
        const name = typeof sent === "object" && sent !== null && "look" in sent ? String(sent.look) : "";
        looks.push(name);
        return { ok: true, value: LOOKS[name] };
      },
      act: async (sent): Promise<PageReply<unknown>> => {
        acts.push(sent);
        return { ok: true, value: "It was done." };
      },
    });
    served.feed.agent({ id: "a", name: "claude", state: "idle" });
  });

  afterEach(async () => {
    acts.length = 0;
    looks.length = 0;
    await browser.closePages();
    await served.close();
  });

  after(() => browser.close());

  const ask = (number: number) =>
    served.feed.question({
      number,
      agent: "claude",
      action: "invoke restart 1",
      particulars: [["Code", "(delete-all)"]],
      circumstances: [],
      forStop: true,
      asked: Date.now(),
      until: Date.now() + 60_000,
    });

  it("opens in any number of tabs: of those in the background, one listens", async () => {
    const hide = (page: Page, isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
        document.dispatchEvent(new Event("visibilitychange"));`,
      );
    const first = await browser.open(served.url);
    await first.getByText("live", { exact: true }).waitFor();
    const tabs = [first];
    while (tabs.length < 9) {
      const tab = await first.context().newPage();
      await Promise.all([hide(tabs.at(-1) ?? first, true), tab.goto(first.url())]);
      await tab.getByText("live", { exact: true }).waitFor();
      tabs.push(tab);
    }
    served.feed.call(call("1"));
    await expectRows(tabs.at(-1) ?? first, 1);
    await expectRows(first, 1);
    const second = tabs[1] ?? first;
    expect(await rows(second).count()).to.equal(0);
    await hide(second, false);
    await expectRows(second, 1);
    await Promise.all(tabs.slice(1).map((tab) => tab.close()));
  });

  const expectRows = (page: Page, count: number) =>
    rows(page)
      .nth(count - 1)
      .waitFor();

  const rows = (page: Page) => page.locator(".call-row");

  it("shows calls as they come, with their output and outcome", async () => {
    const page = await browser.open(served.url);
    await page.getByText("Nothing has happened yet").waitFor();
    const { ended: _, outcome: __, ...running } = call("1");
    served.feed.call(running);
    await page.getByRole("button", { name: /claude, evaluate-lisp, \(f 1\), running/ }).waitFor();
    served.feed.output("1", "half of it\n");
    await page.getByText("half of it").waitFor();
    served.feed.call(call("1", { summary: "=> 42" }));
    await page.getByRole("button", { name: /returned, 12 ms/ }).waitFor();
    await page.getByText("=> 42").waitFor();
  });

  it("leads from a call to its stop as long as the thread stands there", async () => {
    const page = await browser.open(served.url);
    served.feed.call(call("1", { outcome: "stopped", stop: "7/1" }));
    await page.getByRole("button", { name: /stopped, 12 ms/ }).waitFor();
    const link = page.getByRole("button", { name: "Open stop 7/1" });
    expect(await link.count()).to.equal(0);
    served.feed.stops([stop]);
    await link.waitFor();
    served.feed.stops([]);
    await link.waitFor({ state: "detached" });
  });

  it("shows a bounded number of 10,000 calls, follows the latest, and filters", async () => {
    const page = await browser.open(served.url);
    for (let id = 0; id < 10_000; id += 1) served.feed.call(call(String(id)));
    await page.getByRole("button", { name: /claude, evaluate-lisp, \(f 9999\)/ }).waitFor();
    expect(await rows(page).count()).to.be.within(20, 200);
    await page.getByRole("searchbox").fill("9123");
    await page.getByText("1 of 1000").waitFor();
    expect(await rows(page).count()).to.equal(1);
  });

  it("shows markup in whatever Lisp prints as text", async () => {
    served.feed.call(
      call("1", { agent: "b", agentName: MARKUP, tool: MARKUP, code: MARKUP, output: MARKUP, summary: MARKUP }),
    );
    served.feed.stops([stop]);
    served.feed.image({ state: "open", implementation: MARKUP, package: MARKUP, address: MARKUP });
    const page = await browser.open(served.url);
    await rows(page).click();
    await page.getByRole("heading", { name: "Answer" }).waitFor();
    await page.getByRole("tab", { name: /Stops/ }).click();
    await page.getByRole("button", { name: /^Parts of/ }).click();
    await page.locator(".parts .kind").waitFor();
    expect(await page.locator("img, main script").count()).to.equal(0);
    expect(await page.evaluate("window.broken")).to.equal(undefined);
  });

  it("focuses the text of a question, and allows only after a moment", async () => {
    const page = await browser.open(served.url);
    await page.locator(".connection").getByText("live").waitFor();
    ask(1);
    const allow = page.getByRole("button", { name: "Allow", exact: true });
    await page.locator(".question").getByText("(delete-all)").waitFor();
    expect(await allow.isDisabled()).to.equal(true);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.locator(":focus").filter({ hasText: "Refuse" }).waitFor();
    await allow.click();
    expect(await allow.isDisabled()).to.equal(true);
    served.feed.questionGone(1, "allowed here");
    await page
      .locator(".notice")
      .getByText(/invoke restart 1: allowed here/)
      .waitFor();
    expect(acts).to.deep.equal([{ act: "answer", question: 1, answer: "yes" }]);
  });

  it("invokes restarts with values, and evaluates in a frame", async () => {
    served.feed.stops([stop]);
    const page = await browser.open(served.url);
    await page.getByRole("tab", { name: /Stops/ }).click();
    await page.getByRole("button", { name: /USE-VALUE/ }).click();
    await page.locator("input:focus").waitFor();
    await page.keyboard.type("42");
    await page.keyboard.press("Enter");
    await page.locator(".notice").getByText("It was done.").waitFor();
    await page.getByLabel("Code to evaluate in frame 0").fill("(1+ x)");
    await page.keyboard.press("Enter");
    await page.locator(".evaluated").getByText("It was done.").waitFor();
    const at = { thread: 7, level: 1 };
    expect(acts).to.deep.equal([
      { act: "restart", ...at, index: 0, values: ["42"] },
      { act: "eval-in-frame", ...at, frame: 0, code: "(1+ x)" },
    ]);
  });

  it("reads the variables of an open frame again when a call has ended, and when the panel is shown again", async () => {
    served.feed.stops([stop]);
    const page = await browser.open(served.url);
    await page.getByRole("tab", { name: /Stops/ }).click();
    await page.getByRole("button", { name: "Look again" }).waitFor();
    const before = looks.filter((name) => name === "frame").length;
    const isRead = (times: number) =>
      expectSoon(() => looks.filter((name) => name === "frame").length >= before + times);
    const call = { id: "c1", agent: "a", tool: "evaluate-lisp", code: "(setq x 2)", isLisp: true, begun: 1 };
    served.feed.call({ ...call, ended: 2, outcome: "returned" });
    await isRead(1);
    await page.getByRole("button", { name: "Look again" }).click();
    await isRead(2);
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.getByRole("tab", { name: /Stops/ }).click();
    await isRead(3);
  });

  it("leaves keys alone while the field in which one wrote has lost its place", async () => {
    const page = await browser.open(served.url);
    await page.getByRole("button", { name: "Tell…: claude" }).click();
    await page.locator("textarea:focus").waitFor();
    served.feed.agentGone("a");
    await page.locator(".form").waitFor({ state: "detached" });
    await page.keyboard.type("2");
    expect(await page.getByRole("tab", { name: "Timeline" }).getAttribute("aria-selected")).to.equal("true");
    await page.keyboard.press("Escape");
    await page.keyboard.type("2");
    await page.getByText("No thread is stopped").waitFor();
  });

  it("keeps what is written and the panel over a reload, and evaluates with Ctrl and Enter", async () => {
    const page = await browser.open(served.url);
    await page.getByRole("tab", { name: "Stops" }).click();
    await page.getByLabel("Lisp code").fill("(+ 1\n   2)");
    await page.reload();
    await page.getByText("No thread is stopped").waitFor();
    expect(await page.getByLabel("Lisp code").inputValue()).to.equal("(+ 1\n   2)");
    await page.getByLabel("Lisp code").press("Control+Enter");
    await expectSoon(() => acts.length > 0);
    expect(acts).to.deep.equal([{ act: "evaluate", code: "(+ 1\n   2)" }]);
    await page.getByLabel("Lisp code").press("ArrowUp");
    expect(await page.getByLabel("Lisp code").inputValue()).to.equal("(+ 1\n   2)");
  });

  it("throws an agent out only after a second button", async () => {
    const page = await browser.open(served.url);
    await page.getByRole("button", { name: "Throw out…: claude" }).click();
    await page.locator(":focus").filter({ hasText: "Cancel" }).waitFor();
    expect(acts).to.deep.equal([]);
    await page.getByRole("button", { name: "Throw out", exact: true }).click();
    await expectSoon(() => acts.length > 0);
    expect(acts).to.deep.equal([{ act: "throw-out", agent: "a" }]);
  });

  it("fits into 400 pixels in every panel", async () => {
    for (let id = 0; id < 5; id += 1) served.feed.call(call(String(id), { code: `(${"very-long-name-".repeat(20)})` }));
    served.feed.stops([stop]);
    ask(1);
    const page = await browser.open(served.url, { viewport: { width: 400, height: 800 } });
    await rows(page).first().waitFor();
    for (const key of ["1", "2"]) {
      await page.keyboard.press(key);
      await page
        .locator(key === "1" ? ".call-row" : "#stop-title")
        .first()
        .waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth")).to.equal(400);
    }
  });

  it("says that the server has ended, and offers no steering then", async () => {
    const page = await browser.open(served.url);
    await page.getByRole("button", { name: "Pause: claude" }).waitFor();
    await served.close();
    await page.getByText("The server has ended.").waitFor();
    expect(await page.getByRole("button", { name: "Pause: claude" }).count()).to.equal(0);
    // The browser logs each attempt to connect, until the page is closed.
    await page.context().close();
    browser.errors.length = 0;
  });
});

async function expectSoon(is: () => boolean): Promise<void> {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 20));
}
