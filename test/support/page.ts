import { readFile } from "node:fs/promises";

const DOCS = new URL("../../../docs/", import.meta.url);

/** What fenced blocks of a page say, in order, without the indentation of a list that they stand in. */
export async function fencedBlocks(page: string, language: string): Promise<string[]> {
  const text = await readFile(new URL(page, DOCS), "utf8");
  const blocks = text.matchAll(new RegExp(`^( *)\`\`\`${language}\n([^]*?)^ *\`\`\`$`, "gm"));
  return Array.from(blocks, ([, indentation = "", block = ""]) =>
    block.replaceAll(new RegExp(`^${indentation}`, "gm"), ""),
  );
}
