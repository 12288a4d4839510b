import * as z from "zod";
import type { ToolAnswer } from "../tool-answer.js";

/** What lisp-status says of the image. */
const status = z.looseObject({
  implementation: z.string(),
  version: z.string(),
  pid: z.number().optional(),
  address: z.string().optional(),
});

const HOW_TO = `Type a form to evaluate it. ,help lists the commands; Ctrl-C interrupts, Ctrl-D leaves.
Agents use the same tools: ,setup tells how to add this server to an MCP client.
`;

/** What a console begins with, from an answer of lisp-status. */
export function greetingText({ structured, blocks }: ToolAnswer): string {
  const { implementation, version, pid, address } = status.parse(structured);
  const where = address === undefined ? "an image of its own" : `attached at ${address}`;
  const process = pid === undefined ? "" : `, process ${pid}`;
  const remarks = blocks.slice(1).map((block) => `${block}\n`);
  return `${implementation} ${version}, ${where}${process}.\n${HOW_TO}${remarks.join("")}`;
}
