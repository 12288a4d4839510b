import { inspect } from "node:util";
import type { Log } from "./log.js";

/** Called with an error that no code of this package expected. */
export type OnDefect = (error: unknown) => void;

/** Writes defects with their stacks and causes to standard error and the log. The answer to the agent has only the message. */
export function defectReporter(log: Log, isLogShown: boolean): OnDefect {
  return (error) => {
    const text = `defect: ${inspect(error)}`;
    log(text);
    if (!isLogShown) process.stderr.write(`swank-mcp: ${text}\n`);
  };
}
