import { readdirSync } from "node:fs";
import { join } from "node:path";
import { attempted } from "../base/attempted.js";

/**
 * The folders that match a path with `*` in some of its parts.
 *
 * @param pattern - Absolute, with `/`; `*` stands for any characters but `/`.
 * @returns unsorted; parts without `*` need not exist
 */
export function globFolders(pattern: string): readonly string[] {
  let paths = ["/"];
  for (const part of pattern.split("/").filter((name) => name !== "")) {
    paths = part.includes("*") ? expand(paths, part) : paths.map((path) => join(path, part));
  }
  return paths;
}

function expand(folders: readonly string[], part: string): string[] {
  const [start = "", end = ""] = part.split("*");
  return folders.flatMap((folder) =>
    namesIn(folder)
      .filter((name) => name.startsWith(start) && name.endsWith(end) && name.length >= start.length + end.length)
      .map((name) => join(folder, name)),
  );
}

function namesIn(folder: string): readonly string[] {
  return attempted(() => readdirSync(folder)) ?? [];
}
