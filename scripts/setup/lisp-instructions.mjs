import { distributionNames } from "./os-release.mjs";

/** @typedef {"sbcl" | "swank" | "fiveam" | "cl-ppcre" | "hunchentoot" | "emacs" | "slime"} Part a program or library that may be missing */

/** @type {Record<Part, { name: string, debian: string }>} */
const PARTS = {
  sbcl: { name: "SBCL", debian: "sbcl" },
  swank: { name: "Swank (SLIME's Lisp side)", debian: "cl-swank" },
  fiveam: { name: "FiveAM (for the tests)", debian: "cl-fiveam" },
  "cl-ppcre": { name: "CL-PPCRE (for the tests)", debian: "cl-ppcre" },
  hunchentoot: { name: "Hunchentoot (for the tests)", debian: "cl-hunchentoot" },
  emacs: { name: "Emacs (for the tests)", debian: "emacs-nox" },
  slime: { name: "SLIME in Emacs (for the tests)", debian: "slime" },
};

/** Everything that the tests need. */
export const ALL_PARTS = /** @type {readonly Part[]} */ (Object.keys(PARTS));

/**
 * Commands that install parts on systems without a package of them.
 *
 * @type {Pick<Record<Part, string[]>, "swank" | "fiveam" | "cl-ppcre" | "hunchentoot" | "slime">}
 */
const EVERYWHERE = {
  swank: [
    "curl -O https://beta.quicklisp.org/quicklisp.lisp",
    "sbcl --non-interactive --load quicklisp.lisp --eval '(quicklisp-quickstart:install)' --eval '(ql:quickload \"swank\")'",
  ],
  fiveam: [quickload("fiveam")],
  "cl-ppcre": [quickload("cl-ppcre")],
  hunchentoot: [quickload("hunchentoot")],
  slime: [`emacs --batch --eval "(progn (require 'package) (package-refresh-contents) (package-install 'slime))"`],
};

/** @param {string} system */
function quickload(system) {
  return `sbcl --non-interactive --load ~/quicklisp/setup.lisp --eval '(ql:quickload "${system}")'`;
}

/**
 * One operating system: its name, and the commands that install missing parts.
 *
 * @typedef {{ system: string, commands: (missing: readonly Part[]) => string[] }} Recipe
 */

/**
 * Returns Debian's packages of the missing parts.
 *
 * @param {readonly Part[]} missing
 */
export function debianPackages(missing) {
  return missing.map((part) => PARTS[part].debian);
}

/** @type {Record<"debian" | "fedora" | "arch" | "macos" | "other", Recipe>} */
const RECIPES = {
  debian: {
    system: "Debian and Ubuntu",
    commands: (missing) => ["sudo apt-get update", `sudo apt-get install -y ${debianPackages(missing).join(" ")}`],
  },
  fedora: { system: "Fedora", commands: withPackages("sudo dnf install -y sbcl", "sudo dnf install -y emacs-nox") },
  arch: {
    system: "Arch Linux",
    commands: withPackages("sudo pacman -S --needed sbcl", "sudo pacman -S --needed emacs-nox"),
  },
  macos: { system: "macOS with Homebrew", commands: withPackages("brew install sbcl", "brew install emacs") },
  other: {
    system: "this system",
    commands: withPackages(
      "# SBCL: https://www.sbcl.org/platform-table.html",
      "# Emacs: https://www.gnu.org/software/emacs/download.html",
    ),
  },
};

/**
 * @param {string} sbcl the command that installs it
 * @param {string} emacs
 * @returns {Recipe["commands"]}
 */
function withPackages(sbcl, emacs) {
  const commands = { ...EVERYWHERE, sbcl: [sbcl], emacs: [emacs] };
  return (missing) => missing.flatMap((part) => commands[part]);
}

/**
 * Returns a message that names the missing parts and the commands that install them on this system.
 *
 * @param {{ platform: NodeJS.Platform, osRelease: string, missing: readonly Part[] }} machine
 */
export function lispInstructions({ platform, osRelease, missing }) {
  const recipe = RECIPES[recipeName(platform, osRelease)];
  const names = missing.map((part) => PARTS[part].name);
  return [
    `${names.join(" and ")} ${names.length > 1 ? "are" : "is"} missing. On ${recipe.system}:`,
    "",
    ...recipe.commands(missing).map((command) => `  ${command}`),
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
