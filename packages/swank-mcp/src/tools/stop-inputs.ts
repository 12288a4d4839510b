import * as z from "zod";

/** A day: what takes longer is not waited for by a tool call. */
const MAX_SECONDS = 86_400;

/** A thread's id: a number is as good as its digits, and nothing else is. */
export const threadText = z.union([z.string(), z.int().transform(String)]);

/** Which stop. */
export const threadInput = threadText.prefault("auto").describe("Thread id, id/level, or auto: the latest stop");

export const frameInput = z.int().describe("Frame index");

export const timeoutInput = z
  .number()
  .gt(0)
  .max(MAX_SECONDS)
  .optional()
  .describe("Seconds until the code is interrupted (default 30)");
