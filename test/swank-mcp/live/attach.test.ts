import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { connect } from "swank-client";
import { attachedTo, liveFolder, liveServer, liveSwank } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";

describe("swank-mcp --attach", () => {
  const folder = liveFolder("attach", { each: true });
  const log = join(folder, "log");
  const lisp = liveSwank({ each: true });
  const server = liveServer({ each: true, args: attachedTo(lisp, "--log-file", log) });

  it("leaves no thread behind and the image unchanged", async () => {
    const other = await connect({ port: lisp.port });
    const threads = "(length (remove-if-not #'sb-thread:thread-alive-p (sb-thread:list-all-threads)))";
    const count = async () => {
      const outcome = await other.evaluate(threads).next();
      return outcome.status === "returned" ? Number(outcome.values[0]) : Number.NaN;
    };
    // The first evaluation creates what the image needs once for all evaluations.
    await count();
    // Threads of earlier requests may still be ending.
    let before = await count();
    for (let round = 0; round < 10; round += 1) before = Math.min(before, await count());
    await server.evaluate('(error "stopped")');
    await server.evaluate("(loop)", { timeout: 0.2 });
    const running = server.evaluate("(loop)").catch(() => []);
    expect(await count()).to.be.above(before);
    server.process.kill("SIGTERM");
    expect((await server.exited).code).to.equal(143);
    await running;
    let now = await count();
    while (now > before) now = await count();
    expect(now).to.equal(before);
    await other.close();
  });

  it("fails the running call when the image is killed, names the remedy, and launches no other image", async () => {
    const running = server.evaluate("(loop (sleep 0.01))");
    await server.evaluate("1");
    lisp.process.kill("SIGKILL");
    const [report] = await running;
    expect(report).to.match(
      new RegExp(`^\\[ERROR\\] IMAGE-LOST\\nThe connection to 127\\.0\\.0\\.1:${lisp.port} was lost`),
    );
    const lost = /the connection to the image with pid (\d+) was lost: .*127\.0\.0\.1:/;
    while (!lost.test(await readFile(log, "utf8"))) await setTimeout(20);
    expect(lost.exec(await readFile(log, "utf8"))?.[1]).to.equal(String(lisp.process.pid));
    // The port can still be open after a connection has closed.
    await lisp.stop();
    const refusal = await server.call("evaluate-lisp", { code: "1" });
    expect(refusal.isError).to.equal(true);
    expect(refusal.structuredContent).to.have.nested.property("error.data.type", "LISP_UNREACHABLE");
    expect(blocks(refusal)[0]).to.include(`\n  (swank:create-server :port ${lisp.port} :dont-close t)\n`);
    expect(blocks(await server.call("describe-last-error"))[0]).to.match(/^Error: IMAGE-LOST\n/);
  });
});
