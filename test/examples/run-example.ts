import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { USER_CACHE } from "../support/test-cache.js";

/** The folder of the examples. */
export const EXAMPLES = new URL("../../../examples/", import.meta.url);

/** How an example ended, with its output. */
export interface ExampleRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Options of {@link runExample}. */
export interface ExampleOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** The text of standard input, which then ends. Default: empty. */
  readonly input?: string;
}

/** The arguments of Node that run an example. */
export function exampleCommand(file: string, args: readonly string[] = []): readonly string[] {
  return [fileURLToPath(new URL(file, EXAMPLES)), ...args];
}

/** Runs an example in the repository's folder, without colors, to its end. */
export async function runExample(
  file: string,
  args: readonly string[] = [],
  { environment = {}, input = "" }: ExampleOptions = {},
): Promise<ExampleRun> {
  const child = spawn(process.execPath, exampleCommand(file, args), {
    cwd: fileURLToPath(new URL("..", EXAMPLES)),
    env: { ...process.env, FORCE_COLOR: "0", XDG_CACHE_HOME: USER_CACHE, ...environment },
  });
  const texts = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      texts[stream] += text;
    });
  }
  child.stdin.end(input);
  const [code]: (number | null)[] = await once(child, "close");
  return { code: code ?? null, ...texts };
}

/**
 * The lines of a transcript that are the same with each Lisp: headings, reasoning, calls and diffs, without numbers of threads. Absolute paths
 * depend on the machine.
 */
export function said(transcript: string): readonly string[] {
  const lines = transcript.split("\n").filter((line) => /^(> |#|[A-Z][a-z]| {2}[-+] )(?!.*: \/)/.test(line));
  return lines.map((line) => line.replace(/\d+/g, "N"));
}
