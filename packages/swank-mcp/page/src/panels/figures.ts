import { bytes } from "../format.js";

/** A difference in bytes, with its sign; empty if there is none. */
export function growthText(difference: number): string {
  if (difference === 0) return "";
  return `${difference > 0 ? "+" : "−"}${bytes(Math.abs(difference))}`;
}

/** Microseconds: `12 µs`, `3.4 ms`, `2.1 s`. */
export function timeText(microseconds: number): string {
  const [unit, size] = unitOf(microseconds);
  const value = microseconds / size;
  return `${value >= 100 || size === 1 ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`;
}

/** A share: `3.2 %`; without a fraction from 10 % on. */
export function shareText(part: number, whole: number): string {
  const percent = whole <= 0 ? 0 : (100 * part) / whole;
  return `${percent >= 9.95 || percent === 0 ? percent.toFixed(0) : percent.toFixed(1)} %`;
}

/** A path, or the end of a long one. */
export function shortPath(path: string): string {
  const parts = path.split("/");
  return parts.length <= 3 ? path : `…/${parts.slice(-2).join("/")}`;
}

function unitOf(microseconds: number): readonly [unit: string, size: number] {
  if (microseconds < 999.5) return ["µs", 1];
  return microseconds < 999_500 ? ["ms", 1000] : ["s", 1_000_000];
}
