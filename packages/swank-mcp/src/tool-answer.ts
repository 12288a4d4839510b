/** JSON as a tool gives it. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** What a tool answers, in the words of no SDK. */
export interface ToolAnswer {
  /** Text blocks: the first is the answer itself, further ones say what helps next. */
  readonly blocks: readonly string[];
  readonly isError: boolean;
  /** Only for JSON tools and refusals: some clients show the model this instead of the text. */
  readonly structured?: JsonObject;
  /** For programs: the facts of the text as data, by key of the result's `_meta`. */
  readonly meta?: JsonObject;
}

/** An answer of text only. */
export function textAnswer(...blocks: readonly string[]): ToolAnswer {
  return { blocks, isError: false };
}

/** An answer of a JSON tool: the object, and the same compactly as text. */
export function jsonAnswer(structured: JsonObject): ToolAnswer {
  return { blocks: [JSON.stringify(structured)], isError: false, structured };
}
