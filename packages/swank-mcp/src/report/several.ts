import { outlineCode } from "swank-client";
import * as z from "zod";
import type { ToolAnswer } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { cutTexts } from "../text/cut.js";

/** Most names in one call. */
const MAX_NAMES = 10;

/** Most that the answers about several names may cost together. */
const MAX_COST = 40_000;

/** The schema of a name, or several with white space between them. A list is accepted, too; schemas name one type, because some hosts read no others. */
export function oneOrSeveral() {
  return z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);
}

/** The names in a text as code would write them one after another; the text alone if it is no such list. */
function namesIn(text: string): readonly string[] {
  const { state, forms } = outlineCode(text);
  if (state !== "complete" || forms.length < 2) return [text];
  return forms.map(({ offset, end }) => text.slice(offset, end));
}

/**
 * The answer about a name, or the answers about several as one: an error only if each of them is one.
 *
 * @param key - The key of the facts in `_meta`; those about several names are `answers`, in their order.
 */
export async function answerForEach(
  given: string | readonly string[],
  key: string,
  answer: (name: string) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const names = typeof given === "string" ? namesIn(given) : given;
  const [first = "", ...others] = names;
  if (others.length === 0) return answer(first);
  if (names.length > MAX_NAMES)
    throw new Refusal("INVALID_ARGUMENTS", `${names.length} names are too many.`, {
      remedy: `Pass at most ${MAX_NAMES} names in one call.`,
    });
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
