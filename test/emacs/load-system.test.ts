import { expect } from "chai";
import { BesideEmacs } from "../support/beside-emacs.js";
import { COMPILING, LoadableSystems } from "../support/loadable-systems.js";
import { blocks } from "../support/mcp-results.js";
import { oneUser } from "./user.js";

describe("load-system beside Emacs", function () {
  this.timeout(COMPILING);
  const user = oneUser(() => BesideEmacs.startedByEmacs(["slime-fancy"]));
  let systems: LoadableSystems;

  before(async () => {
    systems = await LoadableSystems.create();
  });

  after(async () => {
    await systems.remove();
  });

  it("shows Emacs nothing when it is cancelled in the middle of 100 files, and does not block Emacs's compilations", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    await systems.writeWide(
      60,
      `(warn "The agent's warning.") (format t "The agent's output.~%")
(eval-when (:compile-toplevel) (defvar cl-user::*waits* t) (loop until (boundp 'cl-user::*go-on*) do (sleep 0.01)))\n`,
    );
    await emacs.compile("(defun users-sum (a b) (+ a b))");
    // SLIME's newest version does not load it.
    await emacs.evaluateInRepl('(progn (require "asdf") nil)');
    await emacs.evaluateInRepl(`(defvar *noted* (list *package* *standard-output* *error-output* *features*))`);
    const shown = async () => [
      await emacs.eval(
        "(mapcar 'buffer-name (seq-remove (lambda (b) (eq ?\\s (aref (buffer-name b) 0))) (buffer-list)))",
      ),
      await emacs.debuggerBuffers(),
      await emacs.replText(),
    ];
    const before = await shown();
    const file = `${systems.folder}/wide/wide.asd`;
    const call = agent.startCall("load-system", { file, timeout: 500 });
    await agent.evaluate("(loop until (boundp '*waits*) do (sleep 0.01))");
    agent.cancel(call.id);
    let notice: string | undefined;
    while (notice === undefined) [, notice] = await agent.evaluate("1");
    expect(notice).to.match(/^load-system was cancelled\.\nSystem wide is not loaded completely: 59 of 100 files\./);
    expect(await shown()).to.deep.equal(before);
    await emacs.compile("(defun users-product (a b) (* a b))");
    expect(
      await emacs.evaluateInRepl(
        "(list (users-product 6 7) (equal *noted* (list *package* *standard-output* *error-output* *features*)))",
      ),
    ).to.equal("(42 T)");
    const quiet = await shown();
    await agent.evaluate("(defvar *go-on* t)");
    const result = await agent.call("load-system", { file, timeout: 500 });
    expect(blocks(result)[0]).to.match(/^System wide is loaded: 41 files, compiled now\./);
    expect(await shown()).to.deep.equal(quiet);
  });
});
