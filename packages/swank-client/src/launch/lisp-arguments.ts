import type { LispInstallation } from "./lisp-installation.js";

/** SBCL arguments for every Lisp that we start: an exhausted heap ends the process instead of waiting in a low-level debugger. */
const RUNTIME_ARGS: readonly string[] = ["--noinform", "--disable-ldb", "--no-merge-core-pages"];

/** Arguments that start SBCL from its own core. */
export function coreArgs(lisp: LispInstallation, dynamicSpaceSize?: number): readonly string[] {
  return [...(lisp.core === undefined ? [] : ["--core", lisp.core]), ...runtimeArgs(dynamicSpaceSize)];
}

/** Arguments for the sbcl program, except the core. */
export function runtimeArgs(dynamicSpaceSize: number | undefined): readonly string[] {
  const heap = dynamicSpaceSize === undefined ? [] : ["--dynamic-space-size", `${dynamicSpaceSize}MB`];
  return [...RUNTIME_ARGS, ...heap];
}

/** The environment in which the sbcl program finds its modules, even if a script normally sets `SBCL_HOME`. */
export function lispEnvironment(
  lisp: LispInstallation,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return lisp.home === undefined ? env : { SBCL_HOME: lisp.home, ...env };
}
