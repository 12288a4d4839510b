import { expect } from "chai";
import fc from "fast-check";
import type { ToolServer } from "swank-mcp";
import { NO_ERROR } from "#swank-mcp/report/stop.js";
import { frames, restarts, returned, SILENT, snapshot } from "../../support/mcp-outcomes.js";
import { evaluation, type ScriptedOutcome, scriptedSession, stop } from "../../support/mcp-scripted.js";
import { closeServer, toolServer } from "../../support/mcp-server.js";

interface Step {
  /** What happens to the last error. */
  readonly effect: "set" | "clear" | "keep";
  readonly outcome: ScriptedOutcome;
}

function failure(name: string, status: "stopped" | "aborted"): Step {
  const error = snapshot({ type: name, restarts: restarts("ABORT - Out"), frames: frames(`(${name})`, "(TOP)") });
  const outcome: ScriptedOutcome =
    status === "aborted" ? { ...SILENT, status, error } : { ...SILENT, status, stop: stop(1, 1, { condition: error }) };
  return { effect: "set", outcome };
}

const name = fc.stringMatching(/^[A-Z]{1,8}$/);
const step: fc.Arbitrary<Step> = fc.oneof(
  name.map((type) => failure(type, "stopped")),
  name.map((type) => failure(type, "aborted")),
  fc.constant<Step>({ effect: "clear", outcome: returned(["1"]) }),
  fc.constant<Step>({ effect: "keep", outcome: { ...SILENT, status: "aborted" } }),
  fc.constantFrom("break", "breakpoint", "step").map(
    (reason): Step => ({
      effect: "keep",
      outcome: {
        ...SILENT,
        status: "stopped",
        stop: stop(1, 1, { reason, condition: snapshot({ type: "B" }) }),
      },
    }),
  ),
);

async function read(tools: ToolServer, tool: string, args: object = {}): Promise<string> {
  const answer = await tools.call({ name: tool, args, signal: new AbortController().signal, progress: () => {} });
  return JSON.stringify(answer);
}

/** Text of describe-last-error after these steps, as the contract's statements have it. */
function expected(steps: readonly Step[]): string {
  const last = steps.filter(({ effect }) => effect !== "keep").at(-1);
  if (last?.effect !== "set") return NO_ERROR;
  const { outcome } = last;
  const error = outcome.status === "stopped" ? outcome.stop.condition : "error" in outcome ? outcome.error : undefined;
  return `Error: ${error?.type}\n`;
}

describe("LastError", () => {
  it("keeps the error of the last evaluation that set it, whatever tools are called in between", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const queue = [...steps];
        const session = scriptedSession(() => evaluation({ next: async () => queue.shift()?.outcome ?? returned([]) }));
        const tools = toolServer(async () => session);
        for (const [index] of steps.entries()) {
          await read(tools, "evaluate-lisp", { code: "x" });
          const told = await read(tools, "describe-last-error");
          await read(tools, "lisp-status");
          await read(tools, "evaluate-lisp", { code: "" });
          await read(tools, "no-such-tool");
          expect(told).to.include(JSON.stringify(expected(steps.slice(0, index + 1))).slice(1, -1));
          expect(await read(tools, "describe-last-error")).to.equal(told);
        }
        await closeServer(tools);
      }),
      { numRuns: 30 },
    );
  });

  it("keeps the error of the evaluation that ended last, not of the one that began last", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(step, { minLength: 2, maxLength: 6 }), async (scheduler, steps) => {
        const ended: Step[] = [];
        const session = scriptedSession((code) => {
          const mine = steps[Number(code)] ?? failure("NONE", "aborted");
          const next = async () => {
            await scheduler.schedule(Promise.resolve(), code);
            ended.push(mine);
            return mine.outcome;
          };
          return evaluation({ next });
        });
        const tools = toolServer(async () => session);
        const calls = steps.map((_, index) => read(tools, "evaluate-lisp", { code: String(index) }));
        await scheduler.waitFor(Promise.all(calls));
        expect(await read(tools, "describe-last-error")).to.include(JSON.stringify(expected(ended)).slice(1, -1));
        await closeServer(tools);
      }),
    );
  });

  it("gives the same answer to repeated reads, even when its source changes", async () => {
    const error = { ...snapshot({ type: "FIRST" }), frames: [{ index: 0, call: "(F)", kind: "user" as const }] };
    const session = scriptedSession(() => evaluation({ next: async () => ({ ...SILENT, status: "aborted", error }) }));
    const tools = toolServer(async () => session);
    await read(tools, "evaluate-lisp", { code: "x" });
    const first = [await read(tools, "describe-last-error"), await read(tools, "get-backtrace")];
    error.type = "SECOND";
    error.frames.pop();
    session.lose();
    for (let count = 0; count < 5; count++) {
      expect([await read(tools, "describe-last-error"), await read(tools, "get-backtrace")]).to.deep.equal(first);
    }
    await closeServer(tools);
  });
});
