import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

/** Milliseconds that the page has to show what a test waits for. */
const PATIENCE = 30_000;

const NAMES = new URL("../../../scripts/setup/browsers.json", import.meta.url);

/** The program of an installed browser; `undefined` lets playwright use the one that it has installed. */
function installedBrowser(): string | undefined {
  const names: unknown = JSON.parse(readFileSync(NAMES, "utf8"));
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const candidates = Array.isArray(names)
    ? names.flatMap((name) => folders.map((each) => join(each, String(name))))
    : [];
  return candidates.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A headless browser for the tests of a file. It fails a test whose page has logged an error, unless the test expects it. */
export class TestBrowser {
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];
  /** What pages have logged as errors, which a blocked script or style is, too. */
  readonly errors: string[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** @param options - Further options of Chromium. */
  static async start(options: readonly string[] = []): Promise<TestBrowser> {
    const executablePath = installedBrowser();
    // Containers run tests as root, whom Chromium's sandbox refuses.
    const args = ["--no-sandbox", "--disable-dev-shm-usage", ...options];
    const browser = await chromium.launch({ args, ...(executablePath === undefined ? {} : { executablePath }) });
    return new TestBrowser(browser);
  }

  /** A page with cookies of its own. */
  async open(url: string, options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
    const context = await this.#browser.newContext(options);
    this.#contexts.push(context);
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error") this.errors.push(message.text());
    });
    page.on("pageerror", (error) => this.errors.push(error.message));
    await page.goto(url);
    return page;
  }

  /** Closes all pages. @throws Error - if one has logged an error. */
  async closePages(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
    const errors = this.errors.splice(0);
    if (errors.length > 0) throw new Error(`The page has logged errors:\n${errors.join("\n")}`);
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}
