import { expect } from "chai";
import fc from "fast-check";
import { liveDebugger } from "../../support/live-server.js";
import { stopName } from "../../support/mcp-debugger.js";
import { blocks } from "../../support/mcp-results.js";

describe("debugger tools with several stops", () => {
  const lisp = liveDebugger();

  /** Stops an evaluation that adds 40 to the value passed to its restart. */
  async function stopAdding(name: string): Promise<string> {
    const code = `(+ 40 (restart-case (error "~a" '${name}) (give (v) v)))`;
    return stopName(await lisp.evaluate(code));
  }

  it("address each stop, with its own evaluation, by its thread", async () => {
    const [a, b] = [await stopAdding("a"), await stopAdding("b")];
    const [threadOfA = ""] = a.split("/");
    expect((await lisp.frames({ thread: threadOfA })).thread).to.equal(a);
    const give = (thread: string, value: string) =>
      lisp.resume("debugger_invoke_restart", { restart: "GIVE", values: [value], thread });
    // The first evaluation returns its own value although the second stopped later.
    expect(await give(threadOfA, "2")).to.deep.equal(["=> 42"]);
    expect(await lisp.stops()).to.deep.equal([b]);
    expect(await give(b, "3")).to.deep.equal(["=> 43"]);
  });

  it("take auto as the latest live stop of this session", async () => {
    const [a, b] = [await stopAdding("a"), await stopAdding("b")];
    const current = async () => (await lisp.frames({ thread: "auto" })).thread;
    expect(await current()).to.equal(b);
    await lisp.resume("debugger_invoke_restart", { restart: "ABORT" });
    expect(await current()).to.equal(a);
  });

  it("say after ABORT which thread ended and which are still stopped", async () => {
    const [a, b] = [await stopAdding("a"), await stopAdding("b")];
    await lisp.evaluate('(defvar *one* (sb-thread:make-thread (lambda () (error "in a thread")) :name "one"))');
    while ((await lisp.stops()).length < 3) await lisp.evaluate("(sleep 0.02)");
    const c = (await lisp.stops()).find((stop) => stop !== a && stop !== b) ?? "";
    const abort = (thread: string) => lisp.resume("debugger_invoke_restart", { restart: "ABORT", thread });
    const withoutNotices = (blocks: string[]) => blocks.filter((block) => !block.includes("stopped with"));
    expect(withoutNotices(await abort(b))).to.deep.equal([
      "; Evaluation aborted",
      `Thread ${b} ended. Now stopped: ${a} SIMPLE-ERROR, ${c} SIMPLE-ERROR.`,
    ]);
    expect(withoutNotices(await abort(c))).to.deep.equal([`; Thread ${c} ended`, `Now stopped: ${a} SIMPLE-ERROR.`]);
    expect(await abort(a)).to.deep.equal([
      "; Evaluation aborted",
      `Thread ${a} ended. No other thread of this session is stopped.`,
    ]);
    const place = stopName(await lisp.evaluate('(error "one place")'));
    for (const [name, args] of [
      ["debugger_frames", {}],
      ["debugger_frame_locals", { frame: 0 }],
      ["debugger_restarts", {}],
    ] as const)
      expect(await lisp.json(name, args), name).to.have.property("thread", place);
  });

  it("block no other evaluation, even after a RETRY that fails again", async () => {
    const first = stopName(await lisp.evaluate('(error "again and again")'));
    const [report, block] = await lisp.resume("debugger_invoke_restart", { restart: "RETRY", thread: first });
    expect(report).to.match(/^\[ERROR\] SIMPLE-ERROR\nagain and again\n/);
    expect(await lisp.evaluate("(+ 40 2)")).to.deep.equal(["=> 42"]);
    expect(await lisp.stops()).to.deep.equal([stopName([block ?? ""])]);
  });

  it("apply a restart only to the stop it was chosen at, not to the thread's next stop", async () => {
    const [, block = ""] = await lisp.evaluate(
      '(list (restart-case (error "one") (give (v) v)) (restart-case (error "two") (give (v) v)))',
    );
    const thread = stopName([block]);
    const busy = lisp.call("debugger_eval_in_frame", { frame: 0, code: "(sleep 0.2)", thread });
    const give = (value: string) => lisp.call("debugger_invoke_restart", { restart: "GIVE", values: [value], thread });
    const [, first = "", second = ""] = (await Promise.all([busy, give("1"), give("2")])).map(
      (each) => blocks(each)[0],
    );
    expect(first).to.include("[ERROR] SIMPLE-ERROR\ntwo");
    expect(second).to.include("has left the stop");
    expect(await lisp.resume("debugger_invoke_restart", { restart: "GIVE", values: ["3"] })).to.deep.equal([
      "=> (1 3)",
    ]);
  });

  it("return the same values in whatever order the stops end", async () => {
    const order = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4, maxLength: 4 });
    const manner = fc.array(fc.constantFrom("GIVE", "RETRY", "ABORT"), { minLength: 4, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(order, manner, async (indexes, manners) => {
        const stops: string[] = [];
        for (const index of [0, 1, 2, 3]) stops.push(await stopAdding(`number-${index}`));
        for (const index of indexes) {
          const thread = stops[index] ?? "";
          const end = (restart: string, values: string[] = []) =>
            lisp.resume("debugger_invoke_restart", { restart, values, thread });
          if (manners[index] === "ABORT") {
            expect((await end("ABORT"))[0]).to.equal("; Evaluation aborted");
            continue;
          }
          if (manners[index] === "RETRY") expect((await end("RETRY"))[0]).to.include(`NUMBER-${index}`);
          expect(await end("GIVE", [String(index)])).to.deep.equal([`=> ${40 + index}`]);
        }
        expect(await lisp.stops()).to.deep.equal([]);
      }),
      { numRuns: 12 },
    );
  }).timeout(120_000);
});
