import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { HttpClient } from "../support/http-client.js";
import { HttpServer } from "../support/http-server.js";

const CLIENTS = 20;

const MINUTES = Number(process.env["SOAK_MINUTES"] ?? 10);

/** Megabytes that the server's memory may grow between the first third of the time and the end. */
const MOST_GROWTH = 60;

describe("an HTTP server with clients that come and go", () => {
  it("gives each its own answers, and leaves no stop, thread or memory", async function () {
    this.timeout((MINUTES + 5) * 60_000);
    // Without a limit, Node collects garbage only after a long time.
    const environment = { NODE_OPTIONS: "--max-old-space-size=120" };
    const http = await HttpServer.start(["--session-minutes", "0.2", "--max-clients", "100"], { environment });
    const watcher = new HttpClient(http.client("watcher"));
    const threads = await threadsIn(watcher);
    const end = performance.now() + MINUTES * 60_000;
    let answers = 0;
    const early = setTimeout(MINUTES * 20_000).then(() => residentMegabytes(http));
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, number) => {
        for (let life = 0; performance.now() < end; life += 1)
          answers += await live(http, `client-${number}-${life}`, number + life);
      }),
    );
    expect(answers).to.be.above(CLIENTS);
    expect((await residentMegabytes(http)) - (await early)).to.be.below(MOST_GROWTH);
    // Those that were killed are forgotten after a while.
    while ((await threadsIn(watcher)) > threads) await setTimeout(1000);
    expect((await watcher.call("lisp-status")).structuredContent).to.deep.include({ stopped: [] });
    await http.close();
  });
});

/** A client's life: calls whose answers must be its own, and an end, which may be sudden. Returns the number of its answers. */
async function live(http: HttpServer, name: string, number: number): Promise<number> {
  const at = http.client(name);
  const client = number % 2 === 0 ? new HttpClient(at) : await HttpClient.initialized(at);
  let answers = 0;
  const expecting = async (code: string, expected: string) => {
    answers += 1;
    expect(await client.evaluate(code)).to.include(expected);
  };
  for (let round = 0; round < 5; round += 1) {
    const mark = `${name}-${round}`;
    await Promise.all([1, 2, 3].map((part) => expecting(`(progn (sleep 0.01) "${mark}-${part}")`, `${mark}-${part}`)));
    await expecting(`(error "${mark}")`, mark);
    await expecting(`(progn (defpackage "${mark}") (in-package "${mark}") "${mark}")`, mark);
    await expecting("(cl:package-name cl:*package*)", mark);
    await expecting("(cl:in-package :cl-user)", "COMMON-LISP-USER");
    expect(JSON.stringify(await client.call("debugger_restarts"))).to.include("ABORT");
    await client.call("debugger_invoke_restart", { restart: "ABORT" });
    await expecting(`(prog1 "${mark}" (delete-package "${mark}"))`, mark);
  }
  if (number % 3 === 0) {
    await client.evaluate(`(error "left by ${name}")`);
    const killed = AbortSignal.timeout(300);
    await client.evaluate("(sleep 60)", { signal: killed }).catch(() => undefined);
  } else if (client.session !== undefined) await client.delete();
  http.tokens.remove(name);
  return answers;
}

async function threadsIn(client: HttpClient): Promise<number> {
  return Number(/^=> (\d+)/.exec(await client.evaluate("(length (sb-thread:list-all-threads))"))?.[1]);
}

async function residentMegabytes({ pid }: HttpServer): Promise<number> {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}
