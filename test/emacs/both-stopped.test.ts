import { expect } from "chai";
import { eachUser } from "./user.js";

describe("debugger tools beside Emacs's debugger", function () {
  this.timeout(200_000);
  const user = eachUser();
  it("interrupt only the agent's thread, and Emacs only its own", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    await agent.evaluate("(defvar *go-on* t) (defvar *looping* nil)");
    const agents = agent.evaluate("(loop while *go-on* do (sleep 0.01) finally (return :ended))");
    await emacs.typeInRepl("(loop (setf *looping* t) (sleep 0.01))");
    await agent.evaluate("(loop until *looping* do (sleep 0.01))");
    await emacs.pressInRepl("C-c C-c");
    const { thread } = await emacs.debuggerShowing("Interrupt from Emacs");
    const [report] = await agent.evaluate("(loop (sleep 0.01))", { timeout: 0.2 });
    expect(report).to.include("[TIMEOUT]");
    expect((await emacs.debuggerBuffers()).map((each) => each.thread)).to.deep.equal([thread]);
    await emacs.pressInDebugger(thread, "q");
    await emacs.debuggerClosed(thread);
    expect(await emacs.evaluateInRepl("(setf *go-on* nil)")).to.equal("NIL");
    expect(await agents).to.deep.equal(["=> :ENDED"]);
  });
});
