import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { chmod, lstat, mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { reasonOf } from "../base/log.js";
import { OptionError } from "../base/option.js";

/** The mode of a new file: configurations of clients can hold secrets. */
const NEW_MODE = 0o600;

/** The bit of a file's mode that lets its owner write. */
const OWNER_WRITES = 0o200;

/** A file that another program reads and may write, too. */
export interface ConfigFile {
  /** Without links, so that a link to a file elsewhere stays one. */
  readonly path: string;
  /** `undefined` if there is no such file. */
  readonly text: string | undefined;
}

/** A file that must stay as it is. */
export interface UntouchableFile {
  readonly path: string;
  /** Words that follow its path. */
  readonly problem: string;
}

export async function readConfigFile(path: string): Promise<ConfigFile | UntouchableFile> {
  try {
    const real = await realpath(path);
    const problem = fileProblem(await stat(real));
    if (problem !== undefined) return { path: real, problem };
    const text = textOf(await readFile(real));
    return text === undefined ? { path: real, problem: "is not UTF-8" } : { path: real, text };
  } catch (error) {
    if (!isMissing(error)) return { path, problem: `cannot be read (${reasonOf(error)})` };
    const problem = await placeProblem(path);
    return problem === undefined ? { path, text: undefined } : { path, problem };
  }
}

/** Why a file must stay as it is. A new one takes its place, which the system allows for each of these. */
function fileProblem(found: Stats): string | undefined {
  if (!found.isFile()) return "is not a file";
  if (process.getuid !== undefined && found.uid !== process.getuid()) return "belongs to another user";
  return (found.mode & OWNER_WRITES) === 0 ? "is write-protected" : undefined;
}

/** Why no file may be made at a path that leads to none. */
async function placeProblem(path: string): Promise<string | undefined> {
  if (await lstat(path).catch(() => undefined)) return "is a link that leads nowhere";
  // What root makes in another user's home, that user's programs cannot read.
  if (process.getuid?.() !== 0) return undefined;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined);
    if (found !== undefined) return found.uid === 0 ? undefined : "would be in another user's folder";
    if (folder === dirname(folder)) return undefined;
  }
}

/** A file's text, with its mark of the byte order; `undefined` if writing the text would not give the same bytes. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/**
 * Replaces the file at once, with its mode, unless it has changed since it was read.
 *
 * @throws OptionError - if it has changed, or cannot be written.
 */
export async function writeConfigFile({ path, text: before }: ConfigFile, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    await mkdir(dirname(path), { recursive: true });
    const mode = before === undefined ? NEW_MODE : (await stat(path)).mode & 0o7777;
    await writeFile(draft, text, { mode: NEW_MODE & mode, flag: "wx" });
    await chmod(draft, mode);
    const now = await readConfigFile(path);
    if ("problem" in now || now.text !== before)
      throw new OptionError(`${path} has changed meanwhile. Nothing was written: call setup again.`);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    if (error instanceof OptionError) throw error;
    throw new OptionError(`${path} cannot be written: ${reasonOf(error)}.`);
  }
}
