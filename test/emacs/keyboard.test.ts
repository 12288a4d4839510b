import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import * as z from "zod";
import type { Emacs } from "../support/emacs.js";
import type { McpStdio } from "../support/mcp-stdio.js";
import { answer, modeLineShowing, noQuestion, question } from "../support/swank-mcp-el.js";
import { following, oneUser } from "./user.js";

const ASKING = "agent asking: C-c ? y, n or s";

/** Keys as a terminal sends them. */
const META = "\x1b";
const control = (key: string) => String.fromCharCode(key.charCodeAt(0) & 31);

const state = z.object({ text: z.string(), selected: z.string(), minibuffer: z.boolean(), depth: z.number() });

/** The person's text, the selected window's buffer, whether the minibuffer is active, and the depth of recursive edits. */
async function seen(emacs: Emacs): Promise<z.output<typeof state>> {
  const form = `(with-selected-frame (swank-mcp--person-frame)
    (json-encode (list (cons 'text (with-current-buffer "typed.txt" (buffer-string)))
                       (cons 'selected (buffer-name (window-buffer (selected-window))))
                       (cons 'minibuffer (if (active-minibuffer-window) t :json-false))
                       (cons 'depth (recursion-depth)))))`;
  return state.parse(JSON.parse(z.string().parse(JSON.parse(await emacs.eval(form)))));
}

describe("a question in Emacs beside what the person types", function () {
  this.timeout(300_000);
  const user = oneUser();
  let agent: McpStdio;
  let folder: string;
  let second: McpStdio;
  const asked: (() => void)[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "keyboard-"));
    await writeFile(join(folder, "typed.txt"), "");
    await writeFile(join(folder, "other.txt"), "");
    const { emacs } = user();
    await following(emacs);
    await emacs.openFrame();
    await emacs.messageMatching("When done with this frame");
    agent = await user().agent();
    second = await user().agent();
    await agent.evaluate("(progn (defun fact (n) n) (defun gact (n) n))");
    await second.evaluate("1");
  });

  after(() => rm(folder, { recursive: true }));

  beforeEach(async () => {
    await user().emacs.eval(
      `(with-selected-frame (swank-mcp--person-frame)
         (delete-other-windows)
         (find-file-noselect ${JSON.stringify(join(folder, "other.txt"))})
         (switch-to-buffer (find-file-noselect ${JSON.stringify(join(folder, "typed.txt"))}))
         (fundamental-mode) (electric-indent-local-mode -1) (erase-buffer) (setq swank-mcp-test-answers '()) t)`,
    );
  });
  afterEach(async () => {
    for (const withdraw of asked.splice(0)) withdraw();
    await noQuestion(user().emacs);
  });

  /** Makes an agent ask, and waits until Emacs knows. */
  async function ask(asking = agent, name = "fact"): Promise<void> {
    const count = asked.length + 1;
    const { id } = asking.startCall("breakpoint_set", { function: name, thread: "any" });
    asked.push(() => asking.cancel(id));
    await user().emacs.until(`(= ${count} (length (swank-mcp--all-questions)))`, "a question");
    await modeLineShowing(user().emacs, ASKING);
  }

  async function type(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      user().emacs.type(key);
      await pause(60);
    }
  }

  async function textIs(text: string): Promise<void> {
    await user().emacs.until(
      `(equal ${JSON.stringify(text)} (with-current-buffer "typed.txt" (buffer-string)))`,
      JSON.stringify(text),
    );
  }

  /** Nothing has been answered, and the question waits. */
  async function waits(): Promise<void> {
    expect(await user().emacs.eval("(swank-mcp-test-answers)")).to.equal("nil");
    expect(await user().emacs.eval("(length (swank-mcp--all-questions))")).to.equal(String(asked.length));
  }

  it("inserts RET, SPC, y, n, ! and s, which are read by nobody else, and C-g ends nothing", async () => {
    await ask();
    await question(user().emacs);
    await type("y", " ", "n", "\r", "!", "s", control("g"), "q");
    await textIs("y n\n!sq");
    await waits();
    expect(await seen(user().emacs)).to.include({ selected: "typed.txt", minibuffer: false, depth: 0 });
  });

  it("leaves M-x and C-x b, begun before it, to their ends, and is then shown", async () => {
    const { emacs } = user();
    await type(control("x"), "b");
    await emacs.until("(active-minibuffer-window)", "the prompt of C-x b");
    await ask();
    await type("o", "t", "h", "\t");
    expect(await emacs.eval("(swank-mcp--question-windows)")).to.equal("nil");
    await type("\r");
    await question(emacs);
    expect(await seen(emacs)).to.include({ selected: "other.txt", minibuffer: false });
    // and now that it is shown
    await type(control("x"), "b", ..."typed.txt", "\r", META, "x", ..."insert-char", "\r", ..."79", "\r");
    await textIs("y");
    expect(await seen(emacs)).to.include({ selected: "typed.txt", minibuffer: false });
    await question(emacs);
    await waits();
  });

  it("leaves C-g in a prompt to the prompt", async () => {
    const { emacs } = user();
    await type(META, "x");
    await emacs.until("(active-minibuffer-window)", "the prompt of M-x");
    await ask();
    await type("y", "e", "s", control("g"));
    await question(emacs);
    expect(await seen(emacs)).to.include({ selected: "typed.txt", minibuffer: false });
    await waits();
  });

  it("leaves incremental search its keys", async () => {
    const { emacs } = user();
    await type(..."yes no\rno yes", META, "<", control("s"), "y");
    await ask();
    await question(emacs);
    await type("e", "s", control("s"), "\r", "!");
    await textIs("yes no\nno yes!");
    await waits();
  });

  it("leaves query-replace its keys", async () => {
    const { emacs } = user();
    await type(..."n n n n", META, "<", META, "%", "n", "\r", "m", "\r");
    await ask();
    await question(emacs);
    await type("y", "n");
    await textIs("m n n n");
    await type("!", "y");
    await textIs("m n m my");
    await waits();
  });

  it("leaves recursive edits as they are, and is answered in one", async () => {
    const { emacs } = user();
    const depth = (wanted: number) =>
      emacs.until(
        `(= ${wanted} (with-selected-frame (swank-mcp--person-frame) (recursion-depth)))`,
        "a recursive edit",
      );
    await type(META, "x", ..."recursive-edit", "\r");
    await depth(1);
    await ask();
    await question(emacs);
    await type("y", "!");
    await textIs("y!");
    await waits();
    answer(emacs, "n");
    await noQuestion(emacs);
    asked.splice(0);
    expect(await emacs.eval("(swank-mcp-test-answers)")).to.equal("(:no)");
    await type(META, control("c"));
    await depth(0);
    await type("e");
    await textIs("y!e");
  });

  it("is not allowed by a keyboard macro, which goes on recording and playing", async () => {
    const { emacs } = user();
    await type(control("x"), "(", "y");
    await ask();
    await question(emacs);
    await type("n", control("x"), ")", control("x"), "e");
    await textIs("ynyn");
    await emacs.eval(`(with-selected-frame (swank-mcp--person-frame)
      (ignore-errors (execute-kbd-macro (kbd "C-c ? y"))) t)`);
    await waits();
  });

  it("and another wait for their own chords, one after the other", async () => {
    const { emacs } = user();
    await ask();
    await ask(second, "gact");
    await question(emacs, "Function: fact");
    // the second chord comes before the person can have read the second question
    answer(emacs, "y");
    answer(emacs, "y");
    await emacs.until("(= 1 (length (swank-mcp--all-questions)))", "the end of the first");
    await question(emacs, "Function: gact");
    expect(await emacs.eval("(swank-mcp-test-answers)")).to.equal("(:yes)");
    answer(emacs, "n");
    await noQuestion(emacs);
    expect(await emacs.eval("(swank-mcp-test-answers)")).to.equal("(:no :yes)");
    asked.splice(0);
    await agent.call("breakpoint_clear", {});
  });

  it("leaves no letter in the text and no help when its chord comes too late", async () => {
    const { emacs } = user();
    await ask();
    await question(emacs);
    for (const withdraw of asked.splice(0)) withdraw();
    await noQuestion(emacs);
    answer(emacs, "y");
    await emacs.messageMatching("No agent asks");
    await type("z");
    await textIs("z");
    expect(await emacs.eval('(get-buffer-window "*Help*" t)')).to.equal("nil");
  });

  it("stays in the mode line when C-x 1 deletes its window, and a chord shows it again", async () => {
    const { emacs } = user();
    await ask();
    await question(emacs);
    await type(control("x"), "1");
    await emacs.until("(not (swank-mcp--question-windows))", "the end of its window");
    await pause(1500);
    expect(await emacs.eval("(swank-mcp--question-windows)")).to.equal("nil");
    await modeLineShowing(emacs, ASKING);
    await type("y");
    await textIs("y");
    answer(emacs, "y");
    await emacs.until("(swank-mcp--question-windows)", "its window");
    await waits();
    await question(emacs);
    answer(emacs, "y");
    await noQuestion(emacs);
    asked.splice(0);
    expect(await seen(emacs)).to.include({ selected: "typed.txt" });
    await agent.call("breakpoint_clear", {});
  });

  it("is shown again in a frame that is left when its frame is deleted", async () => {
    const { emacs } = user();
    await emacs.openFrame();
    await type(control("x"), "b", ..."typed.txt", "\r", "a");
    await textIs("a");
    await ask();
    await question(emacs);
    const frames = Number(await emacs.eval("(length (frame-list))"));
    await type(control("x"), "5", "0");
    await emacs.until(`(= ${frames - 1} (length (frame-list)))`, "the end of the frame");
    await question(emacs);
    await waits();
  });

  it("can be read and answered in a frame without room for another window", async () => {
    const { emacs } = user();
    await emacs.openFrame({ rows: 5, columns: 40 });
    await type(control("x"), "b", ..."typed.txt", "\r", "a");
    await textIs("a");
    await ask();
    await type("y", "n");
    await textIs("ayn");
    await waits();
    answer(emacs, "s");
    await question(emacs);
    answer(emacs, "n");
    await emacs.until("(not (swank-mcp--all-questions))", "the answer");
    asked.splice(0);
    expect(await emacs.eval("(swank-mcp-test-answers)")).to.equal("(:no)");
    // The person went to the question's window, and leaves it.
    await emacs.bufferShowing("*swank-mcp question*", "This needs no answer any more");
    await type("q");
    await noQuestion(emacs);
    expect(await seen(emacs)).to.include({ selected: "typed.txt" });
  });
});
