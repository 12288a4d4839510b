/** A JSON value in a tool's answer. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** A tool's answer, independent of any SDK. */
export interface ToolAnswer {
  /** Text blocks: the first is the answer itself, further blocks help with the next step. */
  readonly blocks: readonly string[];
  readonly isError: boolean;
  /** Only for JSON tools and refusals. Some clients show the model this instead of the text. */
  readonly structured?: JsonObject;
  /** The facts of the text as data for programs, by key of the result's `_meta`. */
  readonly meta?: JsonObject;
}

/** An answer that is only text. */
export function textAnswer(...blocks: readonly string[]): ToolAnswer {
  return { blocks, isError: false };
}

/** An answer of a JSON tool: the object, and the same object as compact text. */
export function jsonAnswer(structured: JsonObject): ToolAnswer {
  return { blocks: [JSON.stringify(structured)], isError: false, structured };
}

/** Adds notices to an answer: to a JSON answer as `notices`, because some clients show the model only JSON; otherwise as a separate block. */
export function withNotices(answer: ToolAnswer, notices: readonly string[]): ToolAnswer {
  if (notices.length === 0) return answer;
  const { blocks, structured } = answer;
  if (structured === undefined) return { ...answer, blocks: [...blocks, notices.join("\n")] };
  return { ...answer, ...jsonAnswer({ ...structured, notices }) };
}
