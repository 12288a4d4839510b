import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isSymbol, readAll, type Sexp } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, checkOptions, type OptionsOf } from "../base/options.js";
import { attempted, homeFolder } from "../files/own.js";
import { INSTALL_SWANK } from "./lisp.js";

/**
 * The folders that match a path with `*` in some of its parts.
 *
 * @param pattern - Absolute, with `/`; `*` stands for any characters but `/`.
 * @returns unsorted; parts without `*` need not exist
 */
function globFolders(pattern: string): readonly string[] {
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
function registeredPatterns(env: Environment): readonly string[] {
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

/** A kind of place where Swank's source may be. If it holds several, the newest counts. */
interface SwankPlace {
  /** Its name in messages. */
  readonly name: string;
  /** Absolute paths of folders. */
  readonly roots: readonly string[];
  /** Paths below each root; `*` stands for any characters but `/`. */
  readonly names: readonly string[];
}

/** Package folders of Emacs and its package managers (package.el, straight, elpaca, Doom, el-get, borg). */
const IN_EMACS = [
  "elpa/slime-*",
  "elpa/*/slime-*",
  "straight/repos/slime",
  ".local/straight/repos/slime",
  "elpaca/repos/slime",
  "elpaca/sources/slime",
  "el-get/slime",
  "lib/slime",
  "site-lisp/slime",
  "lisp/slime",
  "vendor/slime",
  "slime",
];

/** Folders of Homebrew and MacPorts that correspond to those of `XDG_DATA_DIRS`. */
const MORE_SHARES = ["/opt/homebrew/share", "/opt/local/share"];

const IN_SITE_LISP = ["elpa/slime-*", "elpa-src/slime-*", "slime", "slime-*"];

/** The folders in which Quicklisp may be installed. */
export function quicklispFolders(env: Environment): readonly string[] {
  const home = homeFolder(env);
  const data = env["XDG_DATA_HOME"] || join(home, ".local/share");
  return [join(home, "quicklisp"), join(home, ".quicklisp"), join(data, "quicklisp")];
}

/** The places to search, the user's before the system's. */
function swankPlaces(env: Readonly<Record<string, string | undefined>>): readonly SwankPlace[] {
  const home = homeFolder(env);
  const config = env["XDG_CONFIG_HOME"] || join(home, ".config");
  const data = env["XDG_DATA_HOME"] || join(home, ".local/share");
  const shares = (env["XDG_DATA_DIRS"] || "/usr/local/share:/usr/share")
    .split(":")
    .filter((folder) => folder.startsWith("/"));
  const siteLisp = [...shares, ...MORE_SHARES].map((share) => join(share, "emacs/site-lisp"));
  const sources = [join(home, "common-lisp"), join(data, "common-lisp/source")];
  return [
    {
      name: "Quicklisp",
      roots: quicklispFolders(env),
      names: ["local-projects/slime*", "dists/*/software/slime-*"],
    },
    { name: "ASDF's configuration", roots: registeredPatterns(env), names: ["."] },
    { name: "ASDF's source folders", roots: sources, names: ["slime*"] },
    { name: "Emacs's packages", roots: [join(config, "emacs"), join(home, ".emacs.d")], names: IN_EMACS },
    {
      name: "system source folders",
      roots: shares.map((share) => join(share, "common-lisp/source")),
      names: ["slime"],
    },
    { name: "Emacs's system folders", roots: siteLisp, names: IN_SITE_LISP },
  ];
}

const findSwankOptions = {
  /** Swank's folder, or its `swank-loader.lisp`. Default: the environment variable `SWANK`, or the result of a search. */
  swank: check.text,
  /** Default: this process's environment. */
  env: check.any<Readonly<Record<string, string | undefined>>>(),
};

/** Options for finding Swank. */
export interface FindSwankOptions extends OptionsOf<typeof findSwankOptions> {}

const LOADER = "swank-loader.lisp";

/**
 * Finds Swank's source: in Quicklisp, ASDF's source folders, Emacs's packages and the system's folders, in that order.
 *
 * @returns the absolute path of the folder that has `swank-loader.lisp`
 * @throws SwankError `SWANK_NOT_FOUND`, with the places searched and a remedy. If a place is named, only that is searched.
 */
export async function findSwank(options: FindSwankOptions = {}): Promise<string> {
  checkOptions("findSwank", options, findSwankOptions);
  const { swank, env = process.env } = options;
  const named = swank ?? env["SWANK"];
  if (named) return namedFolder(named, swank === undefined ? ", which the environment variable SWANK names" : "");
  const places = swankPlaces(env);
  for (const place of places) {
    const folder = newestIn(place);
    if (folder !== undefined) return folder;
  }
  throw notFound(`No Swank was found. Looked in:\n${places.map(placeText).join("\n")}`);
}

function namedFolder(path: string, origin: string): string {
  const folder = resolve(basename(path) === LOADER ? dirname(path) : path);
  if (loaderTime(folder) !== undefined) return folder;
  throw notFound(`There is no ${LOADER} in ${folder}${origin}.`);
}

/** Compares by file time, because version numbers of packages have many formats. */
function newestIn(place: SwankPlace): string | undefined {
  const patterns = place.roots.flatMap((root) => place.names.map((name) => join(root, name)));
  const dated = patterns.flatMap(globFolders).map((folder) => ({ folder, time: loaderTime(folder) ?? -1 }));
  return dated.filter(({ time }) => time >= 0).sort((a, b) => b.time - a.time)[0]?.folder;
}

function loaderTime(folder: string): number | undefined {
  const file = attempted(() => statSync(join(folder, LOADER), { throwIfNoEntry: false }));
  return file?.isFile() ? file.mtimeMs : undefined;
}

function placeText({ name, roots }: SwankPlace): string {
  return `  ${name}: ${roots.length === 0 ? "names none" : roots.join(", ")}`;
}

function notFound(message: string): SwankError {
  return new SwankError("SWANK_NOT_FOUND", message, { remedy: INSTALL_SWANK });
}
