import * as z from "zod";
import { OUTCOME_META } from "../format/outcome-data.js";
import { oneLine } from "../text/cut.js";
import { shown } from "../text/shown.js";
import type { ToolAnswer } from "../text/tool-answer.js";

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

const refused = z.looseObject({ error: z.looseObject({ data: z.looseObject({ type: z.string() }) }) });
const evaluated = z.looseObject({ [OUTCOME_META]: z.looseObject({ status: z.string() }) });

/** Derives a call's outcome from its answer. */
export function outcomeOf({ structured, meta, isError }: ToolAnswer): string {
  const refusal = isError ? refused.safeParse(structured) : undefined;
  if (refusal?.success === true) return refusal.data.error.data.type;
  const outcome = evaluated.safeParse(meta);
  return outcome.success ? outcome.data[OUTCOME_META].status : "ok";
}
