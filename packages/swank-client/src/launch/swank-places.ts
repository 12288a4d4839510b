import { homedir } from "node:os";
import { join } from "node:path";
import { registeredPatterns } from "./asdf-registry.js";

/** A kind of place where Swank's source may be: folders, of which the newest counts. */
export interface SwankPlace {
  /** What to call it in messages. */
  readonly name: string;
  /** Absolute paths; `*` stands for any characters but `/`. */
  readonly patterns: readonly string[];
}

/** Folders that Emacs and its package managers (package.el, straight, elpaca, Doom, el-get, borg) keep packages in. */
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

/** Where Homebrew and MacPorts have what is elsewhere in the folders of `XDG_DATA_DIRS`. */
const MORE_SHARES = ["/opt/homebrew/share", "/opt/local/share"];

const IN_SITE_LISP = ["elpa/slime-*", "elpa-src/slime-*", "slime", "slime-*"];

/** Where to look, most personal first. */
export async function swankPlaces(env: Readonly<Record<string, string | undefined>>): Promise<readonly SwankPlace[]> {
  const home = env["HOME"] || homedir();
  const config = env["XDG_CONFIG_HOME"] || join(home, ".config");
  const data = env["XDG_DATA_HOME"] || join(home, ".local/share");
  const under = (folders: readonly string[], names: readonly string[]) =>
    folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const quicklisp = [join(home, "quicklisp"), join(home, ".quicklisp"), join(data, "quicklisp")];
  const sources = [join(home, "common-lisp"), join(data, "common-lisp/source")];
  const shares = (env["XDG_DATA_DIRS"] || "/usr/local/share:/usr/share")
    .split(":")
    .filter((folder) => folder.startsWith("/"));
  return [
    { name: "Quicklisp", patterns: under(quicklisp, ["local-projects/slime*", "dists/*/software/slime-*"]) },
    { name: "ASDF's source folders", patterns: [...(await registeredPatterns(env)), ...under(sources, ["slime*"])] },
    { name: "Emacs's packages", patterns: under([join(config, "emacs"), join(home, ".emacs.d")], IN_EMACS) },
    {
      name: "system folders",
      patterns: [
        ...under(shares, ["common-lisp/source/slime"]),
        ...under(under([...shares, ...MORE_SHARES], ["emacs/site-lisp"]), IN_SITE_LISP),
      ],
    },
  ];
}
