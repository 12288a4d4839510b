import { readFile } from "node:fs/promises";
import * as z from "zod";

const line = z.looseObject({
  time: z.iso.datetime(),
  event: z.enum(["call", "asked", "answered", "end", "background-end", "gap"]),
  server: z.number(),
  agent: z.string().optional(),
  call: z.number().optional(),
});

/** The lines of a ledger. Each must be complete. */
export async function ledgerLines(path: string): Promise<readonly z.output<typeof line>[]> {
  const text = await readFile(path, "utf8");
  if (!text.endsWith("\n")) throw new Error(`The last line of the ledger has no end: ${text.slice(-200)}`);
  return text
    .slice(0, -1)
    .split("\n")
    .map((each) => line.parse(JSON.parse(each)));
}
