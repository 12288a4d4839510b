import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isSymbol, readAll, type Sexp } from "sexp-parser";
import { attempted } from "../base/attempted.js";
import { homeFolder } from "../cache/home-folder.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** A folder that ASDF looks for systems in. */
interface Registered {
  readonly folder: string;
  /** True if ASDF also searches the folders below. */
  readonly isTree: boolean;
}

/**
 * Patterns of folders that may hold SLIME, from ASDF's configuration: `CL_SOURCE_REGISTRY`, and `common-lisp/source-registry.conf` and
 * `source-registry.conf.d` in the user's configuration folder (ASDF's manual, chapter 8).
 */
export function registeredPatterns(env: Environment): readonly string[] {
  const config = join(env["XDG_CONFIG_HOME"] || join(homeFolder(env), ".config"), "common-lisp");
  const texts = configurationFiles(config).map((file) => attempted(() => readFileSync(file, "utf8")) ?? "");
  return [...inVariable(env["CL_SOURCE_REGISTRY"] ?? ""), ...texts.flatMap(inConfiguration)].flatMap(patterns);
}

function patterns({ folder, isTree }: Registered): readonly string[] {
  return [folder, ...(isTree ? ["slime*", "*/slime*", "*/*/slime*"].map((below) => join(folder, below)) : [])];
}

/** Parses folders separated by colons. A folder that ends in `//` is a tree. */
function inVariable(value: string): readonly Registered[] {
  const folders = value.split(":").filter((folder) => folder.startsWith("/"));
  return folders.map((folder) => ({ folder, isTree: folder.endsWith("//") }));
}

function configurationFiles(config: string): readonly string[] {
  const folder = join(config, "source-registry.conf.d");
  const names = attempted(() => readdirSync(folder)) ?? [];
  return [join(config, "source-registry.conf"), ...names.sort().map((name) => join(folder, name))];
}

/** Reads `(:source-registry (:tree "...") ...)`, or a file in the folder, which holds directives only. ASDF reports errors, not this function. */
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
