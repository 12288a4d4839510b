import { readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * The folders that match a path with `*` in some of its parts.
 *
 * @param pattern - Absolute, with `/`; `*` stands for any characters but `/`.
 * @returns unsorted; parts without `*` need not exist
 */
export async function globFolders(pattern: string): Promise<readonly string[]> {
  let paths = ["/"];
  for (const part of pattern.split("/").filter((name) => name !== "")) {
    paths = part.includes("*") ? await expand(paths, part) : paths.map((path) => join(path, part));
  }
  return paths;
}

async function expand(folders: readonly string[], part: string): Promise<string[]> {
  const [start = "", end = ""] = part.split("*");
  const found = await Promise.all(folders.map(async (folder) => ({ folder, names: await namesIn(folder) })));
  return found.flatMap(({ folder, names }) =>
    names
      .filter((name) => name.startsWith(start) && name.endsWith(end) && name.length >= start.length + end.length)
      .map((name) => join(folder, name)),
  );
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}
