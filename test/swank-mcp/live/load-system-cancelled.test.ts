import { expect } from "chai";
import { COMPILING, LoadableSystems } from "../../support/loadable-systems.js";
import { blocks } from "../../support/mcp-results.js";
import type { McpStdio } from "../../support/mcp-stdio.js";
import { encapsulated } from "../../support/tested-systems.js";

/** Form of a file that is compiled until `*go-on*` is bound. */
const WAIT = `(eval-when (:compile-toplevel)
  (defvar cl-user::*waits* t)
  (loop until (boundp 'cl-user::*go-on*) do (sleep 0.01)))
`;

const UNDEFINE = '(loop for n from 1 to 100 do (fmakunbound (intern (format nil "WIDE-~d" n))))';

/** Code whose value is true when all 100 files are loaded whose functions give their numbers. */
const ALL_LOADED = '(loop for n from 1 to 100 always (eql n (funcall (intern (format nil "WIDE-~d" n)))))';

describe("load-system that is cancelled", function () {
  this.timeout(COMPILING);
  let systems: LoadableSystems;
  let server: McpStdio;

  beforeEach(async () => {
    systems = await LoadableSystems.create();
    server = await systems.start();
    await systems.writeWide(60, `${WAIT}(defun wide-60 () 60)\n`);
    await server.evaluate("(defvar *threads* (sb-thread:list-all-threads))");
  });

  afterEach(async () => {
    await server.end();
    await systems.remove();
  });

  /** What the answer of a later call says about the cancelled one. */
  async function notice(): Promise<string> {
    for (;;) {
      const [, text] = await server.evaluate("1");
      if (text !== undefined) return text;
    }
  }

  /** Evaluates a loop to its end. The failure has the whole answer, which says whether the image was lost or the loop timed out. */
  async function waitIn(loop: string): Promise<void> {
    const [value, ...notices] = await server.evaluate(loop, { timeout: 500 });
    expect(value, notices.join("\n")).to.equal("=> NIL");
  }

  /** Waits until no thread is left that has begun since the start, except that of this question. */
  async function quiet(): Promise<void> {
    await waitIn(
      "(loop while (remove sb-thread:*current-thread* (set-difference (sb-thread:list-all-threads) *threads*)) do (sleep 0.01))",
    );
  }

  it("unwinds in the middle of 100 files, says what is loaded, leaves nothing behind, and finishes in the next call", async () => {
    const call = server.startCall("load-system", { file: "wide/wide.asd", timeout: 500 });
    await waitIn("(loop until (boundp '*waits*) do (sleep 0.01))");
    server.cancel(call.id);
    expect(await notice()).to.match(
      /^load-system was cancelled\.\nSystem wide is not loaded completely: 59 of 100 files\.\nNot compiled to its end: wide\/wide-60\.lisp\nNot loaded: wide\/wide-60\.lisp, (?:wide\/wide-\d+\.lisp, )+\.\.\. 31 more files$/,
    );
    await quiet();
    const [left = ""] = await server.evaluate(`(list (fboundp 'wide-59) (fboundp 'wide-60)
      ${encapsulated("asdf:perform asdf/plan:perform-plan")} (funcall (compile nil '(lambda () :compiled))))`);
    expect(left).to.match(/^=> \(#<FUNCTION WIDE-59> NIL NIL :COMPILED\)$/);
    await server.evaluate("(defvar *go-on* t)");
    expect(blocks(await server.call("load-system", { file: "wide/wide.asd", timeout: 500 }))).to.deep.equal([
      "System wide is loaded: 41 files, compiled now.",
    ]);
    expect(await server.evaluate(ALL_LOADED)).to.deep.equal(["=> T"]);
  });

  it("can be cancelled at any time, and always finishes in the end", async () => {
    await server.evaluate("(defvar *go-on* t)");
    const files = { file: "wide/wide.asd", timeout: 500 };
    for (const count of [1, 20, 45, 70, 99]) {
      await waitIn(UNDEFINE);
      const call = server.startCall("load-system", { ...files, force: true });
      await waitIn(`(loop until (fboundp 'wide-${count}) do (sleep 0.001))`);
      server.cancel(call.id);
      await quiet();
    }
    await waitIn(UNDEFINE);
    const result = await server.call("load-system", { ...files, force: true });
    expect(blocks(result)[0]).to.match(/^System wide is loaded: 100 files, compiled now\.$/);
    expect(await server.evaluate(ALL_LOADED)).to.deep.equal(["=> T"]);
  });
});
