import * as z from "zod";

/** A day: what takes longer is not waited for by a tool call. */
const MAX_SECONDS = 86_400;

/** Which stop: a number is as good as its digits. */
export const threadInput = z.coerce.string().default("auto").describe("Thread id, id/level, or auto: the latest stop");

export const frameInput = z.int().describe("Frame index");

export const timeoutInput = z
  .number()
  .gt(0)
  .max(MAX_SECONDS)
  .optional()
  .describe("Seconds until the code is interrupted (default 30)");
