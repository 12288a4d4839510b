import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import { threadListAnswer } from "../../format/thread-list.js";

export const listThreads = defineTool({
  name: "list-threads",
  family: "runtime",
  effect: "reads",
  title: "List threads",
  description:
    "List the image's threads: whose code each runs, what it waits for (lock and holder, condition variable, sleep, input). Deadlocks of mutexes come first. No thread is disturbed; only stacks interrupts them, briefly.",
  input: () =>
    z.strictObject({
      stacks: z.int().min(0).max(30).optional().describe("Innermost frames of each (default 0)"),
      name: z.string().min(1).optional().describe("Part of the names of the wanted threads"),
    }),
  async run({ stacks = 0, name }, { session, signal, agent, guide }) {
    const { client } = await session();
    const found = await client.program.threads({ name, frames: stacks, signal });
    const mine = client.evaluations.filter((evaluation) => agent.evaluations.has(evaluation));
    return threadListAnswer(found, {
      name,
      mine: mine.map(({ id }) => id),
      stops: client.stops,
      guide,
    });
  },
});
