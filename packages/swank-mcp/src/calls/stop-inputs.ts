import * as z from "zod";
import type { Config } from "../cli/config.js";

/** One day: the longest timeout of a tool call. */
const MAX_SECONDS = 86_400;

/** From this number of seconds on, a timeout may have been meant in milliseconds. */
const LONG_SECONDS = 1000;

/** A line that says how a long timeout was understood. */
export function timeoutRemarks(args: unknown): string[] {
  const given = typeof args === "object" && args !== null && "timeout" in args ? args.timeout : undefined;
  if (typeof given !== "number" || given < LONG_SECONDS) return [];
  return [`timeout ${given} was taken as ${given} seconds (${Math.round(given / 60)} minutes), not milliseconds.`];
}

/** A thread id as a string or a number. */
export const threadText = z.union([z.string().min(1), z.int().transform(String)]);

/** The argument that chooses a stop. */
export const threadInput = threadText.prefault("auto").describe("Thread id, id/level, or auto: the latest stop");

export const frameInput = z.int().describe("Frame index");

/** The argument for text that the resumed code reads. */
export const stdinInput = z.string().optional().describe("Input");

/** The argument for the time that an evaluation has. */
export function timeoutInput({ timeout }: Config) {
  return z
    .number()
    .gt(0)
    .max(MAX_SECONDS)
    .optional()
    .describe(`Seconds until the code is interrupted (default ${timeout})`);
}
