import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import { following } from "../../emacs/user.js";
import { BesideEmacs } from "../../support/beside-emacs.js";
import { TestBrowser } from "../../support/browser.js";
import { liveFolder } from "../../support/live-server.js";
import { transportOf } from "../../support/mcp-client.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { textFrom } from "../../support/official-clients.js";
import { pageAddress } from "../../support/page-server.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";
import { ServerProcess } from "../../support/server-process.js";
import { answer, noQuestion, question } from "../../support/swank-mcp-el.js";

/** An agent whose client cannot ask its user, and the page of its server. */
class WatchedAgent {
  readonly address: string;
  readonly #client: Client;

  private constructor(client: Client, address: string) {
    this.#client = client;
    this.address = address;
  }

  static async start(port: number, ...args: readonly string[]): Promise<WatchedAgent> {
    const driver = new McpStdio(["--attach", String(port), "--page", ...args]);
    const client = new Client({ name: "claude", version: "1" });
    await client.connect(transportOf(driver));
    return new WatchedAgent(client, await pageAddress(driver));
  }

  call(name: string, args: Record<string, unknown> = {}): Promise<string> {
    return textFrom(this.#client, name, args);
  }

  evaluate(code: string): Promise<string> {
    return this.call("evaluate-lisp", { code });
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

const RISKY = '(defun risky (x) (restart-case (error "No ~a" x) (use (value) :report "Use a value." (list x value))))';

const texts = async (items: Locator) => (await items.allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());

/** Whether something that is waited for has not come within half a second. */
const waits = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => false), new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 500))]);

describe("a person at the page", function () {
  this.timeout(180_000);
  const folder = liveFolder("page-browser");
  let image: RealSwank;
  let agent: WatchedAgent;
  let browser: TestBrowser;

  before(async () => {
    browser = await TestBrowser.start();
  });

  beforeEach(async () => {
    image = await startRealSwank();
    agent = await WatchedAgent.start(image.port, "--approval", "strict");
    await agent.evaluate(RISKY);
  });

  afterEach(async () => {
    try {
      await browser.closePages();
    } finally {
      await agent.close();
      await image.stop();
    }
  });

  after(() => browser.close());

  const tab = (page: Page, name: string) => page.getByRole("tab", { name: new RegExp(`^${name}`) }).click();

  /** Opens the page, and waits until it is connected to the image. */
  async function open(options?: Parameters<TestBrowser["open"]>[1]): Promise<Page> {
    const page = await browser.open(agent.address, options);
    await page.getByText(/^SBCL \d/).waitFor();
    await page.getByText(/^\d+ clients?$/).waitFor();
    return page;
  }

  it("allows a restart, and the agent's call returns", async () => {
    const page = await open();
    await agent.evaluate("(risky 5)");
    const resumed = agent.call("debugger_invoke_restart", { restart: 1, values: ["(+ 1 2)"] });
    const asked = page.getByRole("article").filter({ hasText: "claude asks to" });
    await asked.getByText("(+ 1 2)").waitFor();
    await page.locator("#agents .state").getByText("asks you").waitFor();
    expect(await waits(resumed)).to.equal(true);
    await asked.getByRole("button", { name: "Allow", exact: true }).click();
    expect(await resumed).to.match(/^=> \(5 3\)$/m);
    await asked.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /claude, debugger_invoke_restart.*returned/ }).waitFor();
  });

  it("refuses one, and the agent reads that", async () => {
    const page = await open();
    await agent.evaluate("(risky 6)");
    const resumed = agent.call("debugger_invoke_restart", { restart: 1, values: ["1"] });
    await page.getByRole("button", { name: "Refuse" }).click();
    expect(await resumed).to.match(/the user said no/);
  });

  it("opens a frame of a stop by keyboard only, and evaluates in it", async () => {
    const page = await open();
    await agent.evaluate("(risky 7)");
    await page.locator(".tab .number").waitFor();
    await page.keyboard.press("2");
    await page.locator(".frame[aria-current]").waitFor();
    const focused = page.locator(":focus");
    for (let tabs = 0; (await focused.filter({ hasText: /RISKY/ }).count()) === 0; tabs += 1) {
      expect(tabs).to.be.lessThan(60);
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("End");
    await focused.filter({ hasText: /\d+ frames of Lisp below/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".frames .is-toplevel .frame:focus").waitFor();
    await page.keyboard.press("Home");
    for (let downs = 0; (await focused.filter({ hasText: /\(RISKY/ }).count()) === 0; downs += 1) {
      expect(downs).to.be.lessThan(20);
      await page.keyboard.press("ArrowDown");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Variables" }).waitFor();
    const code = page.getByLabel(/^Code to evaluate in frame/);
    for (let tabs = 0; !(await code.evaluate((field) => field === field.ownerDocument.activeElement)); tabs += 1) {
      expect(tabs).to.be.lessThan(60);
      await page.keyboard.press("Tab");
    }
    await page.keyboard.type("(* x 6)");
    await page.keyboard.press("Enter");
    await page.locator(".evaluated").getByText("=> 42").waitFor();
    await page.getByRole("button", { name: /ABORT/ }).first().click();
    await page.getByText("No thread is stopped").waitFor();
    expect(await agent.evaluate("1")).to.match(/The user invoked restart ABORT/);
  });

  it("pauses an agent, whose next call waits until it is resumed, throws it out, and lets it back", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Pause: claude" }).click();
    await page.getByRole("button", { name: "Resume: claude" }).waitFor();
    const waiting = agent.evaluate("(list :paused)");
    expect(await waits(waiting)).to.equal(true);
    await page.getByRole("button", { name: "Resume: claude" }).click();
    expect(await waiting).to.match(/^=> \(:PAUSED\)$/m);
    const running = agent.evaluate("(loop (sleep 0.1))");
    await page.getByRole("button", { name: /claude, evaluate-lisp, \(loop.*running/ }).waitFor();
    await page.getByRole("button", { name: "Throw out…: claude" }).click();
    await page.getByRole("button", { name: "Throw out", exact: true }).click();
    await running;
    expect(await agent.evaluate("1")).to.match(/The user has thrown this agent out/);
    await page.getByRole("button", { name: "Let back: claude" }).click();
    await page.getByRole("button", { name: "Pause: claude" }).waitFor();
    expect(await agent.evaluate("(+ 40 2)")).to.match(/^=> 42$/m);
  });

  it("sees the difference of a definition from its file, and undoes it", async () => {
    const file = join(folder, "stock.lisp");
    const text = "(in-package :cl-user)\n(defun stock (x)\n  (list :file x))\n";
    await writeFile(file, text);
    await agent.evaluate(`(load (compile-file ${JSON.stringify(file)}))`);
    await agent.evaluate("(defun stock (x) (list :agent x))");
    const page = await open();
    await tab(page, "Changes");
    const change = page.locator(".change").filter({ hasText: /stock/i });
    await change.waitFor();
    expect((await texts(change.locator(".is-added code"))).join()).to.include(":agent");
    expect((await texts(change.locator(".is-removed code"))).join()).to.include(":file");
    await change.getByRole("button", { name: /^Undo/ }).click();
    await change.getByRole("button", { name: "Undo", exact: true }).click();
    await change.waitFor({ state: "detached" });
    expect(await agent.evaluate("(stock 1)")).to.match(/=> \(:FILE 1\)/);
    expect(await readFile(file, "utf8")).to.equal(text);
  });

  it("loses nothing by a reload in the middle of a call and of a question", async () => {
    const page = await open();
    await agent.evaluate("(defvar *go* (sb-thread:make-semaphore))");
    await agent.evaluate("(risky 8)");
    const asked = agent.call("debugger_eval_in_frame", { frame: 0, code: "(+ 40 2)" });
    const printing = agent.evaluate(
      '(progn (format t "before~%") (finish-output) (sb-thread:wait-on-semaphore *go*) (format t "after~%") :done)',
    );
    await page.getByText("before", { exact: true }).waitFor();
    await page.locator(".question").getByText("asks to").waitFor();
    await page.reload();
    await page.getByText("before", { exact: true }).waitFor();
    await page.getByRole("button", { name: /evaluate-lisp, \(progn.*running/ }).waitFor();
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    expect(await asked).to.match(/^=> 42$/m);
    await page.getByLabel("Lisp code").fill("(sb-thread:signal-semaphore *go*)");
    await page.getByLabel("Lisp code").press("Control+Enter");
    expect(await printing).to.match(/=> :DONE/);
    await page.getByRole("button", { name: /evaluate-lisp, \(progn.*returned/ }).waitFor();
    await page.getByText("before after").waitFor();
  });

  it("sees the last of 1,100 calls and of 100 kB output in a bounded list", async () => {
    const page = await open();
    for (let begun = 0; begun < 1100; begun += 50)
      await Promise.all(Array.from({ length: 50 }, (_, index) => agent.evaluate(`(list ${begun + index})`)));
    await agent.evaluate(
      '(progn (dotimes (i 2000) (format t "line ~4d of the flood, with some text behind it~%" i)) :flood)',
    );
    const last = page.getByRole("button", { name: /evaluate-lisp, \(progn \(dotimes.*returned/ });
    await last.waitFor();
    await page.getByText("=> :FLOOD").waitFor();
    expect(await page.locator(".call-row").count()).to.be.within(20, 200);
    await last.click();
    await page.getByText("=> :FLOOD").first().waitFor();
    const output = page.locator("#call-detail pre.output");
    await output.waitFor();
    expect((await output.innerText()).length).to.be.greaterThan(90_000);
    await page.getByRole("searchbox").fill("(list 1090)");
    await page.getByText("1 of 1000").waitFor();
  });

  it("has no panel that is wider than 400 pixels", async () => {
    await agent.evaluate(`(risky ${JSON.stringify("a long text ".repeat(40))})`);
    const page = await open({ viewport: { width: 400, height: 800 } });
    await page.locator(".tab .number").waitFor();
    for (const [key, shown] of [
      ["1", ".call-row"],
      ["2", ".frame-detail .source, .frame-detail .quiet"],
      ["3", ".threads"],
      ["4", "#changes-panel [role=status]"],
      ["5", "#heap-panel table"],
      ["6", "main"],
      ["7", "main"],
    ] as const) {
      await page.keyboard.press(key);
      await page.locator(shown).first().waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth"), `panel ${key}`).to.equal(400);
    }
  });

  it("who is only to watch sees no controls", async () => {
    const server = new ServerProcess(["page", "--attach", String(image.port), "--page-read-only"]);
    try {
      await agent.evaluate("(risky 9)");
      const page = await browser.open(await pageAddress(server));
      await page.getByText("read-only").waitFor();
      await page.locator("#agents .agent").waitFor();
      await page.locator(".tab .number").waitFor();
      await tab(page, "Stops");
      await page.locator(".frame[aria-current]").waitFor();
      await page.getByRole("heading", { name: "Variables" }).waitFor();
      const controls = /^(Pause|Throw out|Tell|Evaluate|Interrupt|Undo|Save|Allow|Refuse)|ABORT/;
      for (const name of ["Stops", "Threads", "Changes"]) {
        await tab(page, name);
        await page.locator(".panel").waitFor();
        expect(await page.getByRole("button", { name: controls }).count()).to.equal(0);
      }
      expect(await page.getByRole("textbox", { name: /code/i }).count()).to.equal(0);
      await browser.closePages();
    } finally {
      server.process.kill("SIGTERM");
      await server.exited;
    }
  });
});

describe("two pages and an Emacs at once", function () {
  this.timeout(180_000);

  it("answer a question once, and the others show who has", async () => {
    const user = await BesideEmacs.connected();
    const browser = await TestBrowser.start();
    const agent = await WatchedAgent.start(user.port, "--approval", "strict");
    const second = new ServerProcess(["page", "--attach", String(user.port)]);
    try {
      const { emacs } = user;
      await following(emacs);
      await emacs.openFrame();
      await agent.evaluate(RISKY);
      const pages = await Promise.all([agent.address, await pageAddress(second)].map((each) => browser.open(each)));
      for (const page of pages) {
        await page.getByText(/^\d+ clients$/).waitFor();
        await page.locator("#agents").getByText("claude").waitFor();
      }
      const [here, elsewhere] = pages;
      if (here === undefined || elsewhere === undefined) throw new Error("Two pages are open.");
      await agent.evaluate("(risky 1)");
      const evaluate = () => agent.call("debugger_eval_in_frame", { frame: 0, code: "(+ 40 2)" });
      const asked = (page: Page) => page.locator(".question");
      const notice = (page: Page, text: RegExp) => page.locator(".notice").getByText(text).waitFor();

      let evaluated = evaluate();
      await Promise.all([...pages.map((page) => asked(page).waitFor()), question(emacs, "(+ 40 2)")]);
      await here.getByRole("button", { name: "Allow", exact: true }).click();
      expect(await evaluated).to.match(/^=> 42$/m);
      await Promise.all([notice(here, /allowed here/), notice(elsewhere, /allowed at another page/)]);
      await noQuestion(emacs);
      for (const page of pages) expect(await asked(page).count()).to.equal(0);

      evaluated = evaluate();
      await Promise.all([...pages.map((page) => asked(page).waitFor()), question(emacs, "(+ 40 2)")]);
      answer(emacs, "n");
      expect(await evaluated).to.include("the user said no in Emacs");
      await Promise.all(pages.map((page) => notice(page, /refused in Emacs/)));
      for (const page of pages) expect(await asked(page).count()).to.equal(0);
      await browser.closePages();
    } finally {
      second.process.kill("SIGTERM");
      await second.exited;
      await agent.close();
      await browser.close();
      await user.end();
    }
  });
});
