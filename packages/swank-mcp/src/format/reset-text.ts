import type { Definition, LeftReason, ResetReport } from "../lisp-port.js";
import type { JsonObject } from "../tool-answer.js";

/** Key of a result's `_meta` under which programs find the report as data. */
const RESET_META = "swank-mcp/reset";

/** Most names under one heading. */
const MAX_NAMES = 50;

const REASONS: Record<LeftReason, string> = {
  kind: "only functions, macros and variables are undefined",
  existed: "existed before this session",
  changed: "changed since by somebody else",
  extended: "others have added methods",
  locked: "its package is locked",
};

/** What reset-session answers for an image that others use too. */
export function resetText(report: ResetReport): string {
  const { aborted, stillRunning } = report;
  return [
    "Session reset. The package is COMMON-LISP-USER.",
    ...section("aborted", aborted === 0 ? [] : [evaluations(aborted)]),
    ...section("still running", stillRunning === 0 ? [] : [`${evaluations(stillRunning)} that nothing could end`]),
    ...section("undefined", report.undefined.map(named)),
    ...section(
      "left",
      report.left.map((left) => `${named(left)}: ${REASONS[left.reason]}`),
    ),
    ...section("left, loaded from files", report.loaded),
  ].join("\n\n");
}

/** The report as data. */
export function resetMeta(report: ResetReport): JsonObject {
  const { undefined: gone, left, loaded, aborted, stillRunning } = report;
  return {
    [RESET_META]: {
      undefined: gone.map((definition) => ({ ...definition })),
      left: left.map((definition) => ({ ...definition })),
      loaded,
      aborted,
      still_running: stillRunning,
    },
  };
}

function section(name: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const left = lines.length - MAX_NAMES;
  return [[`[${name}]`, ...lines.slice(0, MAX_NAMES), ...(left > 0 ? [`... ${left} more`] : [])].join("\n")];
}

function named({ kind, name }: Pick<Definition, "kind" | "name">): string {
  return `${kind} ${name}`;
}

function evaluations(count: number): string {
  return `${count} evaluation${count === 1 ? "" : "s"}`;
}
