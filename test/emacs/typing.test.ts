import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import * as z from "zod";
import type { Emacs } from "../support/emacs.js";
import { blocks } from "../support/mcp-results.js";
import { answer, noQuestion, question } from "../support/swank-mcp-el.js";
import { following, oneUser } from "./user.js";

const FRAGILE = '(defun fragile (x) (declare (optimize (debug 3))) (let ((y (* 2 x))) (error "bad ~a" y) y))';

/** What a person types: words with each key that answers a prompt of Emacs, in lines. */
const TEXT = `(defun yes-or-no (y n)
  ;; y yes! n no? yes yes yes, any day
  (if (and y (not n)) "y!" "n?"))

`;

/** Milliseconds between two keys, as a person types. */
const KEY_TIME = 60;

/** How long the person types, in minutes, or until each question was asked. The session of an hour is that of a person who sets SWANK_TYPING_MINUTES to 60. */
const MINUTES = Number(process.env["SWANK_TYPING_MINUTES"] ?? "0.1");

const state = z.object({ hash: z.string(), selected: z.string(), minibuffer: z.boolean() });

describe("typing in Emacs beside an agent", function () {
  this.timeout(300_000 + MINUTES * 120_000);
  const user = oneUser();
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "typing-"));
    await writeFile(join(folder, "typed.lisp"), "");
    const { emacs } = user();
    await following(emacs);
    await emacs.openFrame();
    // Before that, Emacs may still put its first buffer into the frame.
    await emacs.messageMatching("When done with this frame");
  });

  after(() => rm(folder, { recursive: true }));

  /** A hash of the person's text, which becomes too long for an answer of emacsclient, the selected window's buffer, and whether the minibuffer is active. */
  async function seen(emacs: Emacs): Promise<z.output<typeof state>> {
    const form = `(with-selected-frame (swank-mcp--person-frame)
      (json-encode (list (cons 'hash (with-current-buffer "typed.lisp" (secure-hash 'sha256 (current-buffer))))
                         (cons 'selected (buffer-name (window-buffer (selected-window))))
                         (cons 'minibuffer (if (active-minibuffer-window) t :json-false)))))`;
    return state.parse(JSON.parse(z.string().parse(JSON.parse(await emacs.eval(form)))));
  }

  it("loses no key to questions, which nothing typed answers, and each is then answered by its chord", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    await emacs.evaluateInRepl("(defun fact (n) n)");
    await emacs.evaluateInRepl(FRAGILE);
    await emacs.typeInRepl("(fragile 21)");
    const { thread } = await emacs.debuggerShowing("bad 42");
    const stop = `${thread}/1`;
    // A first call compiles the runtime, and would be cancelled before it asks.
    await agent.call("evaluate-lisp", { code: "(+ 1 2)" });
    await agent.call("debugger_frames", { thread: stop });
    await agent.call("breakpoint_list", {});
    const asking: readonly (readonly [tool: string, args: object])[] = [
      ["debugger_eval_in_frame", { frame: 0, code: "(setf y 5)", thread: stop }],
      ["breakpoint_set", { function: "fact", thread: "any" }],
      ["evaluate-lisp", { code: "(sb-ext:exit :abort t)" }],
      ["debugger_invoke_restart", { restart: "ABORT", thread: stop }],
    ];
    // In the person's frame, as C-x C-f does.
    await emacs.eval(
      `(with-selected-frame (swank-mcp--person-frame) (delete-other-windows) (switch-to-buffer (find-file-noselect ${JSON.stringify(join(folder, "typed.lisp"))}))
         (fundamental-mode) (electric-indent-local-mode -1) (auto-save-mode -1) t)`,
    );
    let typed = "";
    let isTyping = true;
    let raised = 0;
    // Each question is withdrawn after some seconds, so that windows come and go while the person types.
    const raise = async () => {
      for (; isTyping; raised += 1) {
        const [tool, args] = asking[raised % asking.length] ?? ["lisp-status", {}];
        const { id } = agent.startCall(tool, args);
        await pause(1500);
        agent.cancel(id);
      }
    };
    const raising = raise();
    const end = Date.now() + MINUTES * 60_000;
    while (Date.now() < end || raised < asking.length) {
      for (const key of TEXT) {
        emacs.type(key === "\n" ? "\r" : key);
        typed += key;
        await pause(KEY_TIME);
      }
      const { selected, minibuffer } = await seen(emacs);
      expect({ selected, minibuffer }).to.deep.equal({ selected: "typed.lisp", minibuffer: false });
    }
    isTyping = false;
    await raising;
    await emacs.until(`(= ${typed.length} (with-current-buffer "typed.lisp" (buffer-size)))`, "the last key");
    expect((await seen(emacs)).hash).to.equal(createHash("sha256").update(typed).digest("hex"));
    expect(raised).to.be.at.least(asking.length);
    expect(await emacs.eval("(swank-mcp-test-received-p :ask)")).to.equal("t");
    expect(await emacs.eval("(swank-mcp-test-answers)")).to.equal("nil");
    await noQuestion(emacs);

    const evaluated = agent.call("debugger_eval_in_frame", { frame: 0, code: "(setf y 6)", thread: stop });
    await question(emacs, "(setf y 6)");
    answer(emacs, "y");
    expect(blocks(await evaluated)[0]).to.equal("=> 6");
    const set = agent.call("breakpoint_set", { function: "fact", thread: "any" });
    await question(emacs, "set a breakpoint");
    answer(emacs, "n");
    expect(blocks(await set)[0]).to.include("the user said no in Emacs");
    const restarted = agent.call("debugger_invoke_restart", { restart: "ABORT", thread: stop });
    await question(emacs, "ABORT");
    answer(emacs, "y");
    await restarted;
    await emacs.debuggerClosed(thread);
    expect((await seen(emacs)).hash).to.equal(createHash("sha256").update(typed).digest("hex"));
    expect((await seen(emacs)).selected).to.equal("typed.lisp");
  });
});
