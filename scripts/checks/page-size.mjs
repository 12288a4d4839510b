import { readdir, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { inRepository } from "../setup/paths.mjs";

const FOLDER = inRepository("packages/swank-mcp/dist/program/page/");

/** Most bytes that the browser loads for the page, compressed. */
const MOST_BYTES = 60_000;

/** Checks the size of the page's files in the program. Needs the build. */
export async function checkPageSize() {
  const names = await readdir(FOLDER);
  const files = await Promise.all(names.map((name) => readFile(`${FOLDER}${name}`)));
  return sizeProblems(files);
}

/**
 * @param {readonly Uint8Array[]} files
 * @returns {string[]} a sentence when they are too large together
 */
export function sizeProblems(files) {
  const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  return bytes > MOST_BYTES
    ? [`The page takes ${bytes} bytes, compressed; the maximum is ${MOST_BYTES}. Leave something out.`]
    : [];
}
