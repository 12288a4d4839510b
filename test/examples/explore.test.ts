import { expect } from "chai";
import { expectFacts } from "../support/facts.js";
import { normalized } from "../support/normalized.js";
import { runExample } from "./run-example.js";

/** One image answers the commands of one test. */
describe("examples/explore.mjs", function () {
  this.timeout(60_000);

  /** The output for commands. */
  async function explore(...commands: readonly string[]): Promise<string> {
    const input = commands.map((command) => `${command}\n`).join("");
    const { code, stdout, stderr } = await runExample("explore.mjs", ["examples/debugging/race.lisp"], { input });
    expect(stderr).to.equal("");
    expect(code).to.equal(0);
    return normalized(stdout);
  }

  it("finds symbols, definitions and uses with their places", async () => {
    const output = await explore(
      "apropos withdraw",
      "apropos no-such-text",
      "definitions race::withdraw",
      "definitions no-such-function",
      "uses race::*balance*",
      "uses race::approve",
      "uses race:start-withdrawals",
    );
    expectFacts(
      output,
      "RACE:START-WITHDRAWALS\n  function: Start two threads that withdraw AMOUNT each…RACE::WITHDRAW\n  function: not documented\n",
      "No symbol has this text in its name.\n  (DEFUN RACE::WITHDRAW)  examples/debugging/race.lisp:15:1\nNo definition is known.\n",
      "references:\n  RACE::WITHDRAW  examples/debugging/race.lisp:16:9\nsets:\n  RACE::WITHDRAW  examples/debugging/race.lisp:18:16\n",
      "calls:\n  RACE::WITHDRAW  examples/debugging/race.lisp:17:9\nNo use is known.",
    );
  });

  it("describes and disassembles functions", async () => {
    const output = await explore("describe race:start-withdrawals", "disassemble race::approve");
    expect(output).to.include("Start two threads that withdraw AMOUNT each, and return them as a list.");
    expect(output).to.include("; disassembly for RACE::APPROVE");
  });

  it("inspects objects page by page, their parts, and goes back", async () => {
    const output = await explore(
      "inspect (loop for i below 15 collect (list i :square (* i i)))",
      "more",
      "more",
      "part 2",
      "back",
      "back",
    );
    expectFacts(
      output,
      "(9 :SQUARE 81) ...)  COMMON-LISP::CONS\n  A proper list:\n  0: [0] (0 :SQUARE 0)\n…  `more` shows more.\n",
      "  10: [10] (10 :SQUARE 100)\n…  That is all.\n(2 :SQUARE 4)  COMMON-LISP::CONS\n  A proper list:\n  0: [0] 2\n",
      "  9: [24] (9 :SQUARE 81)\n  `more` shows more.\nThere is no such object.",
    );
  });

  it("prints errors and its commands, and continues", async () => {
    const output = await explore(
      "describe no-such-symbol",
      "inspect (car 1)",
      "inspect (",
      "part 1",
      "disassemble no-such-function",
      "what",
      "",
      "inspect :end",
      "part x",
    );
    for (const message of [
      "swank:describe-symbol: Unknown symbol: no-such-symbol",
      "The value\n  1\nis not of type\n  LIST",
      "inspecting a value: The code ends in the middle of a form.",
      "index is a whole number from 0, not NaN.",
      "Commands: apropos TEXT, describe NAME, ",
      "There is no such object.",
      'Name: [0] "END"',
    ])
      expect(output).to.include(message);
  });
});
