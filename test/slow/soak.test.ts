import { expect } from "chai";
import { blocks } from "../support/mcp-results.js";
import type { McpStdio } from "../support/mcp-stdio.js";
import {
  collectGarbage,
  type Growth,
  greatestGrowth,
  growthTable,
  type Resources,
  resourcesOf,
  startCollectable,
} from "../support/resources.js";

/** Number of calls in a round, with two errors and one redefinition. */
const CALLS = 20;
const ROUNDS = 1000;
/** Number of rounds before the first measurement, enough to reach every limit on kept data. */
const WARM_UP = 250;

/** Makes one call of each kind, and checks its answer. */
async function runRound(agent: McpStdio, round: number): Promise<void> {
  let calls = 0;
  const call = async (name: string, args: object, expected: RegExp): Promise<string> => {
    calls += 1;
    const text = blocks(await agent.call(name, args)).join("\n");
    expect(text).to.match(expected);
    return text;
  };
  const evaluate = (code: string, expected: RegExp) => call("evaluate-lisp", { code }, expected);

  await evaluate(`(defun work (n) (let ((twice (* 2 n))) (+ twice ${round})))`, /=> WORK/);
  await evaluate("(work 1)", new RegExp(`=> ${round + 2}\\b`));
  await evaluate(`(error "number ~d" ${round})`, new RegExp(`number ${round}`));
  await call("debugger_frames", {}, /"frames"/);
  await call("debugger_frame_locals", { frame: 0 }, /"locals"/);
  await evaluate("(work (car 1))", /TYPE-ERROR/);
  await call("debugger_eval_in_frame", { frame: 0, code: "(+ 1 2)" }, /^=> 3/);
  await call("debugger_invoke_restart", { restart: "ABORT" }, /aborted/i);
  await call("describe-last-error", {}, /TYPE-ERROR/);
  await call("get-backtrace", {}, /CAR/);
  await call("describe-symbol", { name: "work" }, /WORK/);
  await call("list-definitions", {}, /WORK/);
  await call("lisp-status", {}, /"image":"own"/);
  await evaluate("(dotimes (i 200) (print i))", /\b199\b/);
  await evaluate("(make-list 3000 :initial-element 'something)", /SOMETHING/);
  await evaluate('(warn "number ~d" (random 10))', /number \d/);
  const { id } = JSON.parse(await call("breakpoint_set", { function: "work" }, /"id"/));
  await evaluate("(work 2)", /BREAKPOINT/);
  await call("debugger_continue", {}, new RegExp(`=> ${round + 4}\\b`));
  await call("breakpoint_remove", { id }, /remove/);
  expect(calls).to.equal(CALLS);
}

/** Measures the server and its image after a garbage collection in both. */
async function measure(agent: McpStdio): Promise<{ readonly server: Resources; readonly lisp: Resources }> {
  await collectGarbage(agent);
  const [server, lisp] = await Promise.all([resourcesOf(agent.process.pid), resourcesOf(await agent.imagePid())]);
  return { server, lisp };
}

describe("swank-mcp and its image (soak)", () => {
  it("do not grow after 20,000 calls, 2,000 errors and 1,000 redefinitions", async () => {
    const agent = await startCollectable();
    try {
      for (let round = 0; round < WARM_UP; round += 1) await runRound(agent, round);
      const start = await measure(agent);
      for (let round = 0; round < ROUNDS; round += 1) await runRound(agent, round);
      const end = await measure(agent);
      const rows: readonly Growth[] = [
        { process: "server", start: start.server, end: end.server },
        { process: "Lisp", start: start.lisp, end: end.lisp },
      ];
      console.log(growthTable(`${ROUNDS * CALLS} calls`, rows));
      expect(greatestGrowth(rows)).to.be.at.most(1.1);
    } finally {
      await agent.end();
    }
  });
});
