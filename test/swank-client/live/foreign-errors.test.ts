import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { connect, type DebuggerSession, type SwankClient } from "swank-client";
import { rejection } from "../../support/caught.js";
import { liveImage } from "./live-image.js";
import { nextStop } from "./next-stop.js";
import { stopped, values } from "./outcomes.js";

describe("errors of threads that no client evaluates anything in", () => {
  const image = liveImage();
  let other: SwankClient;

  beforeEach(async () => {
    other = await image.connect();
  });

  /** Has a thread fail that no client started; it gives :GIVEN to whoever has it do so. */
  function failElsewhere(): void {
    image.swank.type(
      `(defparameter *elsewhere* (sb-thread:make-thread (lambda () (restart-case (error "elsewhere") (give () :given)))))`,
    );
  }

  async function letGo(stop: DebuggerSession): Promise<void> {
    await stop.invokeRestart(0);
    expect(await values(other, "(sb-thread:join-thread *elsewhere*)")).to.deep.equal([":GIVEN"]);
  }

  it("are somebody else's, unless nobody else is there", async () => {
    const late = await image.connect();
    const theirs = nextStop(other);
    failElsewhere();
    await letGo(await theirs);
    expect(late.stops).to.deep.equal([]);
  });

  it("are a client's that wants them, also when others come later, until it leaves", async () => {
    const mine = await image.connect({ foreignErrors: "mine" });
    await image.connect();
    const ours = nextStop(mine);
    failElsewhere();
    const stop = await ours;
    expect(stop.condition.message).to.equal("elsewhere");
    await letGo(stop);
    await mine.close();
    const theirs = nextStop(other);
    failElsewhere();
    await letGo(await theirs);
  });

  it("are given to the others when that client leaves while they are stopped", async () => {
    const mine = await image.connect({ foreignErrors: "mine" });
    const ours = nextStop(mine);
    failElsewhere();
    await ours;
    const theirs = nextStop(other);
    await mine.close();
    await letGo(await theirs);
  });

  it("are never a client's that does not want them, which has its own all the same", async () => {
    const modest = await image.connect({ foreignErrors: "theirs" });
    const theirs = nextStop(other);
    failElsewhere();
    await letGo(await theirs);
    const evaluation = modest.evaluate('(error "of its own")');
    const { session } = stopped(await evaluation.next());
    expect(session.condition.message).to.equal("of its own");
    await evaluation.abort();
  });

  it("enter Lisp's own debugger when nobody is there who wants them", async () => {
    const modest = await image.connect({ foreignErrors: "theirs" });
    await values(modest, "(defvar *elsewhere* nil)");
    await other.close();
    image.swank.type('(setf *elsewhere* (sb-thread:make-thread (lambda () (error "elsewhere"))))');
    const seen = "(sb-thread:symbol-value-in-thread 'sb-debug::*debug-condition* cl-user::*elsewhere* cl:nil)";
    while ((await image.ask(`(cl:typep ${seen} 'cl:simple-error)`)) !== "T") await pause(20);
    expect(modest.stops).to.deep.equal([]);
    await values(modest, "(sb-thread:terminate-thread *elsewhere*)");
  });

  it("cannot be anybody else's", async () => {
    const wrong = { port: image.swank.port, ...JSON.parse('{ "foreignErrors": "all" }') };
    const { message } = await rejection(connect(wrong), "INVALID_ARGUMENT");
    expect(message).to.equal("foreignErrors is one of auto, mine, theirs, not all.");
  });
});
