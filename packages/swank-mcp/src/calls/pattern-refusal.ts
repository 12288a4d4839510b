import { Refusal } from "../refusals/refusal.js";

/** The refusal of a pattern that is no regular expression. */
export function patternRefusal(tool: string, reason: string): Refusal {
  return new Refusal("INVALID_ARGUMENTS", `${tool}: The pattern is no regular expression. ${reason}.`, {
    remedy: "Correct the pattern, or leave out regexp to search for the text.",
  });
}
