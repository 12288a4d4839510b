import { setTimeout } from "node:timers/promises";
import type { ElicitResult } from "@modelcontextprotocol/client";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "chai";
import type { HttpAddress } from "../../support/http-server.js";
import { liveHttp } from "../../support/live-server.js";
import { connectFirst, connectSecond } from "../../support/official-clients.js";

const RESOURCES = ["lisp://stops", "lisp://errors/last", "lisp://definitions"];

/** What the tests use of a client of either line of the SDK. */
interface Reader {
  readonly updates: readonly string[];
  call(name: string, args: object): Promise<unknown>;
  read(uri: string): Promise<string>;
  subscribe(uris: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const asked: string[] = [];

async function ask(message: string): Promise<ElicitResult> {
  asked.push(message);
  return { action: "accept", content: { answer: "Yes" } };
}

async function first(at?: HttpAddress): Promise<Reader> {
  const client = await connectFirst(ask, at);
  const updates: string[] = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updates.push(params.uri));
  return {
    updates,
    call: (name, args) => client.callTool({ name, arguments: { ...args } }),
    read: async (uri) => textOf(await client.readResource({ uri })),
    async subscribe(uris) {
      for (const uri of uris) await client.subscribeResource({ uri });
    },
    close: () => client.close(),
  };
}

async function second(mode: "legacy" | { readonly pin: string }, at?: HttpAddress): Promise<Reader> {
  const client = await connectSecond(mode, ask, at);
  const updates: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updates.push(params.uri));
  return {
    updates,
    call: (name, args) => client.callTool({ name, arguments: { ...args } }),
    read: async (uri) => textOf(await client.readResource({ uri })),
    async subscribe(uris) {
      if (mode === "legacy") for (const uri of uris) await client.subscribeResource({ uri });
      else await client.listen({ resourceSubscriptions: [...uris] });
    },
    close: () => client.close(),
  };
}

function textOf({ contents: [content] }: { contents: readonly object[] }): string {
  if (content === undefined || !("text" in content)) throw new Error("The resource has no text.");
  return String(content.text);
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await setTimeout(20);
}

for (const [line, connect] of [
  ["the first line", first],
  ["the second line, revision 2025-11-25,", (at?: HttpAddress) => second("legacy", at)],
  ["the second line, revision 2026-07-28,", (at?: HttpAddress) => second({ pin: "2026-07-28" }, at)],
] as const)
  for (const place of ["stdio", "HTTP"] as const)
    describe(`resources for the SDK's client of ${line} over ${place}`, () => {
      const http = place === "HTTP" ? liveHttp() : undefined;
      let client: Reader;

      before(async function () {
        this.timeout(600_000);
        client = await connect(http?.client());
        asked.splice(0);
      });
      after(() => client.close());

      it("show stops, the last error and definitions, and tell when they change", async () => {
        await client.call("evaluate-lisp", { code: "(+ 1 2)" });
        await client.subscribe(RESOURCES);
        expect(await client.read("lisp://stops")).to.equal("No thread is stopped.");
        await client.call("evaluate-lisp", {
          code: '(defun halve (n) (restart-case (if (oddp n) (error "~a is odd." n) (/ n 2)) (use-zero () 0)))',
        });
        await until(() => client.updates.includes("lisp://definitions"));
        expect(await client.read("lisp://definitions")).to.match(/^\[functions\]\n.*HALVE$/);
        expect(client.updates).not.to.include("lisp://stops");
        await client.call("evaluate-lisp", { code: "(halve 3)" });
        await until(() => client.updates.includes("lisp://stops") && client.updates.includes("lisp://errors/last"));
        const stops = await client.read("lisp://stops");
        expect(stops).to.match(
          /^1 thread is stopped\.\n\nThread (\d+\/1) .*stopped with an error\.\n\nError: SIMPLE-ERROR\n {2}3 is odd\./,
        );
        expect(stops)
          .to.match(/\d\. USE-ZERO/)
          .and.to.include("(HALVE 3)");
        expect(await client.read("lisp://errors/last")).to.include("3 is odd.");
        const before = client.updates.filter((uri) => uri === "lisp://stops").length;
        await client.call("debugger_invoke_restart", { restart: "USE-ZERO" });
        await until(() => client.updates.filter((uri) => uri === "lisp://stops").length > before);
        expect(await client.read("lisp://stops")).to.equal("No thread is stopped.");
      });

      it("show a stop that no call has waited for, and ask the user nothing", async () => {
        asked.splice(0);
        const before = client.updates.length;
        await client.call("evaluate-lisp", {
          code: '(sb-thread:make-thread (lambda () (sleep 0.3) (error "Nobody waits.")) :name "apart")',
        });
        await until(() => client.updates.slice(before).includes("lisp://stops"));
        expect(await client.read("lisp://stops")).to.match(/Thread \d+\/1 \(apart\)[\s\S]*Nobody waits\./);
        expect(asked).to.deep.equal([]);
      });
    });
