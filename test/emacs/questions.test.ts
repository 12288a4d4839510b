import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { ledgerLines } from "../support/ledger.js";
import { blocks } from "../support/mcp-results.js";
import { answer, followsAgents, modeLineShowing, question } from "../support/swank-mcp-el.js";
import { eachUser, following } from "./user.js";

const TRANSCRIPT = "*swank-mcp*";

describe("questions in Emacs", function () {
  this.timeout(300_000);
  const user = eachUser();
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "questions-"));
    const { emacs } = user();
    await following(emacs);
    await emacs.openFrame();
    await emacs.eval("(swank-mcp-transcript)");
  });

  afterEach(() => rm(folder, { recursive: true }));

  it("are in the transcript and in the ledger while they wait, and then with the answer", async () => {
    const { emacs } = user();
    const path = join(folder, "ledger.jsonl");
    const agent = await user().agent("--ledger", path);
    await agent.evaluate("(defun fact (n) n)");
    const set = agent.call("breakpoint_set", { function: "fact", thread: "any" });
    await question(emacs);
    await modeLineShowing(emacs, "agent asking: C-c ? y, n or s");
    const { text } = await emacs.bufferShowing(TRANSCRIPT, "asking");
    expect(text).to.include(
      "test (approval)  asking\n;; set a breakpoint?\n;; Function: fact\n;; Thread: any\n;; Names are read in package COMMON-LISP-USER\n",
    );
    const asked = (await ledgerLines(path)).slice(2);
    expect(asked.map(({ event }) => event)).to.deep.equal(["call", "asked"]);
    expect(asked[1]).to.deep.include({ where: "image", particulars: { Function: "fact", Thread: "any" } });
    answer(emacs, "y");
    await set;
    const { text: answered } = await emacs.bufferShowing(TRANSCRIPT, "Allowed in Emacs: Yes");
    expect(answered).to.match(/test \(approval\) {2}\d+\.\d\d s\n/);
    expect((await ledgerLines(path)).slice(4).map(({ event, by }) => ({ event, by }))).to.deep.equal([
      { event: "answered", by: "emacs" },
      { event: "end", by: undefined },
    ]);
  });

  it("about the end of the image do not use up the time of the evaluation", async () => {
    const { emacs } = user();
    const agent = await user().agent();
    const exit = agent.call("evaluate-lisp", { code: "(sb-ext:exit)", timeout: 2 });
    await question(emacs);
    await emacs.bufferShowing(
      TRANSCRIPT,
      ";; end this Lisp, for all its clients?\n;; Call: (sb-ext:exit)\n(sb-ext:exit)",
    );
    await setTimeout(4000);
    expect(await question(emacs)).to.include("end this Lisp");
    answer(emacs, "n");
    const [report = ""] = blocks(await exit);
    expect(report).to.include("EXIT-REFUSED");
    await emacs.bufferShowing(TRANSCRIPT, "Not allowed in Emacs: the user said no");
    const slow = await agent.call("evaluate-lisp", { code: "(loop)", timeout: 1 });
    expect(blocks(slow)[0]).to.include("1 s");
  });

  it("and all events are sent only to an Emacs that has announced that it understands them", async () => {
    const { emacs } = user();
    await emacs.eval(`(progn (setq swank-mcp-test-handler (gethash :ask swank-mcp--events)) (remhash :ask swank-mcp--events)
      (swank-mcp-mode 0) (swank-mcp-mode 1))`);
    await followsAgents(emacs);
    const agent = await user().agent();
    await agent.evaluate("(defun fact (n) n)");
    const unasked = await agent.call("breakpoint_set", { function: "fact", thread: "any" });
    expect(blocks(unasked)[0]).to.include("this client cannot ask");
    await emacs.bufferShowing(TRANSCRIPT, "(defun fact (n) n)");
    expect(await emacs.eval("(swank-mcp-test-received-p :begin)")).to.equal("t");
    expect(await emacs.eval("(swank-mcp-test-received-p :ask)")).to.equal("nil");
    await emacs.eval("(puthash :ask swank-mcp-test-handler swank-mcp--events)");
  });
});
