import type * as z from "zod";
import { ToolGuide } from "../base/answer.js";
import type { OnDefect } from "../base/log.js";
import { explained, isDefect } from "../base/refusals.js";
import { oneLine } from "../text/cut.js";
import { CATALOGUE } from "../tools/catalogue.js";
import type { PageReply } from "./model.js";

/** Most characters about one wrong argument. */
const MAX_PROBLEM = 200;

/** A refusal of the page itself, which no tool has. */
export class PageRefusal extends Error {
  override readonly name = "PageRefusal";
  readonly code: string;
  /** What the person can do, one or two sentences. */
  readonly remedy: string | undefined;

  constructor(code: string, message: string, remedy?: string) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

/** A person has no tools: sentences that name one are left out. */
const PERSON = new ToolGuide(CATALOGUE.map(({ name }) => name));

/** The reply with what `answer` gives, or with the error that it throws. Never rejects. */
export async function replyWith<Result>(answer: () => Promise<Result>, onDefect: OnDefect): Promise<PageReply<Result>> {
  try {
    return { ok: true, value: await answer() };
  } catch (error) {
    return { ok: false, error: errorOf(error, onDefect) };
  }
}

function errorOf(error: unknown, onDefect: OnDefect) {
  if (error instanceof PageRefusal) {
    const { code, message, remedy } = error;
    return { code, message, ...(remedy === undefined ? {} : { remedy }) };
  }
  if (isDefect(error)) onDefect(error);
  const { type, message, next } = explained(error, (text) => PERSON.advise(text));
  return { code: type, message, ...(next === undefined ? {} : { remedy: next }) };
}

/** The arguments, if they fit the schema. @throws PageRefusal `INVALID_ARGUMENTS` */
export function readWith<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const problems = read.error.issues.map(({ path, message }) => oneLine([...path, message].join(": "), MAX_PROBLEM));
  throw new PageRefusal("INVALID_ARGUMENTS", `The request has wrong arguments: ${problems.join("; ")}.`);
}
