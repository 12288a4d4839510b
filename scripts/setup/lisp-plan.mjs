/** @typedef {"sbcl" | "swank" | "fiveam" | "cl-ppcre" | "hunchentoot" | "emacs" | "slime" | "chromium" | "ecl"} Part a program or library that may be missing */

/** The name and Debian's package of each part, and the commands that install it on systems without a package of it. */
const PARTS = /** @type {Record<Part, { name: string, debian: string, commands?: readonly string[] }>} */ ({
  sbcl: { name: "SBCL", debian: "sbcl" },
  swank: {
    name: "Swank (SLIME's Lisp side)",
    debian: "cl-swank",
    commands: [
      "curl -O https://beta.quicklisp.org/quicklisp.lisp",
      "sbcl --non-interactive --load quicklisp.lisp --eval '(quicklisp-quickstart:install)' --eval '(ql:quickload \"swank\")'",
    ],
  },
  fiveam: library("FiveAM", "fiveam"),
  "cl-ppcre": library("CL-PPCRE", "cl-ppcre"),
  hunchentoot: library("Hunchentoot", "hunchentoot"),
  emacs: { name: "Emacs (for the tests)", debian: "emacs-nox" },
  slime: {
    name: "SLIME in Emacs (for the tests)",
    debian: "slime",
    commands: [`emacs --batch --eval "(progn (require 'package) (package-refresh-contents) (package-install 'slime))"`],
  },
  chromium: {
    name: "Chromium (for the tests)",
    debian: "chromium",
    commands: ["npx playwright-core install chromium"],
  },
  ecl: { name: "ECL (for the tests)", debian: "ecl", commands: ["# ECL: https://ecl.common-lisp.dev"] },
});

/** @param {string} name @param {string} system */
function library(name, system) {
  return {
    name: `${name} (for the tests)`,
    debian: system.startsWith("cl-") ? system : `cl-${system}`,
    commands: [`sbcl --non-interactive --load ~/quicklisp/setup.lisp --eval '(ql:quickload "${system}")'`],
  };
}

/** Everything that the tests need. */
export const ALL_PARTS = /** @type {readonly Part[]} */ (Object.keys(PARTS));

/** Systems other than Debian, and what installs SBCL and Emacs there. `distributions` are names of os-release(5). */
const SYSTEMS = [
  {
    system: "Fedora",
    distributions: ["fedora", "rhel"],
    sbcl: "sudo dnf install -y sbcl",
    emacs: "sudo dnf install -y emacs-nox",
  },
  {
    system: "Arch Linux",
    distributions: ["arch"],
    sbcl: "sudo pacman -S --needed sbcl",
    emacs: "sudo pacman -S --needed emacs-nox",
  },
  { system: "macOS with Homebrew", distributions: ["darwin"], sbcl: "brew install sbcl", emacs: "brew install emacs" },
];

const OTHER_SYSTEM = {
  system: "this system",
  sbcl: "# SBCL: https://www.sbcl.org/platform-table.html",
  emacs: "# Emacs: https://www.gnu.org/software/emacs/download.html",
};

/**
 * The facts about the machine on which the plan depends.
 *
 * @typedef {object} Machine
 * @property {NodeJS.Platform} platform
 * @property {string} osRelease text of /etc/os-release; empty if there is none
 * @property {number | undefined} uid 0 is root; `undefined` on Windows
 * @property {boolean} isTTY stdin and stderr are terminals, so the user can be asked
 * @property {boolean} hasSudo
 * @property {readonly Part[]} missing
 */

/**
 * How to handle missing parts: do nothing, run commands (after asking if `ask` is set), or stop with a message.
 *
 * @typedef {{ action: "nothing" }
 *   | { action: "install", ask: boolean, packages: string[], commands: string[][] }
 *   | { action: "stop", message: string }} LispPlan
 */

/** Decides how to handle missing parts. @param {Machine} machine @returns {LispPlan} */
export function planLisp(machine) {
  const { missing, uid } = machine;
  if (missing.length === 0) return { action: "nothing" };
  const isRoot = uid === 0;
  const mayInstall = isRoot || (machine.isTTY && machine.hasSudo);
  if (!isDebianLike(machine) || !mayInstall) return { action: "stop", message: lispInstructions(machine) };
  const packages = debianPackages(missing);
  // `env` sets the variable after sudo, which drops the caller's environment.
  const apt = [...(isRoot ? [] : ["sudo"]), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
  const commands = [
    [...apt, "update"],
    [...apt, "install", "-y", "--no-install-recommends", ...packages],
  ];
  return { action: "install", ask: !isRoot, packages, commands };
}

/** Returns Debian's packages of the missing parts. @param {readonly Part[]} missing */
export function debianPackages(missing) {
  return missing.map((part) => PARTS[part].debian);
}

/**
 * Returns a message that names the missing parts and the commands that install them on this system.
 *
 * @param {Machine} machine
 */
export function lispInstructions(machine) {
  const names = machine.missing.map((part) => PARTS[part].name);
  const { system, commands } = isDebianLike(machine) ? onDebian(machine.missing) : elsewhere(machine);
  return [
    `${names.join(" and ")} ${names.length > 1 ? "are" : "is"} missing. On ${system}:`,
    "",
    ...commands.map((command) => `  ${command}`),
    "",
    "Then run the same command again.",
  ].join("\n");
}

/** @param {readonly Part[]} missing */
function onDebian(missing) {
  const install = `sudo apt-get install -y ${debianPackages(missing).join(" ")}`;
  return { system: "Debian and Ubuntu", commands: ["sudo apt-get update", install] };
}

/** @param {Machine} machine */
function elsewhere({ missing, ...machine }) {
  const names = distributions(machine);
  const found = SYSTEMS.find((each) => each.distributions.some((name) => names.includes(name)));
  const { system, sbcl, emacs } = found ?? OTHER_SYSTEM;
  /** @type {Partial<Record<Part, readonly string[]>>} */
  const packaged = { sbcl: [sbcl], emacs: [emacs] };
  return { system, commands: missing.flatMap((part) => packaged[part] ?? PARTS[part].commands ?? []) };
}

/** @param {Pick<Machine, "platform" | "osRelease">} machine */
function isDebianLike(machine) {
  return distributions(machine).some((name) => name === "debian" || name === "ubuntu");
}

/**
 * The names of a Linux distribution and of similar ones (os-release(5), `ID` and `ID_LIKE`), such as `ubuntu` and `debian`; else that of the platform.
 *
 * @param {Pick<Machine, "platform" | "osRelease">} machine
 */
function distributions({ platform, osRelease }) {
  if (platform !== "linux") return [platform];
  const values = [...osRelease.matchAll(/^ID(?:_LIKE)?=(.*)$/gm)].map(([, value = ""]) => value.replace(/["']/g, ""));
  return values.flatMap((value) => value.trim().split(/\s+/));
}
