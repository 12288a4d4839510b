import * as z from "zod";
import type { ToolAnswer } from "../text/tool-answer.js";

/** The fields of lisp-status that the greeting shows. */
const status = z.looseObject({
  implementation: z.string(),
  version: z.string(),
  pid: z.number().optional(),
  address: z.string().optional(),
  read_only: z.boolean().default(false),
  notices: z.array(z.string()).default([]),
});

const READS = `This console only reads (--read-only): it evaluates nothing. ,help lists the commands; Ctrl-D leaves.
`;
const HOW_TO = `Type a form to evaluate it. ,help lists the commands; Ctrl-C interrupts, Ctrl-D leaves.
Agents use the same tools: ,setup shows how to add this server to an MCP client.
`;

/** The notices in an answer of lisp-status, a line each. */
export function noticesText({ structured }: ToolAnswer): string {
  return status
    .parse(structured)
    .notices.map((notice) => `${notice}\n`)
    .join("");
}

/** The greeting of a console, made from an answer of lisp-status. */
export function greetingText(answer: ToolAnswer): string {
  const { implementation, version, pid, address, read_only: readOnly } = status.parse(answer.structured);
  const where = address === undefined ? "launched" : `attached at ${address}`;
  const process = pid === undefined ? "" : `, process ${pid}`;
  return `${implementation} ${version}, ${where}${process}.\n${readOnly ? READS : HOW_TO}${noticesText(answer)}`;
}
