import { execFile, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { inRepository } from "./paths.mjs";

/** A failure that the user can correct. Only its message is shown, which says how. */
export class SetupError extends Error {
  /** @override */
  name = "SetupError";
}

const FORWARDED = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

/**
 * Runs a program to its end.
 *
 * By default its stdin is closed and its stdout goes to our stderr, because an MCP client may read our stdout. A signal
 * that we receive while it runs is forwarded to it and then ends us, so that no child is left behind.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {import("node:child_process").SpawnOptions} [options]
 * @param {(child: import("node:child_process").ChildProcess) => void} [onStart]
 * @returns {Promise<number>} its exit code; 128 if a signal ended it
 * @throws {SetupError} if the program cannot be started
 */
export function runProgram(program, args, options = {}, onStart = () => {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: inRepository(), stdio: ["ignore", 2, 2], ...options });
    const stopForwarding = forwardSignals(child);
    onStart(child);
    child.once("error", (error) => {
      stopForwarding();
      reject(new SetupError(`${program} cannot be started: ${error.message}`));
    });
    child.once("close", (code) => {
      const signal = stopForwarding();
      if (signal) process.kill(process.pid, signal);
      resolve(code ?? 128);
    });
  });
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @returns {() => NodeJS.Signals | undefined} ends the forwarding and returns the signal that was received, if any
 */
function forwardSignals(child) {
  /** @type {NodeJS.Signals | undefined} */
  let received;
  const forward = (/** @type {NodeJS.Signals} */ signal) => {
    received = signal;
    child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  return () => {
    for (const signal of FORWARDED) process.off(signal, forward);
    return received;
  };
}

/** Runs a program of an installed npm package, a path below node_modules, as `runProgram` does. @type {typeof runProgram} */
export function runInstalled(file, args, options, onStart) {
  return runProgram(process.execPath, [inRepository(`node_modules/${file}`), ...args], options, onStart);
}

/**
 * Runs a program of an installed npm package and captures its output.
 *
 * @param {string} file path below node_modules
 * @param {readonly string[]} args
 * @param {Record<string, string>} [variables] of the environment, besides ours
 * @returns {Promise<string[]>} empty if it succeeded, else its whole output
 */
export function problemsOf(file, args, variables = {}) {
  return new Promise((resolve) => {
    const options = { cwd: inRepository(), env: { ...process.env, ...variables }, maxBuffer: 2 ** 26 };
    execFile(process.execPath, [inRepository(`node_modules/${file}`), ...args], options, (error, stdout, stderr) => {
      resolve(error === null ? [] : [`${stdout}${stderr}`.trim() || error.message]);
    });
  });
}

/**
 * Returns whether PATH contains a program.
 *
 * @param {string} program
 * @param {string} path value of the environment variable PATH
 */
export function isOnPath(program, path = process.env["PATH"] ?? "") {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== "";
    } catch {
      return false;
    }
  });
}
