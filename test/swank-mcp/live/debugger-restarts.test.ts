import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { liveDebugger } from "../../support/live-server.js";
import { stopName } from "../../support/mcp-debugger.js";

describe("debugger_invoke_restart with values", () => {
  const lisp = liveDebugger();

  const invoke = (restart: string | number, ...values: string[]) =>
    lisp.resume("debugger_invoke_restart", { restart, values });

  async function restarts(): Promise<unknown> {
    return (await lisp.json("debugger_restarts"))["restarts"];
  }

  it("numbers restarts like debugger_restarts: from 1, innermost first", async () => {
    const stop = stopName(await lisp.evaluate('(restart-case (error "x") (use-mine (v) :report "Use mine." v))'));
    expect(await lisp.json("debugger_restarts")).to.deep.equal({
      restarts: [
        { index: 1, name: "USE-MINE", description: "Use mine." },
        { index: 2, name: "ABORT", description: "Return to top level" },
        { index: 3, name: "RETRY", description: "Evaluate form 1 again, repeating its side effects" },
      ],
      thread: stop,
    });
  });

  it("passes two values to the program's restart, given by name in any case or by number", async () => {
    const code = '(restart-case (error "x") (pair (a b) (list :pair a b)))';
    for (const restart of ["PAIR", "pair", ":Pair", 1, "1"]) {
      await lisp.evaluate(code);
      expect(await invoke(restart, "(+ 1 2)", '"b"'), String(restart)).to.deep.equal(['=> (:PAIR 3 "b")']);
    }
  });

  it("says after an error that the values were not checked if it is not known which ones the restart takes", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keyed-"));
    const file = join(folder, "keyed.lisp");
    const clause = '(restart-case (error "x") (keyed (&key a) a))';
    await writeFile(file, `(defun keyed () ${clause})`);
    await lisp.evaluate(`(load (compile-file ${JSON.stringify(file)}))`);
    await rm(folder, { recursive: true });
    await lisp.evaluate("(keyed)");
    const answer = await invoke("KEYED", "1");
    expect(answer[0]).to.match(/PROGRAM-ERROR/);
    expect(answer.at(-1)).to.equal("It is not known which values that restart takes: they were not checked.");
    await lisp.evaluate(clause);
    expect(await invoke("KEYED", ":a", "1")).to.deep.equal(["=> 1"]);
  });

  it("invokes the innermost restart of a name, and says so if there are several", async () => {
    const code = '(restart-case (restart-case (error "x") (same () :inner)) (same () :outer))';
    await lisp.evaluate(code);
    expect(await invoke("SAME")).to.deep.equal([
      "=> :INNER",
      "Invoked restart 1, the innermost SAME. Others of this name: 2.",
    ]);
    await lisp.evaluate(code);
    expect(await invoke(2)).to.deep.equal(["=> :OUTER"]);
  });

  it("says which restart debugger_continue invoked at an error if there are several", async () => {
    await lisp.evaluate('(error "x")');
    const [older] = await lisp.stops();
    expect((await lisp.refusal("debugger_continue")).message).to.equal(
      `The stop of thread ${older} at SIMPLE-ERROR has no CONTINUE restart.`,
    );
    await lisp.abortAll();
    await lisp.evaluate('(list (with-simple-restart (continue "Outer") (cerror "Inner" "x") 1))');
    expect(await lisp.resume("debugger_continue")).to.deep.equal([
      "=> (1)",
      "Invoked restart 1, the innermost CONTINUE. Others of this name: 2.",
    ]);
  });

  it("says which restart it invoked if the code stops again", async () => {
    await lisp.evaluate(
      `(defun nest (n) (if (zerop n) (error "deep") (restart-case (nest (1- n)) (again () (error "again in ~d" n)))))`,
    );
    const [, live] = await lisp.evaluate("(nest 5)");
    expect(live).to.include("\n  1. AGAIN - AGAIN (also 2-5)\n  6. ABORT - Return to top level\n");
    const blocks = await invoke("again");
    expect(blocks[0]).to.match(/^\[ERROR\] SIMPLE-ERROR\nagain in 1\n/);
    expect(blocks[1]).to.include("\n  1. AGAIN - AGAIN (also 2-4)\n");
    expect(blocks.slice(2)).to.deep.equal(["Invoked restart 1, the innermost AGAIN. Others of this name: 2-5."]);
  });

  it("lists restarts with one name and description once", async () => {
    await lisp.evaluate("(nest 5)");
    expect(await restarts()).to.deep.equal([
      { index: 1, name: "AGAIN", description: "AGAIN", also: "2-5" },
      { index: 6, name: "ABORT", description: "Return to top level" },
      { index: 7, name: "RETRY", description: "Evaluate form 1 again, repeating its side effects" },
    ]);
  });

  it("refuses a value that is not one complete expression", async () => {
    await lisp.evaluate('(restart-case (error "x") (give (v) v))');
    for (const value of ["", "; nothing", "(", "1 2", "1)"]) {
      expect(await lisp.refusal("debugger_invoke_restart", { restart: "give", values: [value] }), value).to.include({
        type: "INVALID_RESTART_VALUES",
      });
    }
    const { message } = await lisp.refusal("debugger_invoke_restart", { restart: "give", values: ["(list 1"] });
    expect(message).to.match(/The code ends in the middle of a form\.$/);
    expect(await lisp.resume("debugger_invoke_restart", { restart: "give", values: [" 7 ; seven"] })).to.deep.equal([
      "=> 7",
    ]);
  });

  it("says how a CONTINUE with a value is invoked, without naming an argument that debugger_continue does not have", async () => {
    await lisp.evaluate('(restart-case (error "x") (continue (v) v))');
    const { next } = await lisp.refusal("debugger_continue", {});
    expect(next).to.equal("Invoke it with one Lisp expression for each value. The stop is unchanged.");
    expect(await invoke("CONTINUE", "7")).to.deep.equal(["=> 7"]);
  });

  it("ends a value's evaluation at the timeout, and leaves the stop unchanged", async () => {
    const stop = stopName(await lisp.evaluate("(symbol-value '*unset*)"));
    const args = { restart: "USE-VALUE", values: ["(loop)"], timeout: 0.3 };
    expect(await lisp.refusal("debugger_invoke_restart", args)).to.include({ type: "FRAME_EVALUATION_TIMEOUT" });
    expect(await lisp.stops()).to.deep.equal([stop]);
    expect(await restarts()).to.be.an("array");
    expect(await invoke("USE-VALUE", "5")).to.deep.equal(["=> 5"]);
  });
});
