import { expect } from "chai";
import { runScript } from "../../support/mcp-console.js";

const STOPPED = ["(defun half (x) (/ x 0))", "(half 4)"];

describe("swank-mcp console: its texts", () => {
  it("name commands of the console, and say how to correct each mistake", async () => {
    const { output } = await runScript([
      ...STOPPED,
      ",in foo (+ 1 2)",
      ",in 99 (+ 1 2)",
      ",restart RETRY 5",
      ",restart USE",
      ",unbreak 9",
      ",frames x",
      ",error",
    ]);
    const answers = output.slice(output.indexOf("X = 4\n") + "X = 4\n".length).replace(/0 to \d+/, "0 to N");
    expect(answers.slice(0, answers.indexOf("Error: "))).to.equal(`frame must be a whole number, not "foo".
Usage: ,in n form ... Evaluate in the environment of frame n.
Frame index out of range
There is no frame 99; the stack has frames 0 to N. ,frames lists them.
The restart RETRY takes no values.
Invoke it without values; if its code reads them, give them as stdin. The stop is unchanged.
There is no restart "USE" at this stop.
Choose one of: 1 ABORT, 2 RETRY. ,restarts describes them. The stop is unchanged.
There is no breakpoint 9.
,breakpoints lists the breakpoints.
start must be a whole number, not "x".
Usage: ,frames [start [end]]. Show frames with sources and variables.
`);
    for (const name of ["debugger_", "breakpoint_", "get-backtrace", "evaluate-lisp"])
      expect(output).not.to.include(name);
  });

  it("say where a breakpoint can be set instead, and how to correct its condition", async () => {
    const { output } = await runScript([
      "(defun half (x) (/ x 2))",
      ",break car",
      ",break haff",
      ",break defun",
      ',break half #.(error "no")',
    ]);
    expect(output).to.include("\nSet the breakpoint on a function of the program that calls it.\n");
    expect(output).to.include("\nDefine the function first, or write its package, as in my-app:process.\n");
    expect(output).to.include("\nSet the breakpoint on a function that its expansion calls.\n");
    expect(output).to.match(/Its condition is refused: [\s\S]*\nCorrect the code: it must compile, /);
  });

  it("do not mention commands and restarts of families that are switched off", async () => {
    const { output } = await runScript([...STOPPED, ",frames"], ["--tools", "core"]);
    expect(output).to.include("[ERROR] DIVISION-BY-ZERO\n").and.to.include("  X = 4\n");
    expect(output).to.include("\n,frames is switched off. To have it, add debug to --tools.\n");
    expect(output).not.to.match(/restart|RETRY|breakpoint/i);
  });

  it("name the option that corrects a failed launch", async () => {
    const { output, code } = await runScript(["1"], ["--lisp", "/nosuch"]);
    expect(output).to.include("There is no executable /nosuch.").and.to.include("start swank-mcp with --lisp COMMAND.");
    expect(code).to.equal(1);
  });
});
