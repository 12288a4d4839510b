import { distributionNames } from "./os-release.mjs";

/** Quicklisp brings Swank's source to every system; on systems without a package of it, it is the way. */
const QUICKLISP = [
  "curl -O https://beta.quicklisp.org/quicklisp.lisp",
  "sbcl --non-interactive --load quicklisp.lisp --eval '(quicklisp-quickstart:install)' --eval '(ql:quickload \"swank\")'",
];

/** @typedef {{ sbcl: boolean, swank: boolean }} Found */

/**
 * One system: what its people call it, and the commands that install there what was not found.
 *
 * @typedef {{ system: string, commands: (found: Found) => string[] }} Recipe
 */

/**
 * Debian's packages of what was not found.
 *
 * @param {Found} found
 */
export function debianPackages(found) {
  return [...(found.sbcl ? [] : ["sbcl"]), ...(found.swank ? [] : ["cl-swank"])];
}

/** @type {Record<"debian" | "fedora" | "arch" | "macos" | "other", Recipe>} */
const RECIPES = {
  debian: {
    system: "Debian and Ubuntu",
    commands: (found) => ["sudo apt-get update", `sudo apt-get install -y ${debianPackages(found).join(" ")}`],
  },
  fedora: { system: "Fedora", commands: withQuicklisp("sudo dnf install -y sbcl") },
  arch: { system: "Arch Linux", commands: withQuicklisp("sudo pacman -S --needed sbcl") },
  macos: { system: "macOS with Homebrew", commands: withQuicklisp("brew install sbcl") },
  other: { system: "this system", commands: withQuicklisp("# SBCL: https://www.sbcl.org/platform-table.html") },
};

/**
 * @param {string} sbcl the command that installs it
 * @returns {(found: Found) => string[]}
 */
function withQuicklisp(sbcl) {
  return (found) => [...(found.sbcl ? [] : [sbcl]), ...(found.swank ? [] : QUICKLISP)];
}

/**
 * The commands that install what is missing on this system, with a sentence about what that is.
 *
 * @param {{ platform: NodeJS.Platform, osRelease: string, found: Found }} machine
 */
export function lispInstructions({ platform, osRelease, found }) {
  const recipe = RECIPES[recipeName(platform, osRelease)];
  const missing = [...(found.sbcl ? [] : ["SBCL"]), ...(found.swank ? [] : ["Swank (SLIME's Lisp side)"])];
  return [
    `${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} needed and not there. On ${recipe.system}:`,
    "",
    ...recipe.commands(found).map((command) => `  ${command}`),
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
