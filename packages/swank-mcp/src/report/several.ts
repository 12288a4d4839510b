import * as z from "zod";
import type { ToolAnswer } from "../base/answer.js";
import { cutTexts } from "../text/cut.js";

/** Most names in one call. */
const MAX_NAMES = 10;

/** Most that the answers about several names may cost together. */
const MAX_COST = 40_000;

/** The schema of a name, or several. */
export function oneOrSeveral() {
  return z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(MAX_NAMES)]);
}

/**
 * The answer about a name, or the answers about several as one: an error only if each of them is one.
 *
 * @param key - The key of the facts in `_meta`; those about several names are `answers`, in their order.
 */
export async function answerForEach(
  names: string | readonly string[],
  key: string,
  answer: (name: string) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  if (typeof names === "string") return answer(names);
  const answers: ToolAnswer[] = [];
  for (const name of names) answers.push(await answer(name));
  return {
    blocks: cutTexts(
      answers.map(({ blocks }) => blocks.join("\n")),
      MAX_COST,
    ),
    isError: answers.every(({ isError }) => isError),
    meta: { [key]: { answers: answers.map(({ meta }) => meta?.[key] ?? null) } },
  };
}
