import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { CallToolResult, Client, ElicitResult } from "@modelcontextprotocol/client";
import { getToolUiResourceUri } from "@modelcontextprotocol/ext-apps/app-bridge";
import { expect } from "chai";
import { build, stop } from "esbuild";
import type { FrameLocator, Page } from "playwright-core";
import { TestBrowser } from "../../support/browser.js";
import { connectSecond } from "../../support/official-clients.js";

const EXTENSION = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };

const HOST = fileURLToPath(new URL("../../../../test/support/app-host.mjs", import.meta.url));

const AVERAGES = `(progn
  (defun average (numbers)
    (restart-case (/ (reduce #'+ numbers) (length numbers))
      (use-value (value) value)
      (use-zero () :report "Use 0." 0)))
  (mapcar #'average '((1 2) () (3))))`;

let bundled: Promise<string> | undefined;

/** What the host's page runs, bundled once. */
function hostScript(): Promise<string> {
  bundled ??= bundledHost();
  return bundled;
}

async function bundledHost(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [HOST],
    bundle: true,
    write: false,
    format: "iife",
    logLevel: "error",
  });
  // Otherwise its process remains a child of this one, for all later test files.
  await stop();
  return outputFiles[0]?.text ?? "";
}

for (const mode of ["legacy", { pin: "2026-07-28" }] as const)
  describe(`the app that shows a stop, in a host of revision ${mode === "legacy" ? "2025-11-25" : "2026-07-28"}`, () => {
    let client: Client;
    let browser: TestBrowser;
    let script: string;
    let answer: ElicitResult;
    let asked: string[] = [];

    before(async function () {
      this.timeout(600_000);
      const ask = async (message: string) => {
        asked.push(message);
        return answer;
      };
      client = await connectSecond(mode, ask, [], EXTENSION);
      browser = await TestBrowser.start();
      script = await hostScript();
    });
    after(async () => {
      await browser.close();
      await client.close();
    });
    beforeEach(() => {
      asked = [];
      answer = { action: "accept", content: { answer: "Yes" } };
    });
    afterEach(() => browser.closePages());

    /** Calls a tool, and shows its answer as a host does that knows the tool's entry. @param meanwhile - Happens before it is shown. */
    async function shown(
      name: string,
      args: Record<string, unknown>,
      meanwhile?: () => Promise<unknown>,
    ): Promise<{ page: Page; app: FrameLocator }> {
      const { tools } = await client.listTools();
      const uri = getToolUiResourceUri(tools.find((tool) => tool.name === name) ?? {}) ?? "";
      const [content] = (await client.readResource({ uri })).contents;
      if (content === undefined || !("text" in content)) throw new Error("There is no app.");
      expect(content.mimeType).to.equal("text/html;profile=mcp-app");
      const result = await client.callTool({ name, arguments: args });
      await meanwhile?.();
      const page = await browser.open("data:text/html,<!doctype html><body></body>");
      await page.exposeFunction("callTool", (call: { name: string }): Promise<CallToolResult> => client.callTool(call));
      await page.addScriptTag({ content: script });
      const given = JSON.stringify({ html: content.text, args, result });
      await page.evaluate(`showApp(${given})`);
      return { page, app: page.frameLocator("iframe") };
    }

    it("shows the condition and, when a restart is clicked and allowed, the value of the call", async () => {
      const { page, app } = await shown("evaluate-lisp", { code: AVERAGES });
      await app.getByRole("heading", { name: "DIVISION-BY-ZERO" }).waitFor();
      await app.getByText("stopped with an error").waitFor();
      await app.locator(".restart", { hasText: "USE-ZERO" }).click();
      await app.getByRole("heading", { name: "Returned" }).waitFor();
      expect(await app.locator(".end").textContent()).to.include("(3/2 0 3)");
      expect(asked).to.have.lengthOf(1);
      expect(asked[0]).to.match(/USE-ZERO/);
      const told = String(await page.evaluate("told.join()"));
      expect(told).to.match(/^The user invoked USE-ZERO in thread \d+\/1\. The answer was:\n[\s\S]*\(3\/2 0 3\)/);
    });
    // The revision matters for the app, the call and the question, which that test has.
    if (mode === "legacy") return;

    it("gives a restart the values that the person writes", async () => {
      const { app } = await shown("evaluate-lisp", { code: AVERAGES });
      await app.getByRole("button", { name: "Invoke USE-VALUE with values" }).click();
      await app.getByLabel("Value 1 for USE-VALUE").fill("(* 6 7)");
      await app.getByRole("button", { name: "Invoke USE-VALUE", exact: true }).click();
      await app.getByText("(3/2 42 3)").waitFor();
    });

    it("opens frames to their variables, and these to their parts", async () => {
      const { app } = await shown("evaluate-lisp", {
        code: '(progn (defun total (items) (dolist (item items) (error "Bad: ~a" item))) (total (list (vector 1 :tea) 2)))',
      });
      await app.locator(".frame", { hasText: "(TOTAL" }).first().click();
      const line = app.locator(".objects .line", { hasText: "ITEM" }).first();
      await line.waitFor();
      expect(await line.textContent()).to.include("#(1 :TEA)");
      await line.getByRole("button").first().click();
      await app.locator(".parts .line", { hasText: ":TEA" }).first().waitFor();
    });

    it("evaluates in a frame", async () => {
      const { app } = await shown("evaluate-lisp", { code: "(progn (defun half (n) (/ n (- n n))) (half 21))" });
      await app.locator(".frame", { hasText: "(HALF" }).first().click();
      await app.getByLabel(/Code to evaluate in frame/).fill("(* n 2)");
      await app.getByRole("button", { name: "Evaluate", exact: true }).click();
      await app.locator(".evaluated", { hasText: "=> 42" }).waitFor();
      expect(asked).to.have.lengthOf(1);
    });

    it("is shown for debugger_frames, too", async () => {
      await client.callTool({ name: "evaluate-lisp", arguments: { code: '(error "Seen later.")' } });
      const { app } = await shown("debugger_frames", {});
      await app.getByRole("heading", { name: "SIMPLE-ERROR" }).waitFor();
      await app.getByText("Seen later.").first().waitFor();
    });

    it("leaves the stop as it is when the restart is refused, and says so", async () => {
      const { app } = await shown("evaluate-lisp", { code: AVERAGES });
      answer = { action: "decline" };
      await app.locator(".restart", { hasText: "USE-ZERO" }).click();
      await app.getByRole("alert").waitFor();
      expect(await app.getByRole("alert").textContent()).to.match(/not allowed|declined|denied/i);
      await app.getByRole("heading", { name: "DIVISION-BY-ZERO" }).waitFor();
    });

    it("shows an answer without a stop", async () => {
      const { app } = await shown("evaluate-lisp", { code: "(+ 40 2)" });
      await app.getByRole("heading", { name: "Returned" }).waitFor();
      expect(await app.locator(".end").textContent()).to.include("=> 42");
    });

    it("says that a stop has ended, with what its answer said", async () => {
      const abort = () => client.callTool({ name: "debugger_invoke_restart", arguments: { restart: "ABORT" } });
      const { app } = await shown("evaluate-lisp", { code: '(error "Long ago.")' }, abort);
      await app.getByRole("heading", { name: "This stop has ended" }).waitFor();
      expect(await app.locator(".end").textContent()).to.include("Long ago.");
      expect(await app.getByRole("button").count()).to.equal(0);
    });

    it("shows everything that Lisp prints as text, and loads nothing", async () => {
      const markup = "<img src=x onerror=parent.hurt=1><script>parent.hurt=1</script><b>bold</b>";
      const { page, app } = await shown("evaluate-lisp", {
        code: `(let ((|${markup}| "${markup}")) (restart-case (error "~a" |${markup}|) (|${markup}| () :report "${markup}" 1)))`,
      });
      await app.getByText(markup).first().waitFor();
      await setTimeout(200);
      expect(await app.locator("img, b, body script:not([type=module])").count()).to.equal(0);
      expect(await page.evaluate("window.hurt")).to.equal(undefined);
    });
  });
