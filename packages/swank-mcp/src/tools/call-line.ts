import { OUTCOME_META } from "../format/outcome-data.js";
import { oneLine } from "../text/cut.js";
import { shown } from "../text/shown.js";
import type { JsonObject, JsonValue, ToolAnswer } from "../text/tool-answer.js";

/** Most characters of a tool's name in the log. */
const MAX_NAME = 100;

/** A finished call for the log. It has no arguments and no answer, since they may be secret. */
export interface CallRecord {
  /** A tool's name, if the call was correct. */
  readonly name: unknown;
  readonly milliseconds: number;
  /** `ok`, the status of the evaluation, or the code of the refusal. */
  readonly outcome: string;
}

/** The log line of a call. */
export function callLine({ name, milliseconds, outcome }: CallRecord): string {
  const tool = typeof name === "string" && /^[\w-]+$/.test(name) ? oneLine(name, MAX_NAME) : shown(name);
  return `call ${tool}: ${outcome}, ${Math.round(milliseconds)} ms`;
}

/** Derives a call's outcome from its answer. */
export function outcomeOf({ structured, meta, isError }: ToolAnswer): string {
  const refusal = isError ? textAt(structured, "error", "data", "type") : undefined;
  return refusal ?? textAt(meta, OUTCOME_META, "status") ?? "ok";
}

/** The text at a path of keys, if there is one. */
function textAt(value: JsonValue | undefined, ...path: readonly string[]): string | undefined {
  let found = value;
  for (const key of path) found = isObject(found) ? found[key] : undefined;
  return typeof found === "string" ? found : undefined;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
