import { expect } from "chai";
import type { SwankClient } from "swank-client";
import { LiveImage } from "./live-image.js";
import { evaluate, lost, stopped, values } from "./outcomes.js";

/** Every test here is the end of its image. */
describe("End of an image", () => {
  let image: LiveImage;
  let client: SwankClient;
  beforeEach(async () => {
    image = new LiveImage();
    await image.start();
    client = await image.connect();
  });
  afterEach(() => image.stop());

  for (const code of [
    "(sb-ext:exit)",
    "(sb-ext:exit :code 3)",
    "(sb-ext:exit :abort t)",
    "(exit :code 1 :timeout 1)",
  ]) {
    it(`ends the evaluation that requested it: ${code}`, async () => {
      const evaluation = client.evaluate(`(princ "last words") ${code}`);
      const outcome = lost(await evaluation.next());
      expect(outcome.cause.code).to.equal("CONNECTION_LOST");
      if (!code.includes(":abort")) expect(outcome.stdout).to.equal("last words");
      expect(client.isOpen).to.equal(false);
      expect((await client.closed).code).to.equal("CONNECTION_LOST");
      lost(await evaluation.next());
      expect(await evaluation.interrupt()).to.equal(false);
      lost(await evaluation.abort());
    });
  }

  it("while the runtime is still being loaded ends the evaluation as a loss, too", async () => {
    const evaluation = client.evaluate("(sleep 100)");
    image.swank.process.kill("SIGKILL");
    expect(lost(await evaluation.next()).cause.code).to.match(/^CONNECTION_/);
  });

  it("ends all evaluations, stops and requests", async () => {
    const running = client.evaluate("(loop)");
    const halted = client.evaluate('(error "x")');
    const { stop } = stopped(await halted.next());
    const waits = [
      running.next(),
      running.next({ timeout: 1e6 }),
      halted.next(),
      client.evaluate("(sleep 1000)").next(),
    ];
    const questions = [client.request([], { label: "nothing" }), stop.frames(), client.prepare()].map((question) =>
      question.then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
    await values(client, "1");
    image.swank.process.kill("SIGKILL");
    for (const outcome of await Promise.all(waits)) expect(lost(outcome).cause.code).to.match(/^CONNECTION_/);
    await Promise.all(questions);
    expect(stop.isLive).to.equal(false);
    expect(client.stops).to.deep.equal([]);
    expect(client.evaluations).to.deep.equal([]);
    const refused = await stop.invokeRestart(0).catch((error: unknown) => error);
    expect(refused).to.include({ code: "STALE_SESSION" });
    const late = await client
      .evaluate("1")
      .next()
      .catch((error: unknown) => error);
    expect(late).to.include({ code: "CONNECTION_LOST" });
    await client.close();
  });

  it("while evaluations are being aborted rejects or resolves every abort", async () => {
    const evaluations = [...Array(5).keys()].map(() => client.evaluate("(unwind-protect (loop) (loop))"));
    await values(client, "1");
    const aborts = Promise.allSettled(evaluations.map((evaluation) => evaluation.abort()));
    const closing = client.close();
    image.swank.process.kill("SIGKILL");
    await aborts;
    await closing;
    expect(client.evaluations).to.deep.equal([]);
  });

  it("by an exhausted heap is reported as a stop or a loss", async () => {
    const outcome = await evaluate(client, "(let ((all '())) (loop (push (make-array 1000000) all)))");
    expect(outcome.status).to.be.oneOf(["stopped", "lost"]);
  });

  it("in an exit hook that hangs is awaited", async () => {
    const evaluation = client.evaluate("(push (lambda () (sleep 0.3)) sb-ext:*exit-hooks*) (sb-ext:exit)");
    expect(lost(await evaluation.next()).cause.code).to.equal("CONNECTION_LOST");
  });
});
