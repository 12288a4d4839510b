/** Units of bytes, each 1,024 of the one before. */
const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Bytes with three digits and a unit: `512 MB`, `1.5 GB`. */
export function bytes(number: number): string {
  const power = Math.min(UNITS.length - 1, number < 1024 ? 0 : Math.floor(Math.log2(number) / 10));
  const value = number / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${UNITS[power]}`;
}

/** A duration of milliseconds: `8 ms`, `1.2 s`, `3 min 5 s`, `2 h 1 min`. */
export function duration(milliseconds: number): string {
  const whole = Math.max(0, Math.round(milliseconds));
  if (whole < 1000) return `${whole} ms`;
  if (whole < 10_000) return `${(whole / 1000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A duration that grows while it is shown, in whole seconds. */
export function elapsed(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return seconds < 10 ? `${seconds} s` : duration(seconds * 1000);
}

const two = (number: number) => String(number).padStart(2, "0");

/** The time of day, `14:02:11`. */
export function clock(time: number): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
}

/** A number with its noun: `1 thread`, `1,200 threads`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

/** The first line that is not empty, cut at so many characters. */
export function firstLine(text: string, most: number): string {
  const line = text.trimStart().split("\n", 1)[0] ?? "";
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

/** The last lines of a text, without the line break at its end. */
export function lastLines(text: string, most: number): string {
  return text.replace(/\n+$/, "").split("\n").slice(-most).join("\n");
}
