import { join } from "node:path";
import { homeFolder } from "../cache/home-folder.js";
import { registeredPatterns } from "./asdf-registry.js";

/** A kind of place where Swank's source may be. If it holds several, the newest counts. */
export interface SwankPlace {
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

/** The places to search, the user's before the system's. */
export function swankPlaces(env: Readonly<Record<string, string | undefined>>): readonly SwankPlace[] {
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
      roots: [join(home, "quicklisp"), join(home, ".quicklisp"), join(data, "quicklisp")],
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
