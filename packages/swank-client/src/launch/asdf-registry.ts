import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isSymbol, readAll, type Sexp } from "sexp-parser";
import { homeFolder } from "./home-folder.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** A folder that ASDF looks for systems in. */
interface Registered {
  readonly folder: string;
  /** Whether it looks in the folders below as well. */
  readonly isTree: boolean;
}

/**
 * Patterns of folders that SLIME may be in, if ASDF is configured to look there: by `CL_SOURCE_REGISTRY` or in
 * `common-lisp/source-registry.conf` and `source-registry.conf.d` of the user's configuration folder (ASDF's manual, chapter 8).
 */
export async function registeredPatterns(env: Environment): Promise<readonly string[]> {
  const config = join(env["XDG_CONFIG_HOME"] || join(homeFolder(env), ".config"), "common-lisp");
  const texts = await Promise.all(
    (await configurationFiles(config)).map((file) => readFile(file, "utf8").catch(() => "")),
  );
  return [...inVariable(env["CL_SOURCE_REGISTRY"] ?? ""), ...texts.flatMap(inConfiguration)].flatMap(patterns);
}

function patterns({ folder, isTree }: Registered): readonly string[] {
  return [folder, ...(isTree ? ["slime*", "*/slime*", "*/*/slime*"].map((below) => join(folder, below)) : [])];
}

/** Folders between colons; those that end in `//` are trees. */
function inVariable(value: string): readonly Registered[] {
  const folders = value.split(":").filter((folder) => folder.startsWith("/"));
  return folders.map((folder) => ({ folder, isTree: folder.endsWith("//") }));
}

async function configurationFiles(config: string): Promise<readonly string[]> {
  const folder = join(config, "source-registry.conf.d");
  const names = await readdir(folder).catch((): string[] => []);
  return [join(config, "source-registry.conf"), ...names.sort().map((name) => join(folder, name))];
}

/** `(:source-registry (:tree "...") ...)`, or in the folder the bare directives. What cannot be read is ASDF's to complain about. */
function inConfiguration(text: string): readonly Registered[] {
  try {
    return readAll(text).flatMap((datum) => [
      ...directives(datum),
      ...(Array.isArray(datum) ? datum.flatMap(directives) : []),
    ]);
  } catch {
    return [];
  }
}

function directives(datum: Sexp): readonly Registered[] {
  if (!Array.isArray(datum)) return [];
  const [kind, folder] = datum;
  if (kind === undefined || !isSymbol(kind) || typeof folder !== "string" || !folder.startsWith("/")) return [];
  if (kind.name !== "TREE" && kind.name !== "DIRECTORY") return [];
  return [{ folder, isTree: kind.name === "TREE" }];
}
