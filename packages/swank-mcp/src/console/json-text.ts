import { isJsonObject, type JsonObject } from "../base/answer.js";

/** Most characters to which a column is padded. */
const MAX_WIDTH = 40;

type Scalar = string | number | boolean | null;

/** A JSON tool's answer for the user: a line for each field, a table for each list of objects. */
export function jsonText(object: JsonObject): string {
  return objectLines(object).join("\n");
}

function objectLines(object: JsonObject): string[] {
  return Object.entries(object).flatMap(([key, value]) => factLines(key, value));
}

function factLines(key: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (isScalar(value)) return [`${key}: ${value}`];
  if (isJsonObject(value))
    return Object.values(value).every(isScalar)
      ? [`${key}: ${inline(value)}`]
      : [`${key}:`, ...indented(objectLines(value))];
  if (!Array.isArray(value) || value.length === 0) return [`${key}: none`];

  const objects = value.filter(isJsonObject);
  return objects.length === value.length ? tableLines(key, objects) : listLines(key, value.map(String));
}

/** A list of texts: words on one line, sentences each on its own line. */
function listLines(key: string, texts: readonly string[]): string[] {
  return texts.some((text) => /\s/.test(text)) ? [`${key}:`, ...indented(texts)] : [`${key}: ${texts.join(", ")}`];
}

/** A table. The first line names the columns; values that are not scalars follow below their row. */
function tableLines(key: string, rows: readonly JsonObject[]): string[] {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row).filter((name) => isScalar(row[name]))))];
  const widths = columns.map((name) => Math.min(MAX_WIDTH, Math.max(...rows.map((row) => cell(row, name).length))));
  const lines = rows.flatMap((row) => [
    columns.map((name, index) => cell(row, name).padEnd(widths[index] ?? 0)).join("  "),
    ...indented(Object.entries(row).flatMap(([name, value]) => (isPart(value) ? factLines(name, value) : []))),
  ]);
  return [`${key}: ${columns.join(", ")}`, ...indented(lines).map((line) => line.trimEnd())];
}

function cell(row: JsonObject, name: string): string {
  const value = row[name];
  return isScalar(value) ? String(value) : "";
}

function inline(object: JsonObject): string {
  return Object.entries(object)
    .map(([key, value]) => `${key} ${value}`)
    .join(", ");
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/^(?=.)/gm, "  "));
}

/** Whether a value is shown below its row; an empty list is not shown. */
function isPart(value: unknown): boolean {
  return !isScalar(value) && !(Array.isArray(value) && value.length === 0);
}

function isScalar(value: unknown): value is Scalar {
  return value !== undefined && (value === null || typeof value !== "object");
}
