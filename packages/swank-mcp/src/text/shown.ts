/** Most characters of a wrong value that a message repeats. */
const MAX_SHOWN = 60;

/** A value as JSON, for an error message about it; cut if it is long. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, MAX_SHOWN + 1)) : asJson(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}...`;
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Nested too deeply for JSON.stringify.
    return Array.isArray(value) ? "[...]" : "{...}";
  }
}
