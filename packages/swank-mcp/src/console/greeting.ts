import * as z from "zod";
import type { ToolAnswer } from "../text/tool-answer.js";

/** The fields of lisp-status that the greeting shows. */
const status = z.looseObject({
  implementation: z.string(),
  version: z.string(),
  pid: z.number().optional(),
  address: z.string().optional(),
});

const HOW_TO = `Type a form to evaluate it. ,help lists the commands; Ctrl-C interrupts, Ctrl-D leaves.
Agents use the same tools: ,setup shows how to add this server to an MCP client.
`;

/** The greeting of a console, made from an answer of lisp-status. */
export function greetingText({ structured, blocks }: ToolAnswer): string {
  const { implementation, version, pid, address } = status.parse(structured);
  const where = address === undefined ? "launched" : `attached at ${address}`;
  const process = pid === undefined ? "" : `, process ${pid}`;
  const remarks = blocks.slice(1).map((block) => `${block}\n`);
  return `${implementation} ${version}, ${where}${process}.\n${HOW_TO}${remarks.join("")}`;
}
