import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Outcome } from "swank-client";
import { KEYS, McpTerminal } from "../support/mcp-terminal.js";
import { liveImage } from "../swank-client/live/live-image.js";
import { exampleCommand } from "./run-example.js";

describe("examples/watch-threads.mjs", function () {
  this.timeout(60_000);
  const image = liveImage();
  let state: string;
  let watcher: McpTerminal;

  beforeEach(async () => {
    state = await mkdtemp(join(tmpdir(), "watch-"));
    const command = [process.execPath, ...exampleCommand("watch-threads.mjs", [String(image.swank.port), "50"])];
    watcher = new McpTerminal({ command, state });
    await watcher.shows('+ thread 1 "main thread": Running');
  });
  afterEach(async () => {
    watcher.kill();
    await watcher.exited;
    await rm(state, { recursive: true });
  });

  function stopOf(outcome: Outcome) {
    if (outcome.status !== "stopped") throw new Error(`The evaluation ${outcome.status}.`);
    return outcome.stop;
  }

  it("prints threads that start and end", async () => {
    const client = await image.connect();
    await client.eval(
      '(defvar *go* (sb-thread:make-semaphore)) (sb-thread:make-thread (lambda () (sb-thread:wait-on-semaphore *go*)) :name "counter")',
    );
    await watcher.shows('"counter": ');
    await client.eval("(sb-thread:signal-semaphore *go*)");
    await watcher.shows('"counter" has ended');
  });

  it("prints a stop of another client with restarts and frames, and its end, and leaves the stop alone", async () => {
    const client = await image.connect();
    const evaluation = client.evaluate('(defun fragile (x) (error "bad ~a" x) x) (fragile 42)');
    const stop = stopOf(await evaluation.next());
    await watcher.shows(`! thread ${stop.thread} "worker" has stopped in another swank-mcp or swank-client`);
    await watcher.shows("SIMPLE-ERROR: bad 42");
    await watcher.shows("restart ABORT: ");
    await watcher.shows("frame 0: (FRAGILE 42)");
    expect(stop.isLive).to.equal(true);
    await stop.abort();
    await watcher.shows(`thread ${stop.thread} "worker" has left the debugger at level 1`);
    expect((await evaluation.next()).status).to.equal("aborted");
  });

  it("leaves no list of threads, on which a thread browser would act", async () => {
    watcher.press(KEYS.interrupt);
    await watcher.exited;
    expect(await image.ask("(cl:null swank::*thread-list*)")).to.equal("T");
  });

  it("ends at Ctrl-C, and the image continues", async () => {
    watcher.press(KEYS.interrupt);
    expect(await watcher.exited).to.equal(0);
    expect(await (await image.connect()).eval("(+ 1 2)")).to.deep.equal(["3"]);
  });

  it("ends with a message when the image ends", async () => {
    image.swank.process.kill("SIGKILL");
    expect(await watcher.exited).to.equal(1);
    // a connection is reset instead of closed if the image had not read everything
    expect(watcher.text).to.match(/closed the connection|The connection to .* failed: read ECONNRESET/);
  });
});
