import { clientSetup } from "./client-setup.js";
import type { ToolServer } from "./tool-server.js";

interface DemoCall {
  readonly name: string;
  readonly args: Readonly<Record<string, string>>;
}

/** One evaluation that works, one that does not, and a look at the error: what an agent would send. */
const CALLS: readonly DemoCall[] = [
  {
    name: "evaluate-lisp",
    args: {
      code: `(defun average (numbers)
  (/ (reduce #'+ numbers) (length numbers)))
(average '(1 2 3 4))`,
    },
  },
  { name: "evaluate-lisp", args: { code: `(format t "The average of nothing is ")\n(average '())` } },
  { name: "describe-last-error", args: {} },
];

/**
 * Shows the tools at work, on standard output, and how to add the server to each MCP client.
 *
 * @param bin - Absolute path of the `swank-mcp` program.
 * @returns the exit code: 1 when Lisp could not be reached.
 */
export async function runDemo(tools: ToolServer, bin: string): Promise<number> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  try {
    for (const { name, args } of CALLS) {
      process.stdout.write(`${requestText(name, args)}\n`);
      const answer = await tools.call({ name, args, signal: stop.signal, progress: () => {} });
      process.stdout.write(`${indented(answer.blocks.join("\n\n"))}\n\n`);
      if (answer.structured !== undefined) return 1;
    }
    process.stdout.write(clientSetup(bin));
    return 0;
  } finally {
    await tools.close();
  }
}

function requestText(name: string, args: DemoCall["args"]): string {
  return [`> ${name}`, ...Object.values(args).map(indented)].join("\n");
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}
