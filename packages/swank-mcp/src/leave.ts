import { type ProgramEnd, SIGNAL_EXIT_CODES, SIGNAL_PATIENCE } from "./exit-codes.js";
import { settledWithin } from "./settled-within.js";
import type { OutputQueue } from "./transport/output-queue.js";

/** Ends the process once the reader of standard output has taken everything, or takes no more. */
export async function leave(output: OutputQueue, { exitCode, patience }: ProgramEnd): Promise<never> {
  let limit = patience;
  const hurry = () => {
    limit = Math.min(limit, SIGNAL_PATIENCE);
  };
  for (const signal of Object.keys(SIGNAL_EXIT_CODES)) process.once(signal, hurry);
  const isWhole = await output.drain(() => limit);
  if (!isWhole) process.stderr.write(`swank-mcp: ${output.waiting} bytes of output are lost: nobody read them.\n`);
  await settledWithin(SIGNAL_PATIENCE, errorsWritten());
  process.exit(isWhole || exitCode !== 0 ? exitCode : 1);
}

/** Resolves when standard error has been taken, or cannot be written. */
function errorsWritten(): Promise<void> {
  return new Promise((resolve) => {
    process.stderr.write("", () => resolve());
  });
}
