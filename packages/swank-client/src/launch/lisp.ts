import { accessSync, constants, statSync } from "node:fs";
import { basename, delimiter, join, resolve, sep } from "node:path";
import { DecodeError, decode, read, type Sexp, SexpError } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, checkOptions, type OptionsOf } from "../base/options.js";
import { eitherSignal } from "../base/waiting.js";
import { fileStamp, KeptFiles, keyOf } from "../files/kept.js";
import { attempted, readOwnFile } from "../files/own.js";
import { printedText, runLisp } from "./process.js";

const { boolean, nullable, optional, plist, string } = decode;

/**
 * Finds a command as a shell does.
 *
 * @param command - A path, or a name on the PATH.
 * @returns an absolute path, or `undefined` if there is no such executable.
 */
function findExecutable(command: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const folders = command.includes(sep) ? [""] : (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => resolve(join(folder, command))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  const isFile = attempted(() => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  });
  return isFile === true;
}

/** Commands that install SBCL. */
const INSTALL_SBCL = `Install SBCL:
  Debian, Ubuntu:  sudo apt-get install sbcl
  Fedora:          sudo dnf install sbcl
  Arch Linux:      sudo pacman -S sbcl
  Homebrew:        brew install sbcl
or name its executable.`;

/** Commands that install ECL. */
const INSTALL_ECL = `Install ECL:
  Debian, Ubuntu:  sudo apt-get install ecl
  Fedora:          sudo dnf install ecl
  Arch Linux:      sudo pacman -S ecl
  Homebrew:        brew install ecl
or name its executable.`;

/** Commands that install the Lisp that the caller means. */
function installing(executable: string): string {
  return basename(executable).startsWith("ecl") ? INSTALL_ECL : INSTALL_SBCL;
}

/** Commands that install Swank. */
export const INSTALL_SWANK = `Install Swank:
  Debian, Ubuntu:  sudo apt-get install cl-swank
  with Quicklisp:  sbcl --eval '(ql:quickload "swank")' --quit
  in Emacs:        M-x package-install RET slime RET, from MELPA or NonGNU ELPA
  anywhere else:   git clone https://github.com/slime/slime ~/common-lisp/slime
or name the folder of its swank-loader.lisp.`;

/** A Lisp that can be launched. */
export type LaunchableLisp = "SBCL" | "ECL";

/** An SBCL or ECL, as it describes itself. */
export interface LispInstallation {
  readonly implementation: LaunchableLisp;
  /** The requested executable. It may be a script that starts another program. */
  readonly executable: string;
  /** E.g. `2.2.9.debian`. */
  readonly version: string;
  /** The program that runs. */
  readonly runtime: string;
  /** The core that an SBCL starts from; `undefined` if the program contains its core. */
  readonly core: string | undefined;
  /** The folder that holds SBCL's `contrib`. */
  readonly home: string | undefined;
  /** True if it has threads. Without them Swank can serve only one request at a time. */
  readonly hasThreads: boolean;
}

/** The form with which SBCL prints the input of {@link decodeInstallation} on a separate line. Any Lisp can read the form. */
const DESCRIBE_SBCL = `
(flet ((sbcl (name) (symbol-value (find-symbol name "SB-EXT")))
       (native (path) (and path (funcall (find-symbol "NATIVE-NAMESTRING" "SB-EXT") path))))
  (let ((*print-pretty* nil))
    (format t "~&~s~%"
            (list :version (lisp-implementation-version)
                  :runtime (native (sbcl "*RUNTIME-PATHNAME*"))
                  :core (native (sbcl "*CORE-PATHNAME*"))
                  :home (native (funcall (find-symbol "SBCL-HOMEDIR-PATHNAME" "SB-INT")))
                  :threads (and (find :sb-thread *features*) t)))
    (finish-output)))`;

/** The same for ECL. Its executable may be a script, and ECL does not know which program runs. */
const DESCRIBE_ECL = `
(let ((*print-pretty* nil) (program (probe-file "/proc/self/exe")))
  (format t "~&~s~%"
          (list :version (lisp-implementation-version)
                :ecl t
                :runtime (and program (namestring program))
                :threads (and (find :threads *features*) (find :dffi *features*) t)))
  (finish-output)
  (ext:quit))`;

const description = plist({
  version: string,
  ecl: optional(boolean),
  runtime: nullable(string),
  core: optional(nullable(string)),
  home: optional(nullable(string)),
  threads: optional(boolean),
});

/** @throws DecodeError if the text is not the output of the form. */
function decodeInstallation(executable: string, datum: Sexp): LispInstallation {
  const { version, ecl, runtime = executable, core, home, threads } = description(datum);
  return {
    implementation: ecl === true ? "ECL" : "SBCL",
    executable,
    version,
    runtime,
    core: core === runtime ? undefined : core,
    home,
    hasThreads: threads ?? false,
  };
}

const findLispOptions = {
  /** A path, or a name on the PATH. Default: the environment variable `SBCL`, or `sbcl`. */
  lisp: check.text,
  /** Default: this process's environment. */
  env: check.any<Readonly<Record<string, string | undefined>>>(),
  /** Gives up when aborted. */
  signal: check.signal,
};

/** Options for finding a Lisp. */
export interface FindLispOptions extends OptionsOf<typeof findLispOptions> {}

/** Milliseconds within which a Lisp must describe itself. */
const DESCRIBE_TIMEOUT = 30_000;

const SBCL_ARGS = [
  "--noinform",
  "--disable-ldb",
  "--no-sysinit",
  "--no-userinit",
  "--non-interactive",
  "--eval",
  DESCRIBE_SBCL,
];

const ECL_ARGS = ["--norc", "-q", "--eval", DESCRIBE_ECL];

/** Folders of Homebrew, MacPorts and SBCL's installer. The PATH of programs started from a desktop often lacks them. */
const USUAL_FOLDERS = ["/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin"];

/**
 * Finds the executable of a Lisp, by default of SBCL.
 *
 * @returns its absolute path
 * @throws SwankError `LISP_NOT_FOUND`, with the commands that install it.
 */
async function findLispExecutable({ lisp, env = process.env }: FindLispOptions = {}): Promise<string> {
  const named = lisp ?? (env["SBCL"] || undefined);
  const executable = named === undefined ? usualExecutable(env) : findExecutable(named, env);
  if (executable !== undefined) return executable;
  const message =
    named === undefined
      ? `There is no sbcl on the PATH, nor in ${USUAL_FOLDERS.join(", ")}.`
      : `There is no executable ${named}${lisp === undefined ? ", which the environment variable SBCL names" : ""}.`;
  throw new SwankError("LISP_NOT_FOUND", message, { remedy: installing(named ?? "sbcl") });
}

function usualExecutable(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const path = [env["PATH"], ...USUAL_FOLDERS].join(delimiter);
  return findExecutable("sbcl", { PATH: path });
}

/**
 * Finds a Lisp, by default SBCL, and starts it to get its description.
 *
 * @throws SwankError `LISP_NOT_FOUND` if there is none, if it is neither SBCL nor ECL, or if it has no threads; `CANCELLED`.
 */
export async function findLisp(options: FindLispOptions = {}): Promise<LispInstallation> {
  checkOptions("findLisp", options, findLispOptions);
  const executable = await findLispExecutable(options);
  return decodeDescription(executable, await describeLisp(executable, options));
}

/** Runs the Lisp and returns the description that it prints. */
async function describeLisp(executable: string, options: FindLispOptions): Promise<string> {
  const timeout = AbortSignal.timeout(DESCRIBE_TIMEOUT);
  const run = (args: readonly string[]) =>
    runLisp(executable, { args, env: options.env ?? process.env, signal: eitherSignal(options.signal, timeout) });
  // ABCL does not end with SBCL's options. A program with SBCL's name need not be asked first.
  const known = basename(executable).startsWith("sbcl") ? undefined : otherLisp(await run(["--version"]));
  const isOther = known !== undefined && known !== "ECL";
  if (isOther && options.signal?.aborted !== true) throw notLaunchable(executable, known);
  const { succeeded, output, ending } = await run(known === "ECL" ? ECL_ARGS : SBCL_ARGS);
  if (options.signal?.aborted) throw new SwankError("CANCELLED", "Looking for Lisp was cancelled.");
  if (succeeded) return output;
  if (timeout.aborted) throw unusable(executable, `it did not answer within ${DESCRIBE_TIMEOUT / 1000} s`, output);
  throw unusable(executable, `running it as ${known ?? "SBCL"} failed (${ending})`, output);
}

const DESCRIPTION = /^\(:VERSION .*\)$/m;

/** Lisps that can be attached to, by how their answer to `--version` begins. */
const OTHER_LISPS: readonly (readonly [RegExp, string])[] = [
  [/^ECL \d/m, "ECL"],
  [/^GNU CLISP \d/m, "CLISP"],
  [/^Armed Bear Common Lisp \d/m, "ABCL"],
  [/Clozure Common Lisp/, "Clozure CL"],
  [/^CMU Common Lisp \d/m, "CMUCL"],
  [/^clasp/im, "Clasp"],
];

/** The Lisp other than SBCL that has given its version; `undefined` if it is not known. */
function otherLisp({ output }: { readonly output: string }): string | undefined {
  return OTHER_LISPS.find(([pattern]) => pattern.test(output))?.[1];
}

function notLaunchable(executable: string, lisp: string): SwankError {
  return new SwankError(
    "LISP_NOT_FOUND",
    `${executable} cannot be launched: it is ${lisp}. Only SBCL and ECL can be launched.`,
    { remedy: `Start Swank in ${lisp}, and connect to its port. Or name the executable of SBCL or ECL.` },
  );
}

/** @throws SwankError `LISP_NOT_FOUND` if the output is not that of a Lisp with threads. */
function decodeDescription(executable: string, output: string): LispInstallation {
  const line = DESCRIPTION.exec(output)?.[0];
  if (line === undefined) throw unusable(executable, "its output is not that of SBCL or ECL", output);
  const installation = installationOf(executable, line, output);
  if (!installation.hasThreads) throw unusable(executable, "it was built without threads", output);
  return installation;
}

function installationOf(executable: string, line: string, output: string): LispInstallation {
  try {
    return decodeInstallation(executable, read(line));
  } catch (error) {
    if (!(error instanceof DecodeError || error instanceof SexpError)) throw error;
    throw unusable(executable, "its output is not that of SBCL or ECL", output);
  }
}

function unusable(executable: string, why: string, output: string): SwankError {
  return new SwankError("LISP_NOT_FOUND", `${executable} cannot be used: ${why}.${printedText(output)}`, {
    remedy: installing(executable),
    details: { output },
  });
}

/**
 * Does what `findLisp` does, and caches the description of each executable until that changes.
 *
 * @param cacheFolder - The folder for the cache; `undefined` for none.
 * @throws SwankError as `findLisp` does
 */
export async function knownLisp(cacheFolder: string | undefined, options: FindLispOptions): Promise<LispInstallation> {
  const executable = await findLispExecutable(options);
  const kept = await KeptFiles.inside(cacheFolder, "lisp", KEPT);
  const { env = process.env } = options;
  // These variables decide which core and modules an SBCL uses.
  const key = keyOf([fileStamp(executable), env["SBCL_HOME"], env["SBCL_CORE"]]);
  const known = kept && (await remembered(executable, kept.pathOf(key)));
  if (known !== undefined) return known;
  const output = await describeLisp(executable, options);
  const lisp = decodeDescription(executable, output);
  // Otherwise SBCL is asked again next time, which only costs starting it.
  await kept?.write(key, output);
  return lisp;
}

/** Number of Lisps whose descriptions are kept. */
const KEPT = 20;

/** Checks the program that runs: the executable may be a script, which does not change when that program is removed. */
async function remembered(executable: string, file: string): Promise<LispInstallation | undefined> {
  try {
    // The file names a program to run, so it is ignored if another user may have written it.
    const lisp = decodeDescription(executable, (await readOwnFile(file)) ?? "");
    const stamps = [lisp.runtime, lisp.core ?? lisp.runtime].map(fileStamp);
    return stamps.includes(undefined) ? undefined : lisp;
  } catch {
    return undefined;
  }
}
