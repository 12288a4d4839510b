/** Matches SBCL's messages about unhandled errors and about errors that end the process. */
const MESSAGES: readonly RegExp[] = [
  /^Unhandled [\s\S]*?(?=\n\s*\nBacktrace)/m,
  /^Heap exhausted during .*$/m,
  /^fatal error encountered[\s\S]*?(?=\n\s*\n|\s*$(?![\s\S]))/m,
  /^CORRUPTION WARNING[\s\S]*?(?=\n\s*\n|\s*$(?![\s\S]))/m,
];

/**
 * Matches SBCL's reports of problems that the process has survived: an allocation that found no memory signals a condition (gencgc.c), and
 * memory that may be corrupted is not the end by default (interr.c).
 */
const SURVIVED: readonly RegExp[] = [
  /^Heap exhausted during allocation:(?:(?!^Heap exhausted)[\s\S])*?\*STOP-FOR-GC-PENDING\* = .*\n?(?!fatal error|Heap exhausted, game over)/gm,
  /^CORRUPTION WARNING(?:(?!^CORRUPTION WARNING)[\s\S])*?^Continuing with fingers crossed\..*\n?/gm,
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
  const rest = SURVIVED.reduce((text, pattern) => text.replaceAll(pattern, ""), output);
  const messages = MESSAGES.flatMap((pattern) => pattern.exec(rest)?.[0] ?? []);
  return (messages.join("\n") || lastLines(rest)).slice(-MOST);
}

function lastLines(output: string): string {
  const lines = output.trim().split("\n");
  return lines
    .filter((line) => !NOISE.test(line))
    .slice(-12)
    .join("\n");
}
