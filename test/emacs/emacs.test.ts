import { expect } from "chai";
import { Emacs } from "../support/emacs.js";
import { gone } from "../support/mcp-processes.js";
import { type RealSwank, startRealSwank } from "../support/real-swank.js";

describe("Emacs (test support)", function () {
  this.timeout(120_000);
  let emacs: Emacs;

  beforeEach(async () => {
    emacs = await Emacs.start();
  });

  afterEach(() => emacs.kill());

  it("starts a Lisp, shows its debugger, and ends the Lisp when it exits", async () => {
    const pid = await emacs.startLisp();
    expect(await emacs.evaluateInRepl("(+ 1 2)")).to.equal("3");
    expect(await emacs.evaluateInRepl('(princ "printed")')).to.equal('printed\n"printed"');
    await emacs.typeInRepl('(restart-case (error "stopped") (use-seven () :report "Use seven." 7))');
    const { thread, level, restarts, text } = await emacs.debuggerShowing("stopped");
    expect([level, restarts[0]]).to.deep.equal([1, { name: "USE-SEVEN", description: "Use seven." }]);
    expect(text).to.include("[Condition of type SIMPLE-ERROR]").and.include(" 0: [USE-SEVEN] Use seven.");
    await emacs.invokeRestart(thread, 0);
    await emacs.debuggerClosed(thread);
    expect(await emacs.evaluateInRepl("(list *)")).to.equal("(7)");
    await emacs.quit();
    await gone(pid);
  });

  describe("with a running Lisp", () => {
    let lisp: RealSwank;

    beforeEach(async () => {
      lisp = await startRealSwank();
    });

    afterEach(() => lisp.stop());

    it("connects, disconnects and connects again", async () => {
      await emacs.connect(lisp.port);
      expect(await emacs.evaluateInRepl("(defvar *kept* :kept)")).to.equal("*KEPT*");
      await emacs.disconnect();
      await emacs.connect(lisp.port);
      expect(await emacs.evaluateInRepl("*kept*")).to.equal(":KEPT");
    });
  });
});
