import type { LispInstallation } from "./lisp-installation.js";

/** Arguments for the runtime that every Lisp of ours gets: an exhausted heap ends the process rather than wait in a debugger for somebody at a terminal. */
const RUNTIME_ARGS: readonly string[] = ["--noinform", "--disable-ldb", "--no-merge-core-pages"];

/** Arguments that start SBCL from its own core. */
export function coreArgs(lisp: LispInstallation, dynamicSpaceSize?: number): readonly string[] {
  return [...(lisp.core === undefined ? [] : ["--core", lisp.core]), ...runtimeArgs(dynamicSpaceSize)];
}

/** Arguments for the runtime, but for the core. */
export function runtimeArgs(dynamicSpaceSize: number | undefined): readonly string[] {
  const heap = dynamicSpaceSize === undefined ? [] : ["--dynamic-space-size", `${dynamicSpaceSize}MB`];
  return [...RUNTIME_ARGS, ...heap];
}

/** The environment in which the runtime finds SBCL's own modules, though it is not started by the script that may have told it. */
export function lispEnvironment(
  lisp: LispInstallation,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return lisp.home === undefined ? env : { SBCL_HOME: lisp.home, ...env };
}
