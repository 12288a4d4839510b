import { expect } from "chai";
import { type LaunchedClient, type LaunchOptions, launch, read } from "swank-client";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { testCache } from "../../support/test-cache.js";
import { evaluate, lost } from "../live/outcomes.js";
import { BUILDING_TIME } from "./launching.js";

describe("Loss of a launched image", function () {
  this.timeout(BUILDING_TIME);
  const clients: LaunchedClient[] = [];

  async function launched(options: LaunchOptions = {}): Promise<LaunchedClient> {
    const client = await launch({ cacheDir: testCache("swank-mcp"), ...options });
    clients.push(client);
    return client;
  }

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

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
