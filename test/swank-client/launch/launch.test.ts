import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { connectLaunched, type LaunchedClient, launch } from "swank-client";
import { launchImage } from "swank-client/launch";
import { rejection } from "../../support/caught.js";
import { testCache } from "../../support/test-cache.js";
import { BUILDING_TIME, folders } from "./launching.js";

describe("launch", function () {
  this.timeout(BUILDING_TIME);
  const { folder } = folders();

  /** From the server's core, which has the runtime that evaluations need. */
  async function launched(): Promise<LaunchedClient> {
    return launch({ cacheDir: testCache("swank-mcp") });
  }

  it("starts an image and connects to it; close ends both", async () => {
    const client = await launched();
    expect((await client.evaluate("(+ 1 2)").next()).status).to.equal("returned");
    expect(client.info.pid).to.equal(client.image.pid);
    await client.close();
    expect(client.isOpen).to.equal(false);
    expect(await children()).to.not.include(String(client.image.pid));
  });

  it("close aborts a stopped evaluation, and may be called again", async () => {
    const client = await launched();
    const evaluation = client.evaluate("(break)");
    await evaluation.next();
    await client.close();
    expect((await evaluation.next()).status).to.equal("aborted");
    await client.close();
  });

  it("close runs the cleanup of an evaluation that runs, and ends the image of one that cannot be aborted", async () => {
    const file = join(await folder(), "cleaned-up");
    const client = await launched();
    const running = client.evaluate(
      `(unwind-protect (loop (sleep 0.01)) (open "${file}" :direction :probe :if-does-not-exist :create))`,
    );
    const stuck = client.evaluate("(sb-sys:without-interrupts (loop (sleep 0.01)))");
    await client.evaluate("(sleep 1/2)").next();
    await client.close();
    expect((await running.next()).status).to.equal("aborted");
    expect((await stuck.next()).status).to.equal("lost");
    expect(existsSync(file)).to.equal(true);
    expect(await children()).to.not.include(String(client.image.pid));
  });

  it("close kills an image that does not answer, with its evaluation", async () => {
    const client = await launched();
    await client.prepare();
    const evaluation = client.evaluate("(sleep 1000)");
    process.kill(client.image.pid, "SIGSTOP");
    await client.close();
    expect((await evaluation.next()).status).to.equal("lost");
    expect(await client.image.exited).to.deep.include({ code: undefined, signal: "SIGKILL" });
  });

  it("leaves no image behind when it cannot connect in time", async () => {
    const image = await launchImage({ cacheDir: testCache("swank-mcp") });
    process.kill(image.pid, "SIGSTOP");
    await rejection(connectLaunched(image, { timeout: 100 }), "NOT_SWANK");
    expect(await children()).to.deep.equal([]);
  });

  it("refuses invalid options before it starts a process", async () => {
    const options = { heartbeat: { intervall: 1 }, lisp: "/nowhere/sbcl" };
    const error = await rejection(Reflect.apply(launch, undefined, [options]), "INVALID_ARGUMENT");
    expect(error.message).to.equal('heartbeat has no option "intervall". Did you mean "interval"?');
  });
});

/** Process ids of this process's children. */
async function children(): Promise<readonly string[]> {
  const lists = await Promise.all(
    (await readdir("/proc/self/task")).map((task) => readFile(`/proc/self/task/${task}/children`, "utf8")),
  );
  return lists.flatMap((list) => list.split(" ").filter((pid) => pid !== ""));
}
