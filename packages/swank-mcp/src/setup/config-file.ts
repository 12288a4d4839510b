import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { reasonOf } from "../base/log.js";
import { OptionError } from "../base/option.js";

/** The mode of a new file: configurations of clients can hold secrets. */
const NEW_MODE = 0o600;

/** A file that another program reads and may write, too. */
export interface ConfigFile {
  /** Without links, so that a link to a file elsewhere stays one. */
  readonly path: string;
  /** `undefined` if there is no such file. */
  readonly text: string | undefined;
}

/** @throws OptionError - if it cannot be read. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  try {
    const real = await realpath(path);
    return { path: real, text: await readFile(real, "utf8") };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { path, text: undefined };
    throw new OptionError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
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
    if ((await readConfigFile(path)).text !== before)
      throw new OptionError(`${path} has changed meanwhile. Nothing was written: call setup again.`);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    if (error instanceof OptionError) throw error;
    throw new OptionError(`${path} cannot be written: ${reasonOf(error)}.`);
  }
}
