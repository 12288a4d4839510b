/** How SBCL tells of an error that nobody handles, and of one that ends the process. */
const MESSAGES: readonly RegExp[] = [
  /^Unhandled [\s\S]*?(?=\n\s*\nBacktrace)/m,
  /^Heap exhausted during .*$/m,
  /^fatal error encountered[\s\S]*?(?=\n\s*\n|\s*$(?![\s\S]))/m,
  /^CORRUPTION WARNING[\s\S]*?(?=\n\s*\n|\s*$(?![\s\S]))/m,
];

/** Lines that tell nothing to anybody but SBCL's makers: a frame of its C runtime's backtrace, a remark. */
const NOISE = /^(?:INFO: |\s*\d+: fp=0x)/;

/** Characters that are given at most. */
const MOST = 1000;

/**
 * The part of what an SBCL printed that says what went wrong: the message of its last problem without the backtrace, or the last lines if
 * there is no such message.
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
