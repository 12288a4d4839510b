import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { BesideEmacs } from "../support/beside-emacs.js";
import type { McpStdio } from "../support/mcp-stdio.js";

const HALVE = `;; By two.
(defun halve (number)
  (let ((two 2))
    (+ (/ number (- two two)) 0)))`;

const QUARTER = `(progn
  (defun quarter (number) (halve (halve number)))
  (defun (setf level) (value) (print value)))`;

const DEFINITIONS = `(defpackage "WORKS" (:use "CL")) (in-package "WORKS")
${HALVE}
(defmacro twice (form) \`(progn ,form ,form))
(defvar *greeting* :hello) (defclass animal () ())
${QUARTER}
(defgeneric speak (animal))
(defmethod speak ((animal animal)) :says)`;

/** The result of `M-.`: the buffer's text, and the line of the cursor. */
const FOUND: Readonly<Record<string, { text: string; line: string }>> = {
  halve: { text: HALVE, line: "(defun halve (number)" },
  twice: { text: "(defmacro twice (form) `(progn ,form ,form))", line: "(defmacro twice (form) `(progn ,form ,form))" },
  "*greeting*": { text: "(defvar *greeting* :hello)", line: "(defvar *greeting* :hello)" },
  animal: { text: "(defclass animal () ())", line: "(defclass animal () ())" },
  quarter: { text: QUARTER, line: "  (defun quarter (number) (halve (halve number)))" },
};

/** What follows the text, so that C-c C-c compiles it in the package WORKS. */
const IN_WORKS = '\n\n;; The package in which this was evaluated:\n(in-package "WORKS")\n';

/** The buffer in which SLIME shows source text without a file. */
const SOURCE = "*slime-source*";

describe("source of an agent's definition in Emacs", function () {
  this.timeout(200_000);
  let user: BesideEmacs;
  let agent: McpStdio;

  beforeEach(async () => {
    user = await BesideEmacs.connected();
    agent = await user.agent();
    await agent.evaluate(DEFINITIONS);
  });

  afterEach(() => user.end());

  async function findAll(): Promise<void> {
    const before = await user.emacs.replText();
    for (const [name, found] of Object.entries(FOUND)) {
      const text = `${found.text}${IN_WORKS}`;
      expect(await user.emacs.definition(`works::${name}`)).to.deep.equal({ buffer: SOURCE, ...found, text });
    }
    expect(await user.emacs.replText()).to.equal(before);
  }

  it("is compiled by C-c C-c in the package in which the agent evaluated it", async () => {
    const { emacs } = user;
    await emacs.definition("works::halve");
    await emacs.eval(`(with-current-buffer "${SOURCE}" (goto-char (point-min)) (search-forward "(- two two)") (replace-match "two")
      (setq slime-last-compilation-result nil) (call-interactively (key-binding (kbd "C-c C-c"))))`);
    await emacs.until("slime-last-compilation-result", "the end of the compilation");
    expect(await emacs.evaluateInRepl('(list (works::halve 8) (find-symbol "HALVE"))')).to.equal("(4 NIL)");
  });

  it("is shown by M-., without output in the REPL or new symbols in the user's package", async () => {
    await findAll();
    expect(await user.emacs.evaluateInRepl('(values (find-symbol "TWO"))')).to.equal("NIL");
  });

  it("is shown by M-. after the agent has disconnected", async () => {
    await agent.end();
    while ((await user.emacs.evaluateInRepl("(length swank::*connections*)")) !== "1");
    await user.emacs.evaluateInRepl("(gc :full t)");
    await findAll();
  });

  it("is listed by M-. when a name has several definitions, each with its text", async () => {
    const { emacs } = user;
    const list = await emacs.definition("works::speak");
    expect(list.text).to.include("(DEFGENERIC").and.include("(DEFMETHOD");
    await emacs.eval(`(with-current-buffer ${JSON.stringify(list.buffer)}
                        (goto-char (point-min))
                        (search-forward "DEFMETHOD")
                        (slime-goto-xref))`);
    expect((await emacs.bufferShowing(SOURCE, "defmethod")).text).to.equal(
      `(defmethod speak ((animal animal)) :says)${IN_WORKS}`,
    );
  });

  it("is shown by v in the debugger, at the current call", async () => {
    const { emacs } = user;
    await emacs.typeInRepl("(works::quarter 8)");
    const { thread } = await emacs.debuggerShowing("DIVISION-BY-ZERO");
    const before = await emacs.replText();
    await emacs.pressOnFrame(thread, "HALVE", "v");
    const { text, line } = await emacs.bufferShowing(SOURCE, "halve");
    expect({ text, line }).to.deep.equal({ text: `${HALVE}${IN_WORKS}`, line: "    (+ (/ number (- two two)) 0)))" });
    await emacs.pressOnFrame(thread, "QUARTER", "v");
    expect((await emacs.bufferShowing(SOURCE, "quarter")).line).to.equal(FOUND["quarter"]?.line);
    expect(await emacs.replText()).to.equal(before);
  });

  it("is the file's text once the agent has saved the definition, for M-. and v", async () => {
    const { emacs } = user;
    const folder = await mkdtemp(join(tmpdir(), "saved "));
    const file = join(folder, "works.lisp");
    await writeFile(file, '(in-package "WORKS")\n\n(defun first-of-file ())\n');
    await agent.evaluate(`(load ${JSON.stringify(file)})`);
    await agent.evaluate("(defun thirds (number)\n  (let ((zero 0))\n    (+ (/ number zero) 1)))");
    await agent.call("save-changes", { name: "thirds", file, "dry-run": false });
    const { buffer, line } = await emacs.definition("works::thirds");
    expect({ buffer, line }).to.deep.equal({ buffer: "works.lisp", line: "(defun thirds (number)" });
    await emacs.typeInRepl("(works::thirds 8)");
    const { thread } = await emacs.debuggerShowing("DIVISION-BY-ZERO");
    await emacs.pressOnFrame(thread, "THIRDS", "v");
    await emacs.pointOn("works.lisp", "    (+ (/ number zero) 1)))");
    await rm(folder, { recursive: true });
  });

  it("does not replace the source of definitions that the user compiles in a buffer", async () => {
    const { emacs } = user;
    await emacs.compile("(defun mine () 1)");
    const { buffer, line } = await emacs.definition("mine");
    expect({ buffer, line }).to.deep.equal({ buffer: "compiled.lisp", line: "(defun mine () 1)" });
  });
});

describe("source of what compile-code has loaded in Emacs", function () {
  this.timeout(200_000);
  const code = "(defun third-of (number) ; by three\n  (/ number 3))";
  let user: BesideEmacs;

  beforeEach(async () => {
    user = await BesideEmacs.connected();
  });

  afterEach(() => user.end());

  it("is shown by M-., even if the agent has evaluated no definition", async () => {
    const agent = await user.agent();
    expect((await agent.call("compile-code", { code, load: true })).isError).to.equal(false);
    expect(await user.emacs.definition("third-of")).to.deep.equal({
      buffer: SOURCE,
      text: code,
      line: "(defun third-of (number) ; by three",
    });
  });
});
