import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { connect, type Stop } from "swank-client";
import { rejection } from "../../support/caught.js";
import { liveClient } from "./live-image.js";
import { nextStop } from "./next-stop.js";
import { stopped, values } from "./outcomes.js";

/** Has the thread in which the next connection checks its place among the others begin half a second late. */
const DELAY_NEXT = `
(defun checking-p (thread) (equal (sb-thread:thread-name thread) "swank-client connection"))
(defun delayed () (some #'checking-p (sb-thread:list-all-threads)))
(loop while (delayed) do (sleep 0.01))
(let ((late (list t)))
  (sb-int:encapsulate 'sb-thread:make-thread 'delay
    (lambda (make-thread function &rest arguments &key name &allow-other-keys)
      (apply make-thread
             (if (and (equal name "swank-client connection") (pop late)) (lambda () (sleep 0.5) (funcall function)) function)
             arguments))))
nil`;

describe("Errors of background threads", () => {
  const image = liveClient();

  /** Has a thread fail that no client started; it gives :GIVEN to whoever has it do so. */
  function failElsewhere(): void {
    image.swank.type(
      `(defparameter *elsewhere* (sb-thread:make-thread (lambda () (restart-case (error "elsewhere") (give () :given)))))`,
    );
  }

  async function letGo(stop: Stop): Promise<void> {
    await stop.invokeRestart(0);
    expect(await image.values("(sb-thread:join-thread *elsewhere*)")).to.deep.equal([":GIVEN"]);
  }

  it("go to another client if there is one", async () => {
    const late = await image.connect();
    const theirs = nextStop(image.client);
    failElsewhere();
    await letGo(await theirs);
    expect(late.stops).to.deep.equal([]);
  });

  it("go to the client that connected first, even if its last step of connecting comes late", async () => {
    await image.values(DELAY_NEXT);
    await image.client.close();
    const first = await image.connect();
    const second = await image.connect();
    const theirs = nextStop(first);
    await values(second, "(loop while (delayed) do (sleep 0.01))");
    failElsewhere();
    const stop = await theirs;
    expect(second.stops).to.deep.equal([]);
    await stop.invokeRestart(0);
    await values(second, "(sb-int:unencapsulate 'sb-thread:make-thread 'delay)");
  });

  it("go to a client with foreignErrors mine until it disconnects, even if others connect later", async () => {
    const mine = await image.connect({ foreignErrors: "mine" });
    await image.connect();
    const ours = nextStop(mine);
    failElsewhere();
    const stop = await ours;
    expect(stop.condition.message).to.equal("elsewhere");
    await letGo(stop);
    await mine.close();
    const theirs = nextStop(image.client);
    failElsewhere();
    await letGo(await theirs);
  });

  it("go to the other clients if that client disconnects while they are stopped", async () => {
    const mine = await image.connect({ foreignErrors: "mine" });
    const ours = nextStop(mine);
    failElsewhere();
    await ours;
    const theirs = nextStop(image.client);
    await mine.close();
    await letGo(await theirs);
  });

  it("never go to a client with foreignErrors theirs, except errors of its own threads", async () => {
    const modest = await image.connect({ foreignErrors: "theirs" });
    const theirs = nextStop(image.client);
    failElsewhere();
    await letGo(await theirs);
    const evaluation = modest.evaluate('(error "of its own")');
    const { stop } = stopped(await evaluation.next());
    expect(stop.condition.message).to.equal("of its own");
    await evaluation.abort();
  });

  it("enter Lisp's own debugger if no client accepts them", async () => {
    const modest = await image.connect({ foreignErrors: "theirs" });
    await values(modest, "(defvar *elsewhere* nil)");
    await image.client.close();
    image.swank.type('(setf *elsewhere* (sb-thread:make-thread (lambda () (error "elsewhere"))))');
    const seen = "(sb-thread:symbol-value-in-thread 'sb-debug::*debug-condition* cl-user::*elsewhere* cl:nil)";
    while ((await image.ask(`(cl:typep ${seen} 'cl:simple-error)`)) !== "T") await pause(20);
    expect(modest.stops).to.deep.equal([]);
    await values(modest, "(sb-thread:terminate-thread *elsewhere*)");
  });

  it("have no other policy: an unknown foreignErrors is refused", async () => {
    const wrong = { port: image.swank.port, ...JSON.parse('{ "foreignErrors": "all" }') };
    const { message } = await rejection(connect(wrong), "INVALID_ARGUMENT");
    expect(message).to.equal("foreignErrors is one of auto, mine, theirs, not all.");
  });
});
