import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { answerAboutValue, idOrCode } from "../../calls/inspect-value.js";
import { timeoutInput } from "../../calls/stop-inputs.js";
import type { ToolContext } from "../../calls/tool-context.js";
import type { Config } from "../../cli/config.js";
import { growthAnswer, summaryAnswer } from "../../format/heap.js";
import { instancesAnswer } from "../../format/heap-instances.js";
import { pathAnswer } from "../../format/heap-path.js";
import { Refusal } from "../../refusals/refusal.js";
import type { ToolAnswer } from "../../text/tool-answer.js";
import { growthOfCode } from "./growth-of-code.js";

/** What heap can be asked for, with the arguments that belong to it. */
const ARGUMENTS = {
  summary: ["type"],
  growth: ["type", "code", "timeout"],
  instances: ["type"],
  path: ["object"],
} as const;

export const heap = defineTool({
  name: "heap",
  family: "runtime",
  effect: "evaluates",
  runsCode: ({ code, object }) => code !== undefined || (object !== undefined && typeof idOrCode(object) !== "number"),
  title: "Heap",
  description:
    "Find leaks: types by bytes, growth since the last summary or around code, instances of a type, path: what keeps an object (id, code) alive.",
  input: (config: Config) =>
    z.strictObject({
      what: z.enum(["summary", "growth", "instances", "path"]),
      type: z.string().optional(),
      object: z.union([z.int(), z.string()]).optional(),
      code: z.string().optional(),
      gc: z.boolean().optional().describe("Default true"),
      timeout: timeoutInput(config),
    }),
  async run({ what, gc, ...given }, context) {
    checkArguments(what, given);
    const { type, object, code, timeout } = given;
    if (what === "path") return pathOf(object, context);
    const options = { collect: gc, signal: context.signal };
    if (code !== undefined) return growthOfCode(code, { ...options, type }, timeout, context);
    const { program } = (await context.session()).client;
    if (what === "summary") return summaryAnswer(await program.heap.summary({ ...options, type }), context.guide);
    if (what === "growth") return growthAnswer(await program.heap.growth({ ...options, type }));
    if (type === undefined) throw misused("instances needs a type");
    return instancesAnswer(await program.heap.instances(type, options));
  },
});

async function pathOf(object: number | string | undefined, context: ToolContext): Promise<ToolAnswer> {
  if (object === undefined) throw misused("path needs an object");
  const target = idOrCode(object);
  const { signal } = context;
  if (typeof target === "string") {
    return answerAboutValue(target, context, async (id, { client }) =>
      pathAnswer(await client.program.heap.path(id, { signal })),
    );
  }
  const { program } = (await context.session()).client;
  return pathAnswer(await program.heap.path(target, { signal }));
}

function checkArguments(what: keyof typeof ARGUMENTS, given: Readonly<Record<string, unknown>>): void {
  const taken: readonly string[] = ARGUMENTS[what];
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !taken.includes(name)) throw misused(`${what} takes no ${name}`);
  }
}

function misused(problem: string): Refusal {
  return new Refusal("INVALID_ARGUMENTS", `heap: ${problem}.`, {
    remedy: "summary takes type, growth type or code, instances type, path object.",
  });
}
