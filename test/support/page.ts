import { readFile } from "node:fs/promises";

const DOCS = new URL("../../../docs/", import.meta.url);

/** Returns a page's fenced blocks in this language, in order, without the indentation of a surrounding list. */
export async function fencedBlocks(page: string, language: string): Promise<string[]> {
  const text = await readFile(new URL(page, DOCS), "utf8");
  const blocks = text.matchAll(new RegExp(`^( *)\`\`\`${language}\n([^]*?)^ *\`\`\`$`, "gm"));
  return Array.from(blocks, ([, indentation = "", block = ""]) =>
    block.replaceAll(new RegExp(`^${indentation}`, "gm"), ""),
  );
}
