import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { expectFacts } from "../support/facts.js";
import { KEYS, McpTerminal } from "../support/mcp-terminal.js";
import { normalized } from "../support/normalized.js";
import { exampleCommand, runExample } from "./run-example.js";

const SESSION = `(format t "one~%two")
(values 1 "two")
(values)
(defun divide (a b)
  (/ a b))
(divide 1 0)
(defun divide (a b) (if (zerop b) 0 (/ a b)))
9
1
(progn (format t "Name? ") (finish-output) (format nil "Hello ~a" (read-line)))
Ada
(1+ no-such-variable)
1
1 (* 6 7)
(error "outside")
(error "inside")
0
0
(defpackage #:room (:use #:cl))
(in-package #:room)
`;

describe("examples/terminal-slime.mjs", function () {
  this.timeout(60_000);

  it("evaluates, reads input, shows errors with restarts and invokes a restart by number", async () => {
    const { code, stdout, stderr } = await runExample("terminal-slime.mjs", [], { input: SESSION });
    expectFacts(
      normalized(stdout),
      'one\ntwo\nNIL\n1\n"two"\n; No values\nDIVIDE\nDIVISION-BY-ZERO: ',
      "  0: [ABORT] Return to top level\n  1: [RETRY] …\n  in (DIVIDE 1 0)\nDIVIDE\nThere is no restart 9; there are restarts 0 to 1.\n0\n",
      'Name? "Hello Ada"\nUNBOUND-VARIABLE: …  1: [USE-VALUE] …The restart USE-VALUE takes 1 value.\n43\n',
      'SIMPLE-ERROR: outside\n…SIMPLE-ERROR: inside\n…; Aborted\n; Aborted\n#<PACKAGE "ROOM">',
    );
    expect(stderr).to.equal("");
    expect(code).to.equal(0);
  });

  it("says that the image has ended", async () => {
    const { code, stderr } = await runExample("terminal-slime.mjs", [], { input: "(sb-ext:exit :abort t)\n" });
    expect(stderr).to.match(/^evaluate: The image \(pid \d+\) ended with exit code 1\./);
    expect(code).to.equal(1);
  });

  describe("in a terminal", () => {
    let state: string;
    let terminal: McpTerminal;

    beforeEach(async () => {
      state = await mkdtemp(join(tmpdir(), "slime-"));
      terminal = new McpTerminal({ command: [process.execPath, ...exampleCommand("terminal-slime.mjs")], state });
    });
    afterEach(async () => {
      terminal.kill();
      await terminal.exited;
      await rm(state, { recursive: true });
    });

    it("shows the package, reads forms of several lines and ends at Ctrl-D", async () => {
      await terminal.enter("(list 1");
      await terminal.enter("2)", "... ");
      await terminal.shows("(1 2)");
      await terminal.enter("(in-package #:cl)");
      await terminal.shows("COMMON-LISP> ");
      terminal.press(KEYS.endOfFile);
      expect(await terminal.exited).to.equal(0);
    });

    it("interrupts at Ctrl-C, and aborts the code by a restart", async () => {
      await terminal.enter("(progn (print :started) (finish-output) (loop (sleep 0.01)))");
      await terminal.shows("\n:STARTED");
      terminal.press(KEYS.interrupt);
      await terminal.shows("0: [CONTINUE]");
      await terminal.enter("1", "CL-USER [1]> ");
      await terminal.shows("; Aborted");
      await terminal.enter("(+ 1 2)");
      await terminal.shows("\n3");
    });

    it("forgets at Ctrl-C what is typed at a prompt", async () => {
      await terminal.enter("(list 1");
      await terminal.shows("... ");
      terminal.press("2 3", KEYS.interrupt);
      await terminal.enter("(list 4)");
      await terminal.shows("\n(4)");
    });

    it("gives a program its input after an interrupt of the read", async () => {
      await terminal.enter('(progn (format t "Name? ") (finish-output) (format nil "Hello ~a" (read-line)))');
      await terminal.shows("\nName? ");
      terminal.press(KEYS.interrupt);
      await terminal.shows("0: [CONTINUE]");
      await terminal.enter("0", "CL-USER [1]> ");
      terminal.press("Ada", KEYS.enter);
      await terminal.shows('"Hello Ada"');
    });
  });
});
