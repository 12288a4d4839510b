import { delimiter } from "node:path";
import { DecodeError, read, SexpError } from "sexp-parser";
import { checkOptions, type OptionNames } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { findExecutable } from "./find-executable.js";
import { INSTALL_SBCL } from "./install-hints.js";
import { DESCRIBE_FORM, decodeInstallation, type LispInstallation } from "./lisp-installation.js";
import { printedText } from "./problem-text.js";
import { runLisp } from "./run-lisp.js";

/** Options for finding a Lisp. */
export interface FindLispOptions {
  /** A path, or a name on the PATH. Default: the environment variable `SBCL`, or `sbcl`. */
  readonly lisp?: string | undefined;
  /** Default: this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Gives up when aborted. */
  readonly signal?: AbortSignal | undefined;
}

const FIND_LISP_OPTIONS: OptionNames<FindLispOptions> = { lisp: true, env: true, signal: true };

/** Milliseconds within which a Lisp must describe itself. */
const DESCRIBE_TIMEOUT = 30_000;

const ARGS = [
  "--noinform",
  "--disable-ldb",
  "--no-sysinit",
  "--no-userinit",
  "--non-interactive",
  "--eval",
  DESCRIBE_FORM,
];

/** Folders of Homebrew, MacPorts and SBCL's installer. The PATH of programs started from a desktop often lacks them. */
const USUAL_FOLDERS = ["/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin"];

/**
 * Finds the executable of SBCL.
 *
 * @returns its absolute path
 * @throws SwankError `LISP_NOT_FOUND`, with the commands that install it.
 */
export async function findLispExecutable({ lisp, env = process.env }: FindLispOptions = {}): Promise<string> {
  const named = lisp ?? (env["SBCL"] || undefined);
  const executable = named === undefined ? usualExecutable(env) : findExecutable(named, env);
  if (executable !== undefined) return executable;
  const message =
    named === undefined
      ? `There is no sbcl on the PATH, nor in ${USUAL_FOLDERS.join(", ")}.`
      : `There is no executable ${named}${lisp === undefined ? ", which the environment variable SBCL names" : ""}.`;
  throw new SwankError("LISP_NOT_FOUND", message, { remedy: INSTALL_SBCL });
}

function usualExecutable(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const path = [env["PATH"], ...USUAL_FOLDERS].join(delimiter);
  return findExecutable("sbcl", { PATH: path });
}

/**
 * Finds SBCL and starts it once to get its description.
 *
 * @throws SwankError `LISP_NOT_FOUND` if there is none, if it is not an SBCL, or if it has no threads; `CANCELLED`.
 */
export async function findLisp(options: FindLispOptions = {}): Promise<LispInstallation> {
  checkOptions("findLisp", options, FIND_LISP_OPTIONS);
  const executable = await findLispExecutable(options);
  return decodeDescription(executable, await describeLisp(executable, options));
}

/** Runs the Lisp and returns the description that it prints. */
export async function describeLisp(executable: string, options: FindLispOptions): Promise<string> {
  const timeout = AbortSignal.timeout(DESCRIBE_TIMEOUT);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
  const { succeeded, output, ending } = await runLisp(executable, {
    args: ARGS,
    env: options.env ?? process.env,
    signal,
  });
  if (options.signal?.aborted) throw new SwankError("CANCELLED", "Looking for Lisp was cancelled.");
  if (succeeded) return output;
  throw unusable(executable, `running it as SBCL failed (${ending})`, output);
}

/** @throws SwankError `LISP_NOT_FOUND` if the output is not that of an SBCL with threads. */
export function decodeDescription(executable: string, output: string): LispInstallation {
  const line = /^\(:VERSION .*\)$/m.exec(output)?.[0];
  if (line === undefined) throw unusable(executable, "its output is not SBCL's", output);
  const installation = installationOf(executable, line, output);
  if (!installation.hasThreads) throw unusable(executable, "it was built without threads", output);
  return installation;
}

function installationOf(executable: string, line: string, output: string): LispInstallation {
  try {
    return decodeInstallation(executable, read(line));
  } catch (error) {
    if (!(error instanceof DecodeError || error instanceof SexpError)) throw error;
    throw unusable(executable, "its output is not SBCL's", output);
  }
}

function unusable(executable: string, why: string, output: string): SwankError {
  return new SwankError("LISP_NOT_FOUND", `${executable} cannot be used: ${why}.${printedText(output)}`, {
    remedy: INSTALL_SBCL,
    details: { output },
  });
}
