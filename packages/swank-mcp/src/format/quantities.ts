/** A number of microseconds, with a unit that suits it. */
export function timeText(microseconds: number): string {
  if (microseconds < 1000) return `${Math.round(microseconds)} us`;
  const milliseconds = microseconds / 1000;
  if (milliseconds < 1000) return `${rounded(milliseconds)} ms`;
  return `${rounded(milliseconds / 1000)} s`;
}

/** A number of bytes, with a unit that suits it. */
export function bytesText(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${step === 0 ? bytes : rounded(bytes / 1000 ** step)} ${units[step]}`;
}

/** The share of `part` in `whole`. */
export function percentText(part: number, whole: number): string {
  return whole === 0 ? "0%" : `${((100 * part) / whole).toFixed(1)}%`;
}

/** A whole number with commas, such as 1,204. */
export function countText(count: number): string {
  return count.toLocaleString("en-US");
}

function rounded(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
