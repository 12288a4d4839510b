import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import { TestBrowser } from "../../../support/browser.js";
import { liveFolder } from "../../../support/live-server.js";
import { McpStdio } from "../../../support/mcp-stdio.js";
import { ServedPage } from "../../../support/page-server.js";
import { PageBeside } from "../../../support/page-session.js";
import { type RealSwank, startRealSwank } from "../../../support/real-swank.js";

const BANK = `(defpackage :bank (:use :cl))
(in-package :bank)
(defvar *a* (sb-thread:make-mutex :name "account a"))
(defvar *b* (sb-thread:make-mutex :name "account b"))
(defvar *ready* (sb-thread:make-semaphore :name "ready"))
(defvar *go* (sb-thread:make-semaphore :name "go"))
(defvar *kept* '())
(defun transfer (from to)
  (sb-thread:with-mutex (from)
    (sb-thread:signal-semaphore *ready*)
    (sb-thread:wait-on-semaphore *go*)
    (sb-thread:with-mutex (to) :done)))
(defstruct coin a b c)
(defun mint (n) (dotimes (i n) (push (make-coin) *kept*)))
(defun interest (n) (loop for i below n sum (length (make-list (mod i 20)))))
(defun month (n) (interest n))
(defun work () (loop (month 20000)))
(defun total (n)
  (+ n 1))
`;

/** Lets two threads wait for each other, without SBCL's check, which would find the deadlock in one of them. */
const DEADLOCK = `(progn
  (sb-int:encapsulate 'sb-thread::check-deadlock 'test (lambda (f &rest args) (declare (ignore f args)) nil))
  (sb-thread:make-thread 'bank::transfer :name "first" :arguments (list bank::*a* bank::*b*))
  (sb-thread:make-thread 'bank::transfer :name "second" :arguments (list bank::*b* bank::*a*))
  (loop repeat 2 do (sb-thread:wait-on-semaphore bank::*ready*))
  (sb-thread:signal-semaphore bank::*go* 2)
  :ready)`;

describe("the panels of the page", function () {
  this.timeout(180_000);
  const folder = liveFolder("page-panels");
  let file: string;
  let image: RealSwank;
  let agent: McpStdio;
  let beside: PageBeside;
  let served: ServedPage;
  let browser: TestBrowser;

  before(async () => {
    [image, browser] = await Promise.all([startRealSwank(), TestBrowser.start()]);
    agent = await McpStdio.start(["--attach", String(image.port)]);
    beside = new PageBeside(image.port);
    served = await ServedPage.start({
      feed: beside.feed,
      look: (sent, signal) => beside.looks.answer(sent, signal),
      act: (sent, signal) => beside.acts.answer(sent, signal),
    });
    file = join(folder, "bank.lisp");
    await writeFile(file, BANK);
    await agent.evaluate(`(load (compile-file ${JSON.stringify(file)}))`);
  });

  afterEach(() => browser.closePages());

  after(async () => {
    await browser.close();
    await served.close();
    await beside.close();
    await agent.close();
    await image.stop();
  });

  async function panel(name: string): Promise<Page> {
    const page = await browser.open(served.url);
    await page.getByRole("tab", { name }).click();
    return page;
  }

  /** Waits until the page has shown what an event has changed. */
  const shownBy = (page: Page) =>
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");

  const texts = async (items: Locator) => (await items.allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());

  it("draw a deadlock, say it in words, and show the frames of its threads", async () => {
    await agent.evaluate(DEADLOCK);
    const page = await panel("Threads");
    await page.getByText(/^DEADLOCK/).waitFor();
    await page.getByText("As text").click();
    const waits = await texts(page.locator(".waits li"));
    expect(waits.length).to.equal(2);
    expect(waits.join(" ")).to.match(/first waits for MUTEX "account b", held by \d+ second \(in a cycle\)/);
    expect(await page.locator(".thread-node.is-cycle").count()).to.equal(2);
    const row = page.locator(".threads tr").filter({ hasText: /^\s*\d+\s*first\b/ });
    await row.getByRole("button", { name: /Frames/ }).click();
    await page.getByText("BANK::TRANSFER").first().waitFor();
    await row.getByRole("button", { name: /Interrupt/ }).click();
    await row.getByText("is stopped in the debugger").waitFor();
    await agent.evaluate(`(progn
      (dolist (thread (sb-thread:list-all-threads))
        (when (member (sb-thread:thread-name thread) '("first" "second") :test #'equal) (sb-thread:terminate-thread thread)))
      (sb-int:unencapsulate 'sb-thread::check-deadlock 'test))`);
    await page.locator(".waits").waitFor({ state: "detached" });
  });

  it("show a definition as a diff, mark it at the next visit only if it has changed, and save it when that is confirmed", async () => {
    const define = (n: number) => agent.evaluate(`(in-package :bank) (defun total (n) (+ n ${n}))`);
    await define(2);
    const page = await panel("Changes");
    const change = page.locator(".change").filter({ hasText: "total" });
    await change.waitFor();
    expect(await texts(change.locator(".is-added code"))).to.deep.equal(["(defun total (n) (+ n 2))"]);
    expect(await texts(change.locator(".is-removed code"))).to.deep.equal(["(defun total (n)", "(+ n 1))"]);
    expect(await page.locator(".change.is-new").count()).to.equal(0);

    await define(3);
    await page.reload();
    await page.locator(".change.is-new").waitFor();
    await page.reload();
    await change.waitFor();
    expect(await page.locator(".change.is-new").count()).to.equal(0);

    await change.getByRole("button", { name: /^Save/ }).click();
    expect(await readFile(file, "utf8")).to.equal(BANK);
    await change.getByRole("button", { name: "Save" }).click();
    await change.waitFor({ state: "detached" });
    expect(await readFile(file, "utf8")).to.equal(BANK.replace(/\(defun total[\s\S]*$/, "(defun total (n) (+ n 3))\n"));
  });

  it("draw what is in the heap over time", async () => {
    await agent.evaluate("(bank::mint 100000)");
    const page = await panel("Heap");
    const coins = page.getByRole("row", { name: /^BANK::COIN / });
    await coins.waitFor();
    await agent.evaluate("(bank::mint 320000)");
    await page.getByRole("button", { name: "Sample now" }).click();
    await page.getByText(/^2 samples/).waitFor();
    await page.getByRole("button", { name: "Growth" }).click();
    expect(await page.locator(".heap-chart .line").count()).to.be.greaterThan(1);
    // 32 bytes each
    expect(await texts(coins.locator('[data-label="Growth"]'))).to.deep.equal(["+9.77 MB"]);
    await agent.evaluate("(progn (setf bank::*kept* nil) nil)");
  });

  it("draw a profile as a flame graph, through which keys lead", async () => {
    await agent.evaluate('(progn (sb-thread:make-thread #\'bank::work :name "worker") nil)');
    const page = await panel("Profile");
    await page.getByLabel("for").fill("1");
    await page.getByRole("button", { name: "Start" }).click();
    const flame = page.getByRole("tree");
    await flame.waitFor();
    const selected = page.locator(".flame-selected b").first();
    await page.getByRole("searchbox").fill("bank::interest");
    await page.getByText(/^\d+ box(es)?, \d+ % of the samples$/).waitFor();
    await flame.focus();
    for (let depth = 0; depth < 30; depth += 1) {
      await page.keyboard.press("ArrowDown");
      await shownBy(page);
      if ((await selected.innerText()) === "BANK::INTEREST") break;
    }
    expect(await selected.innerText()).to.equal("BANK::INTEREST");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Show all" }).click();
    await page.getByRole("row", { name: /BANK::INTEREST/ }).waitFor();
  });

  it("show a trace as a tree that opens and closes, and end a watch that is cancelled", async () => {
    const page = await panel("Trace");
    const start = page.getByRole("button", { name: "Start" });
    expect(await start.isDisabled()).to.equal(true);
    await page.getByLabel("Functions").fill("bank::month, bank::interest");
    await page.getByLabel("for").fill("1");
    await start.click();
    const calls = page.getByRole("treeitem");
    await calls.first().waitFor();
    const [first] = await texts(calls);
    expect(first).to.match(/BANK::MONTH/);
    const isOpen = async () => calls.first().getAttribute("aria-expanded");
    const before = await isOpen();
    await calls.first().click();
    await shownBy(page);
    expect([before, await isOpen()].sort()).to.deep.equal(["false", "true"]);

    await page.getByLabel("for").fill("100");
    await start.click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await start.waitFor();
    await agent.evaluate(`(sb-thread:terminate-thread
      (find "worker" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal))`);
  });
});
