import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { FileOwner, type FileProblem } from "./file-owner.js";

/** Does not follow links, and does not block on a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The result of using a file that only this user can have written, or the reason why it was not used. */
export type OwnFileResult<Value> = { readonly value: Value } | { readonly problem: FileProblem };

/**
 * Opens a file, and uses it if only this user can have written it. The checked file is the one used, even if its name is changed in
 * between. Asks the system synchronously, because a launch waits for each of these questions, and Node's threads take longer than the
 * answers.
 *
 * @param use - Gets the file's descriptor.
 * @returns `undefined` when there is no such file
 */
export async function useOwnFile<Value>(
  path: string,
  use: (file: number, found: Stats) => Value,
): Promise<OwnFileResult<Value> | undefined> {
  const file = openFile(path);
  if (typeof file !== "number") return file === undefined ? undefined : { problem: file };
  try {
    const found = fstatSync(file);
    const problem = FileOwner.current()?.fileProblem(found);
    return problem === undefined ? { value: use(file, found) } : { problem };
  } finally {
    closeSync(file);
  }
}

/** The text of such a file; `undefined` if there is no usable file. */
export async function readOwnFile(path: string): Promise<string | undefined> {
  const result = await useOwnFile(path, (file) => readFileSync(file, "utf8"));
  return result !== undefined && "value" in result ? result.value : undefined;
}

/** What is wrong with a folder or a file in it, if another user can have written it. */
export async function treeProblem(folder: string): Promise<FileProblem | undefined> {
  const owner = FileOwner.current();
  if (owner === undefined) return undefined;
  const problem = owner.folderProblem(await lstat(folder));
  if (problem !== undefined) return problem;
  const names = await readdir(folder, { recursive: true });
  const all = await Promise.all(
    names.map(async (name) => {
      const found = await lstat(join(folder, name));
      return found.isDirectory() ? owner.folderProblem(found) : owner.fileProblem(found);
    }),
  );
  const index = all.findIndex((each) => each !== undefined);
  return index < 0 ? undefined : `contains ${names[index]}, which ${all[index]}`;
}

/** Why it cannot be opened; `undefined` if it does not exist. */
function openFile(path: string): number | FileProblem | undefined {
  try {
    return openSync(path, FLAGS);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return undefined;
    return code === "ELOOP" || code === "EMLINK" ? "is a link" : `cannot be read (${String(code)})`;
  }
}
