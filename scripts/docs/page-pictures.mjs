import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { chromium } from "playwright-core";
import { inRepository } from "../setup/paths.mjs";

/** @typedef {import("playwright-core").Page} Page */

const PROGRAM = inRepository("packages/swank-mcp/bin/swank-mcp.js");

const FOLDER = inRepository("docs/images/");

/** Of a WebP picture: sharp text at a third of the size of a PNG file. */
const QUALITY = 0.82;

const WIDE = { width: 1200, height: 760 };

const INVENTORY = `(defpackage :inventory (:use :cl))
(in-package :inventory)

(defstruct item name price count)

(defvar *items*
  (list (make-item :name "bolt" :price 2 :count 120)
        (make-item :name "nut" :price 1 :count 300)
        (make-item :name "washer" :count 80)))

(defun value-of (item)
  "The price of all pieces of ITEM."
  (* (item-price item) (item-count item)))

(defun total (items)
  (loop for item in items
        sum (value-of item)))

(defun discount (sum)
  (if (> sum 500) (* sum 9/10) sum))

(defvar *stock-lock* (sb-thread:make-mutex :name "stock"))
(defvar *order-lock* (sb-thread:make-mutex :name "orders"))

(defun hold-both (first second ready go)
  (sb-thread:with-mutex (first)
    (sb-thread:signal-semaphore ready)
    (sb-thread:wait-on-semaphore go)
    (sb-thread:with-mutex (second) t)))

(defun parse-line (text) (read-from-string (remove #\\; text)))
(defun check-lines (count)
  (loop repeat count sum (first (parse-line "(12; bolt)"))))
(defun nightly-report () (loop (check-lines 5000) (sort (loop repeat 5000 collect (random 1.0)) #'<)))
`;

/** Two threads that wait for each other. SBCL's own check, which would signal an error in one, is off. */
const DEADLOCK = `(let ((ready (sb-thread:make-semaphore)) (go (sb-thread:make-semaphore)))
  (sb-int:encapsulate 'sb-thread::check-deadlock 'picture (lambda (f &rest args) (declare (ignore f args)) nil))
  (sb-thread:make-thread #'hold-both :name "restock" :arguments (list *stock-lock* *order-lock* ready go))
  (sb-thread:make-thread #'hold-both :name "ship orders" :arguments (list *order-lock* *stock-lock* ready go))
  (sb-thread:make-thread #'nightly-report :name "nightly report")
  (loop repeat 2 do (sb-thread:wait-on-semaphore ready))
  (sb-thread:signal-semaphore go 2)
  :started)`;

/** Makes the pictures of docs/page.md anew, in docs/images. They show times, so that each run makes others. Needs the build, SBCL and Chromium. */
export async function makePagePictures() {
  const folder = join(tmpdir(), "inventory");
  await mkdir(folder);
  const tokens = ["--token-file", join(folder, "tokens.json")];
  const [claude = "", reviewer = ""] = ["claude", "reviewer"].map((name) => token(name, tokens));
  const options = ["--port", "0", "--page", "--approval", "strict", "--no-user-init", ...tokens];
  const server = spawn(process.execPath, [PROGRAM, "http", ...options]);
  const browser = await chromium.launch({ args: ["--no-sandbox"], ...(await installed()) });
  try {
    const [[, url = ""], [, address = ""]] = await Promise.all([
      written(server.stdout, /^Serving (\S+)$/m),
      written(server.stderr, /the page is at (\S+)$/m),
    ]);
    const file = join(folder, "inventory.lisp");
    await writeFile(file, INVENTORY);
    await session(browser, { url, address, file, claude, reviewer });
  } finally {
    await browser.close();
    server.kill();
    await once(server, "close");
    await rm(folder, { recursive: true });
  }
}

/**
 * What happens on the pictures: an agent totals an inventory in which a price is missing, while another one looks on.
 *
 * @param {import("playwright-core").Browser} browser
 * @param {{ url: string, address: string, file: string, claude: string, reviewer: string }} at - With the agents' tokens.
 */
async function session(browser, { url, address, file, ...tokens }) {
  const [claude, reviewer] = await Promise.all([connected(tokens.claude, url), connected(tokens.reviewer, url)]);
  const context = await browser.newContext({ viewport: WIDE });
  const page = await context.newPage();
  await page.goto(address);
  const tab = (/** @type {string} */ name) => page.getByRole("tab", { name: new RegExp(`^${name}`) }).click();

  await claude("evaluate-lisp", { code: `(load (compile-file ${JSON.stringify(file)}))` });
  await claude("evaluate-lisp", { code: "(in-package :inventory)" });
  await reviewer("evaluate-lisp", { code: "(in-package :inventory)" });
  await claude("describe-symbol", { name: "total" });
  await claude("evaluate-lisp", {
    code: '(dolist (item *items*)\n  (format t "~8a ~4d~%" (item-name item) (item-count item)))',
  });
  await reviewer("search-source", { pattern: "discount" });
  await claude("evaluate-lisp", { code: "(total *items*)" });
  await page.getByRole("button", { name: /\(total \*items\*\).*stopped/ }).waitFor();
  const asked = claude("debugger_eval_in_frame", {
    frame: 2,
    code: "(setf (item-price item) 3)",
  });
  await page.locator(".question").waitFor();
  await setTimeout(1000);
  await picture(page, "question", "dark");
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await asked;
  await page.locator(".question").waitFor({ state: "detached" });
  await setTimeout(8000);

  await tab("Stops");
  await page.locator(".frame-detail .source").waitFor();
  await picture(page, "stop", "light");

  await claude("evaluate-lisp", {
    code: '(defun value-of (item)\n  "The price of all pieces of ITEM, 0 without a price."\n  (* (or (item-price item) 0) (item-count item)))',
  });
  await tab("Timeline");
  const retried = claude("debugger_invoke_restart", { restart: 2 });
  await page.locator(".question").waitFor();
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await retried;
  const counting = reviewer("evaluate-lisp", {
    code: '(dotimes (n 400)\n  (format t "checking shelf ~d~%" (1+ n))\n  (finish-output)\n  (sleep 0.3))',
    timeout: 120,
  });
  await page.getByText(/checking shelf 3/).waitFor();
  await setTimeout(8000);
  for (const theme of /** @type {const} */ (["light", "dark"])) await picture(page, "timeline", theme);

  await tab("Changes");
  await page.locator(".change .diff").waitFor();
  await picture(page, "changes", "dark");

  await claude("evaluate-lisp", { code: DEADLOCK });
  await tab("Threads");
  await page.getByLabel(/Hide threads of Lisp/).check();
  await page.locator(".waits svg").first().waitFor();
  await picture(page, "threads", "light");

  await tab("Profile");
  await page.getByLabel("for").fill("2");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("tree").waitFor();
  await picture(page, "profile", "light");
  await page.close();
  await Promise.race([counting, setTimeout(100)]);
}

/**
 * @param {Page} page
 * @param {string} name
 * @param {"light" | "dark"} theme
 */
async function picture(page, name, theme) {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await setTimeout(300);
  const png = (await page.screenshot()).toString("base64");
  const drawing = await page.context().newPage();
  const encoded = await drawing.evaluate(
    `(async () => {
      const image = Object.assign(new Image(), { src: "data:image/png;base64,${png}" });
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
      canvas.getContext("2d").drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", ${QUALITY}).split(",")[1];
    })()`,
  );
  await drawing.close();
  const path = join(FOLDER, `page-${name}-${theme}.webp`);
  await writeFile(path, Buffer.from(String(encoded), "base64"));
  process.stdout.write(`${path}\n`);
}

/**
 * Makes a token for an agent.
 *
 * @param {string} name
 * @param {readonly string[]} options
 */
function token(name, options) {
  const printed = execFileSync(process.execPath, [PROGRAM, "token", "add", name, ...options], { encoding: "utf8" });
  return /swank_mcp_\S+/.exec(printed)?.[0] ?? "";
}

/**
 * Connects an agent, and returns what calls its tools.
 *
 * @param {string} token
 * @param {string} url
 */
async function connected(token, url) {
  const client = new Client({ name: "agent", version: "1" });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return (/** @type {string} */ tool, /** @type {Record<string, unknown>} */ args) =>
    client.callTool({ name: tool, arguments: args }).catch(() => undefined);
}

/**
 * Waits until a stream has a text.
 *
 * @param {import("node:stream").Readable} stream
 * @param {RegExp} pattern
 * @returns {Promise<RegExpExecArray>}
 */
async function written(stream, pattern) {
  let text = "";
  stream.setEncoding("utf8").on("data", (part) => {
    text += part;
  });
  for (;;) {
    const found = pattern.exec(text);
    if (found !== null) return found;
    await setTimeout(50);
  }
}

/** The browser of the tests. */
async function installed() {
  const names = JSON.parse(await readFile(inRepository("scripts/setup/browsers.json"), "utf8"));
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const executablePath = folders
    .flatMap((folder) => names.map((/** @type {string} */ name) => join(folder, name)))
    .find(existsSync);
  return executablePath === undefined ? {} : { executablePath };
}
