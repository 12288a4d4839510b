import { distributionNames } from "./os-release.mjs";

/** Quicklisp brings Swank's source to every system; on systems without a package of it, it is the way. */
const QUICKLISP = [
  "curl -O https://beta.quicklisp.org/quicklisp.lisp",
  "sbcl --non-interactive --load quicklisp.lisp --eval '(quicklisp-quickstart:install)' --eval '(ql:quickload \"swank\")'",
];

/**
 * One system: what its people call it, and the commands that install SBCL and Swank there.
 *
 * @typedef {{ system: string, sbcl: string[], swank: string[] }} Recipe
 */

/** @type {Record<"debian" | "fedora" | "arch" | "macos" | "other", Recipe>} */
const RECIPES = {
  debian: {
    system: "Debian and Ubuntu",
    sbcl: ["sudo apt-get update", "sudo apt-get install -y sbcl"],
    swank: ["sudo apt-get update", "sudo apt-get install -y cl-swank"],
  },
  fedora: { system: "Fedora", sbcl: ["sudo dnf install -y sbcl"], swank: QUICKLISP },
  arch: { system: "Arch Linux", sbcl: ["sudo pacman -S --needed sbcl"], swank: QUICKLISP },
  macos: { system: "macOS with Homebrew", sbcl: ["brew install sbcl"], swank: QUICKLISP },
  other: { system: "this system", sbcl: ["# SBCL: https://www.sbcl.org/platform-table.html"], swank: QUICKLISP },
};

/**
 * The commands that install what is missing on this system, with a sentence about what that is.
 *
 * @param {{ platform: NodeJS.Platform, osRelease: string, found: { sbcl: boolean, swank: boolean } }} machine
 */
export function lispInstructions({ platform, osRelease, found }) {
  const recipe = RECIPES[recipeName(platform, osRelease)];
  const missing = [...(found.sbcl ? [] : ["SBCL"]), ...(found.swank ? [] : ["Swank (SLIME's Lisp side)"])];
  const commands = new Set([...(found.sbcl ? [] : recipe.sbcl), ...(found.swank ? [] : recipe.swank)]);
  return [
    `${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} needed and not there. On ${recipe.system}:`,
    "",
    ...[...commands].map((command) => `  ${command}`),
    "",
    "Then run the same command again.",
  ].join("\n");
}

/**
 * @param {NodeJS.Platform} platform
 * @param {string} osRelease
 */
function recipeName(platform, osRelease) {
  if (platform === "darwin") return "macos";
  if (platform !== "linux") return "other";
  const names = distributionNames(osRelease);
  if (names.includes("debian") || names.includes("ubuntu")) return "debian";
  if (names.includes("fedora") || names.includes("rhel")) return "fedora";
  return names.includes("arch") ? "arch" : "other";
}
