import { createReadStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { findUnbalanced, rebalanced, SourceText } from "swank-client";
import { STANDARD_INPUT } from "./base/commands.js";
import type { Config } from "./base/config.js";
import { cut } from "./text/cut.js";
import { lineDiff } from "./text/line-diff.js";

/** Exit codes of `check`. The highest of all files counts. */
const BALANCED = 0;

const UNBALANCED = 1;

const UNCHECKED = 2;

/** Largest file that is checked, in bytes. */
const MAX_SIZE = 200_000_000;

const LINE_WIDTH = 80;

/** The messages of `check`, a line each, and the exit code. */
export interface CheckResult {
  readonly text: string;
  readonly exitCode: number;
}

type FixOptions = Pick<Config, "fix" | "dryRun">;

/** Checks one file after another for unbalanced parentheses, strings and comments. Needs no Lisp, and evaluates nothing. */
export async function checkFiles(names: readonly string[], options: FixOptions): Promise<CheckResult> {
  const results: CheckResult[] = [];
  for (const name of names) results.push(await checkFile(name, options));
  return {
    text: results.map(({ text }) => text).join(""),
    exitCode: Math.max(BALANCED, ...results.map(({ exitCode }) => exitCode)),
  };
}

async function checkFile(name: string, options: FixOptions): Promise<CheckResult> {
  const shown = name === STANDARD_INPUT ? "(standard input)" : name;
  const bytes = await readBytes(name);
  if (typeof bytes === "string") return { text: `${shown}: ${bytes}\n`, exitCode: UNCHECKED };
  if (bytes.includes(0)) return { text: `${shown}: is not a text file\n`, exitCode: UNCHECKED };
  const code = new SourceText(bytes).text;
  const lines = messages(shown, code);
  const fixed = lines.length > 0 && options.fix ? await fixFile(name, { code, bytes }, options) : undefined;
  const told = [...lines, ...(fixed?.lines ?? []).map((line) => (fixed?.isDiff === true ? line : `${shown}: ${line}`))];
  const isBalanced = lines.length === 0 || fixed?.isWritten === true;
  return { text: told.map((line) => `${line}\n`).join(""), exitCode: isBalanced ? BALANCED : UNBALANCED };
}

interface Fixed {
  readonly lines: readonly string[];
  readonly isDiff?: boolean;
  readonly isWritten?: boolean;
}

/** Mends a file by its indentation, or says what would be written. A file that has changed since it was read is left alone. */
async function fixFile(
  name: string,
  { code, bytes }: { readonly code: string; readonly bytes: Buffer },
  { dryRun }: FixOptions,
): Promise<Fixed> {
  const mended = rebalanced(code);
  if (mended === undefined) return { lines: ["not fixed: the indentation does not say what is meant"] };
  if (dryRun) return { lines: lineDiff(code, mended).split("\n"), isDiff: true };
  if (name === STANDARD_INPUT) return { lines: ["not fixed: standard input cannot be written"] };
  if (!Buffer.from(code).equals(bytes)) return { lines: ["not fixed: it is not UTF-8"] };
  try {
    const now = await readFile(name);
    if (!now.equals(bytes)) return { lines: ["not fixed: it has changed meanwhile"] };
    await writeFile(name, mended);
    return { lines: ["fixed by its indentation: look at the change"], isWritten: true };
  } catch (error) {
    return { lines: [`not fixed: ${reasonOf(error)}`] };
  }
}

function messages(file: string, code: string): string[] {
  const found = findUnbalanced(code);
  if (found === undefined) return [];
  const texts = code.split("\n", Math.max(0, ...found.suspects));
  return [
    `${file}:${found.line}:${found.column}: ${found.message}`,
    ...found.suspects.map((line) => suspectLine(file, line, texts[line - 1] ?? "")),
  ];
}

function suspectLine(file: string, line: number, text: string): string {
  const shown = cut(text.trim(), LINE_WIDTH, "");
  return `${file}:${line}:${text.length - text.trimStart().length + 1}: note: probably in this line: ${shown}`;
}

/** @returns the reason, as the rest of a message, if the file cannot be read. */
async function readBytes(name: string): Promise<Buffer | string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    const stream: AsyncIterable<Buffer> = name === STANDARD_INPUT ? process.stdin : createReadStream(name);
    for await (const chunk of stream) {
      size += chunk.length;
      if (size > MAX_SIZE) return `is larger than ${MAX_SIZE / 1e6} MB and was not checked`;
      chunks.push(chunk);
    }
  } catch (error) {
    return reasonOf(error);
  }
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "is a folder; name the files in it";
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
