import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";

/** Returns the text blocks of a result. */
export function allBlocks({ content }: Pick<CallToolResult, "content">): string[] {
  return content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`));
}

/** Returns the text blocks of a result without the time, which depends on the machine's load. */
export function blocks(result: Pick<CallToolResult, "content">): string[] {
  return allBlocks(result)
    .map((block) => block.replace(/^(?:|([\s\S]*)\n)Time: [\d.]+ s$/, "$1"))
    .filter((block) => block !== "");
}

/** Returns the text blocks of a result as one text, which begins with `ERROR` if the result is an error. */
export function markedText(result: Pick<CallToolResult, "content" | "isError">): string {
  return `${result.isError === true ? "ERROR " : ""}${blocks(result).join("\n--\n")}`;
}

/** Returns `data.type` of a refusal. */
export function refusalType(result: CallToolResult): unknown {
  const error = result.structuredContent?.["error"];
  const data = typeof error === "object" && error !== null && "data" in error ? error.data : undefined;
  return typeof data === "object" && data !== null && "type" in data ? data.type : undefined;
}

/** A call's result in revision 2026-07-28. */
export const finished = z.looseObject({
  resultType: z.literal("complete"),
  content: z.array(z.looseObject({ type: z.literal("text"), text: z.string() })),
  isError: z.boolean(),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
});

/** A call's question to the user in revision 2026-07-28. */
export const asking = z.strictObject({
  resultType: z.literal("input_required"),
  requestState: z.string(),
  inputRequests: z.strictObject({
    approval: z.strictObject({
      method: z.literal("elicitation/create"),
      params: z.looseObject({
        message: z.string(),
        requestedSchema: z.looseObject({
          properties: z.looseObject({ answer: z.looseObject({ enum: z.array(z.string()) }) }),
        }),
      }),
    }),
  }),
  _meta: z.looseObject({}).optional(),
});

export type Finished = z.output<typeof finished>;
export type Asking = z.output<typeof asking>;

/** The parts of a call's request that answer a question. */
export interface Answering {
  readonly requestState?: unknown;
  readonly inputResponses?: unknown;
}

/** Returns an answer to a question, with the question's state. */
export function answered({ requestState }: Pick<Asking, "requestState">, answer: string): Answering {
  return { requestState, inputResponses: { approval: { action: "accept", content: { answer } } } };
}
