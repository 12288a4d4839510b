import { spawn } from "node:child_process";
import { OutputLog } from "./output-log.js";

/** How to run a Lisp that does one thing and ends. */
export interface RunOptions {
  readonly args: readonly string[];
  /** Its standard input. */
  readonly input?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends it when aborted. */
  readonly signal: AbortSignal;
  /** Gets each line that it prints. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/** How it went. */
export interface RunResult {
  readonly succeeded: boolean;
  /** What it printed, stdout and stderr, the last of it. */
  readonly output: string;
  /** How it ended, for messages, e.g. `exit code 1`. */
  readonly ending: string;
}

/** Runs a program to its end. Never rejects: not being able to start it is a way to end. */
export function runLisp(executable: string, options: RunOptions): Promise<RunResult> {
  const log = new OutputLog(options.onLine);
  return new Promise((resolve) => {
    const finish = (succeeded: boolean, ending: string) => resolve({ succeeded, output: log.tail, ending });
    let failure: string | undefined;
    const child = spawn(executable, options.args, {
      stdio: "pipe",
      env: { ...options.env },
      signal: options.signal,
      killSignal: "SIGKILL",
    });
    log.follow(child.stdout);
    log.follow(child.stderr);
    // It may end without having read everything.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    child.once("error", (error) => {
      failure = error.message;
      if (child.pid === undefined) finish(false, failure);
    });
    child.once("close", (code, signal) => finish(code === 0, failure ?? endingText(code, signal)));
  });
}

/** How a process ended, for messages. */
export function endingText(code: number | null | undefined, signal: string | null | undefined): string {
  return typeof signal === "string" ? `signal ${signal}` : `exit code ${code ?? "unknown"}`;
}
