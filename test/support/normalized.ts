import { tmpdir } from "node:os";

/** What depends on the run, and its replacement. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\b([Tt]hreads?:?"?:? ?"?)\d+/g, "$1<n>"],
  // newer SBCLs print the operating system's id of a thread
  [/\btid=\d+ /g, ""],
  [/\b(pid"?:? ?)\d+/g, "$1<n>"],
  [/\b(127\.0\.0\.1|localhost):\d+/g, "$1:<port>"],
  [/\b(port"?:? )\d+/g, "$1<port>"],
  [/\{[0-9A-F]{8,16}\}/g, "{<address>}"],
  [/\bevaluation \d+:/g, "evaluation <n>:"],
  [/(\.LISP:)\d+$/gm, "$1<position>"],
  [/^(Time: )[\d.]+ s$/gm, "$1<seconds> s"],
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"],
];

/** Returns a text without the values that vary between runs: threads, processes, ports, addresses, paths and times. */
export function normalized(text: string): string {
  return VARYING.reduce(
    (result, [pattern, replacement]) => result.replace(pattern, replacement),
    text.replaceAll(`${tmpdir()}/`, "<tmp>/"),
  );
}
