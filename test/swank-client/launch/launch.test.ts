import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { connectLaunched, type LaunchedClient, type LaunchOptions, launch, read } from "swank-client";
import { launchImage } from "swank-client/launch";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { LAUNCH_CACHE } from "../../support/test-cache.js";
import { evaluate, lost } from "../live/outcomes.js";
import { BUILDING_TIME, folders } from "./launching.js";

describe("launch", function () {
  this.timeout(BUILDING_TIME);
  const { folder } = folders();

  /** From the server's core, which has the runtime that evaluations need. */
  async function launched(): Promise<LaunchedClient> {
    return launch({ cacheDir: LAUNCH_CACHE });
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
    const image = await launchImage({ cacheDir: LAUNCH_CACHE });
    process.kill(image.pid, "SIGSTOP");
    await rejection(connectLaunched(image, { timeout: 100 }), "NOT_SWANK");
    expect(await children()).to.not.include(String(image.pid));
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

describe("Loss of a launched image", function () {
  this.timeout(BUILDING_TIME);
  const clients: LaunchedClient[] = [];

  async function launched(options: LaunchOptions = {}): Promise<LaunchedClient> {
    const client = await launch({ cacheDir: LAUNCH_CACHE, ...options });
    clients.push(client);
    return client;
  }

  afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

  it("has the image's exit code, wherever it is reported", async () => {
    const lisp = await launched();
    await lisp.prepare();
    const stuck = lisp.evaluate("(sleep 1000)");
    const asked = rejection(lisp.request(read("(cl:sleep 1000)"), { label: "sleep" }), "CONNECTION_LOST");
    const ended = rejection(lisp.eval("(sb-ext:exit :code 3 :abort t)"), "CONNECTION_LOST");
    const [outcome, ...errors] = await Promise.all([stuck.next(), asked, ended, lisp.closed]);
    for (const error of [lost(outcome).cause, ...errors]) {
      expect(error).to.have.property("code", "CONNECTION_LOST");
      expect(error).to.have.nested.property("details.exit.code", 3);
      expect(error).to.have.property("remedy", "Launch another image.");
      expect(error)
        .to.have.property("message")
        .that.contains(`The image (pid ${lisp.image.pid}) ended with exit code 3.`);
    }
    const late = await rejection(lisp.run(calls.image.listThreads), "CONNECTION_LOST");
    expect(late).to.have.nested.property("details.exit.code", 3);
  });

  it("has the signal that killed it", async () => {
    const lisp = await launched();
    const waiting = evaluate(lisp, "(loop)");
    process.kill(lisp.image.pid, "SIGKILL");
    const { exit } = lost(await waiting).cause.details;
    expect(exit).to.deep.include({ code: undefined, signal: "SIGKILL", heapExhausted: false });
    expect(await lisp.image.exited).to.equal(exit);
  });

  it("has the last lines that it printed", async () => {
    const lisp = await launched();
    const code =
      '(write-line "farewell" sb-sys:*stderr*) (finish-output sb-sys:*stderr*) (sb-ext:exit :code 1 :abort t)';
    const { message, details } = lost(await evaluate(lisp, code)).cause;
    expect(details.exit?.problem).to.equal("farewell");
    expect(message).to.match(/ ended with exit code 1\. Its last output:\nfarewell$/);
  });

  it("says that a garbage collection ran out of memory", async () => {
    const lisp = await launched({ dynamicSpaceSize: 200 });
    const { cause } = lost(
      await evaluate(lisp, "(let (l) (sb-sys:without-interrupts (loop (push (list 1 2 3 4) l))))"),
    );
    expect(cause.details.exit).to.deep.include({ code: 1, heapExhausted: true });
    expect(cause.details.exit?.problem).to.match(/^Heap exhausted during garbage collection/);
    expect(cause.remedy).to.contain("dynamicSpaceSize");
  });

  it("is no loss if this side closes the connection", async () => {
    const lisp = await launched();
    await lisp.close();
    const reason = await lisp.closed;
    expect(reason.code).to.equal("CONNECTION_CLOSED");
    expect(reason.details.exit).to.equal(undefined);
  });
});
