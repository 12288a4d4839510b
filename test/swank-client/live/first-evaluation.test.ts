import { expect } from "chai";
import { LiveImage } from "./live-image.js";
import { evaluate, stopped, values } from "./outcomes.js";

describe("First evaluation in an image that had no runtime", () => {
  let image: LiveImage;

  beforeEach(async () => {
    image = new LiveImage();
    await image.start();
  });
  afterEach(() => image.stop());

  it("stops before unwinding, with a full report", async () => {
    const client = await image.connect();
    const code = '(warn "early") (defun first-quotient (divisor) (list (/ 6 divisor))) (first-quotient 0)';
    const { stop, warnings } = stopped(await evaluate(client, code));
    expect(warnings.map(({ message }) => message)).to.deep.equal(["early"]);
    expect(stop.condition.type).to.equal("DIVISION-BY-ZERO");
    const frame = stop.condition.frames.find(({ call }) => call === "(FIRST-QUOTIENT 0)");
    expect(stop.restarts.map(({ name }) => name)).to.include.members(["ABORT", "RETRY"]);
    expect((await stop.evaluateInFrame(frame?.index ?? -1, "(1+ divisor)")).values).to.deep.equal(["1"]);
  });

  it("stops with a full report while its thread holds the compiler's lock", async () => {
    const client = await image.connect();
    const code = '(defun first-held (x) (sb-c::with-world-lock () (error "held by ~a" x))) (first-held 1)';
    const { stop } = stopped(await evaluate(client, code));
    expect(stop.condition.message).to.equal("held by 1");
    expect(stop.condition.frames.map(({ call }) => call)).to.include("(FIRST-HELD 1)");
    await stop.abort();
    expect(await values(client, "(funcall (compile nil '(lambda () 3)))")).to.deep.equal(["3"]);
  });

  for (const [how, code] of [
    ["itself", "(sb-ext:exit :abort t)"],
    ["through a function that calls EXIT by its address", '(require :asdf) (funcall (intern "QUIT" "UIOP"))'],
  ] as const) {
    it(`cannot end the image ${how}`, async () => {
      const client = await image.connect({ mayEndImage: false });
      const { stop } = stopped(await evaluate(client, code));
      expect(stop.condition.class).to.match(/EXIT-REFUSED$/);
      await stop.abort();
      expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
    });
  }

  it("of each of two clients that connect at once belongs to that client", async () => {
    const clients = await Promise.all([image.connect(), image.connect()]);
    const outcomes = await Promise.all(clients.map((client, index) => evaluate(client, `(error "of ${index}")`)));
    expect(outcomes.map((outcome) => stopped(outcome).stop.condition.message)).to.deep.equal(["of 0", "of 1"]);
    expect(clients.map(({ stops }) => stops.length)).to.deep.equal([1, 1]);
  });
});
