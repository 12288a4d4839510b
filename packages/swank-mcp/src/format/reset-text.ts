import type { Definition, LeftReason, ResetReport } from "../lisp-port.js";
import type { JsonObject, JsonValue } from "../tool-answer.js";
import { cutName, firstOf } from "./cut.js";

/** Key of a result's `_meta` under which programs find the report as data. */
const RESET_META = "swank-mcp/reset";

/** Most names under one heading. */
const MAX_NAMES = 50;
const MAX_NAME = 300;

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
    ...section(
      "left, loaded from files",
      report.loaded.map((name) => cutName(name, MAX_NAME)),
    ),
  ].join("\n\n");
}

/** The report as data. */
export function resetMeta(report: ResetReport): JsonObject {
  const { undefined: gone, left, loaded, aborted, stillRunning } = report;
  return {
    [RESET_META]: {
      ...listData("undefined", gone.map(nameData)),
      ...listData("left", left.map(nameData)),
      ...listData(
        "loaded",
        loaded.map((name) => cutName(name, MAX_NAME)),
      ),
      aborted,
      still_running: stillRunning,
    },
  };
}

function nameData<D extends Pick<Definition, "name">>(definition: D): D {
  return { ...definition, name: cutName(definition.name, MAX_NAME) };
}

/** The first of a list, and how many are left out. */
function listData(key: string, items: readonly JsonValue[]): JsonObject {
  const { shown, left } = firstOf(items, MAX_NAMES);
  return { [key]: shown, ...(left > 0 ? { [`${key}_left_out`]: left } : {}) };
}

function section(name: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const left = lines.length - MAX_NAMES;
  return [[`[${name}]`, ...lines.slice(0, MAX_NAMES), ...(left > 0 ? [`... ${left} more`] : [])].join("\n")];
}

function named({ kind, name }: Pick<Definition, "kind" | "name">): string {
  return `${kind} ${cutName(name, MAX_NAME)}`;
}

function evaluations(count: number): string {
  return `${count} evaluation${count === 1 ? "" : "s"}`;
}
