import { expect } from "chai";
import fc from "fast-check";
import { NO_ERROR, readConfig, ToolServer } from "swank-mcp";
import { frames, restarts, returned, SILENT, snapshot } from "../support/mcp-outcomes.js";
import { evaluation, type ScriptedOutcome, scriptedSession, stop } from "../support/mcp-scripted.js";

interface Step {
  /** What happens to the last error. */
  readonly effect: "set" | "clear" | "keep";
  readonly outcome: ScriptedOutcome;
}

function failure(name: string, status: "stopped" | "aborted"): Step {
  const error = snapshot({ type: name, restarts: restarts("ABORT - Out"), frames: frames(`(${name})`, "(TOP)") });
  const outcome: ScriptedOutcome =
    status === "aborted"
      ? { ...SILENT, status, error }
      : { ...SILENT, status, reason: "error", detail: {}, error, session: stop(1), locals: [] };
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
        reason,
        detail: {},
        error: snapshot({ type: "B" }),
        session: stop(1),
        locals: [],
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
  if (last?.effect !== "set" || !("error" in last.outcome)) return NO_ERROR;
  return `Error: ${last.outcome.error?.type}\n`;
}

describe("last error", () => {
  it("is that of the last evaluation to end that set or cleared it, whatever is called between", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const queue = [...steps];
        const session = scriptedSession(() => evaluation({ next: async () => queue.shift()?.outcome ?? returned([]) }));
        const tools = new ToolServer(readConfig([], {}), async () => session);
        for (const [index] of steps.entries()) {
          await read(tools, "evaluate-lisp", { code: "x" });
          const told = await read(tools, "describe-last-error");
          await read(tools, "lisp-status");
          await read(tools, "evaluate-lisp", { code: "" });
          await read(tools, "no-such-tool");
          expect(told).to.include(JSON.stringify(expected(steps.slice(0, index + 1))).slice(1, -1));
          expect(await read(tools, "describe-last-error")).to.equal(told);
        }
        await tools.close();
      }),
    );
  });

  it("is that of the one that ended last, not of the one that began last", async () => {
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
        const tools = new ToolServer(readConfig([], {}), async () => session);
        const calls = steps.map((_, index) => read(tools, "evaluate-lisp", { code: String(index) }));
        await scheduler.waitFor(Promise.all(calls));
        expect(await read(tools, "describe-last-error")).to.include(JSON.stringify(expected(ended)).slice(1, -1));
        await tools.close();
      }),
    );
  });

  it("gives one answer to a hundred reads, also when what it came from changes", async () => {
    const error = { ...snapshot({ type: "FIRST" }), frames: [{ index: 0, call: "(F)", kind: "user" as const }] };
    const session = scriptedSession(() => evaluation({ next: async () => ({ ...SILENT, status: "aborted", error }) }));
    const tools = new ToolServer(readConfig([], {}), async () => session);
    await read(tools, "evaluate-lisp", { code: "x" });
    const first = [await read(tools, "describe-last-error"), await read(tools, "get-backtrace")];
    error.type = "SECOND";
    error.frames.pop();
    session.lose();
    for (let count = 0; count < 100; count++) {
      expect([await read(tools, "describe-last-error"), await read(tools, "get-backtrace")]).to.deep.equal(first);
    }
    await tools.close();
  });
});
