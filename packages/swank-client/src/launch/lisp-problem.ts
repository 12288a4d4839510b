/** Matches SBCL's messages about unhandled errors and about errors that end the process. */
const MESSAGES: readonly RegExp[] = [
  /^Unhandled [\s\S]*?(?=\n\s*\nBacktrace)/m,
  /^Heap exhausted during .*$/m,
  /^fatal error encountered[\s\S]*?(?=\n\s*\n|\s*$(?![\s\S]))/m,
  /^CORRUPTION WARNING[\s\S]*?(?=\n\s*\n|\s*$(?![\s\S]))/m,
];

/** Matches lines for SBCL's developers only: frames of its C backtrace, remarks. */
const NOISE = /^(?:INFO: |\s*\d+: fp=0x)/;

/** Most characters returned. */
const MOST = 1000;

/**
 * The part of SBCL's output that says what went wrong: the message of the last problem without the backtrace, or the last lines if there
 * is no such message.
 */
export function lispProblem(output: string): string {
  const messages = MESSAGES.flatMap((pattern) => pattern.exec(output)?.[0] ?? []);
  return (messages.join("\n") || lastLines(output)).slice(-MOST);
}

function lastLines(output: string): string {
  const lines = output.trim().split("\n");
  return lines
    .filter((line) => !NOISE.test(line))
    .slice(-12)
    .join("\n");
}
