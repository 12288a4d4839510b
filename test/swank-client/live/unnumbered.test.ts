import { expect } from "chai";
import { liveClient } from "./live-image.js";
import { nextStop } from "./next-stop.js";

describe("Stop of a client that has evaluated nothing", () => {
  const image = liveClient();

  it("invokes a restart once, if it is asked twice at once and the thread stops again", async () => {
    const first = nextStop(image.client);
    image.swank.type(`
      (progn
        (defvar *again* 0)
        (sb-thread:make-thread
          (lambda () (loop (restart-case (error "stop ~d" *again*)
                             (again () (incf *again*))
                             (done () (return)))))))`);
    const stop = await first;
    await stop.frames();
    const second = nextStop(image.client);
    const both = await Promise.allSettled([stop.invokeRestart(0), stop.invokeRestart(0)]);
    expect(both.map(({ status }) => status)).to.have.members(["fulfilled", "rejected"]);
    const next = await second;
    expect(next.condition.message).to.equal("stop 1");
    expect(await image.ask("cl-user::*again*")).to.equal("1");
    await next.invokeRestart(1);
  });
});
