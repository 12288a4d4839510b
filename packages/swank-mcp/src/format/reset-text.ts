import type { Definition, LeftReason, ResetReport } from "../image/lisp-port.js";
import { cutName, firstOf } from "../text/cut.js";
import type { JsonObject, JsonValue } from "../text/tool-answer.js";
import { loadedData, loadedLine } from "./definition-list.js";

/** Key of a result's `_meta` under which programs find the report as data. */
const RESET_META = "swank-mcp/reset";

/** Most names under one heading. */
const MAX_NAMES = 50;
const MAX_NAME = 300;

const REASONS: Record<LeftReason, string> = {
  kind: "only functions, macros and variables are undefined",
  existed: "existed before this session",
  changed: "changed later by other code",
  extended: "other code has added methods",
  locked: "its package is locked",
};

/** The answer of reset-session for an image that other clients also use. */
export function resetText(report: ResetReport): string {
  const { aborted, stillRunning } = report;
  return [
    "Session reset. The package is COMMON-LISP-USER.",
    ...section("aborted", aborted === 0 ? [] : [evaluations(aborted)]),
    ...section("still running", stillRunning === 0 ? [] : [`${evaluations(stillRunning)} that could not be aborted`]),
    ...section("undefined", report.undefined.map(named)),
    ...section(
      "left",
      report.left.map((left) => `${named(left)}: ${REASONS[left.reason]}`),
    ),
    ...section("left, loaded from files", report.loaded.map(loadedLine)),
  ].join("\n\n");
}

/** The report as data. */
export function resetMeta(report: ResetReport): JsonObject {
  const { undefined: gone, left, loaded, aborted, stillRunning } = report;
  return {
    [RESET_META]: {
      ...listData("undefined", gone.map(nameData)),
      ...listData("left", left.map(nameData)),
      ...listData("loaded", loaded.map(loadedData)),
      aborted,
      still_running: stillRunning,
    },
  };
}

function nameData<D extends Pick<Definition, "name">>(definition: D): D {
  return { ...definition, name: cutName(definition.name, MAX_NAME) };
}

/** The first items of a list, and the number left out. */
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
