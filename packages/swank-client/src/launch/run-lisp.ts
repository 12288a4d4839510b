import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { OutputLog } from "./output-log.js";

/** Options for running a Lisp to its end. */
export interface RunOptions {
  readonly args: readonly string[];
  /** Its standard input. */
  readonly input?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends it when aborted. */
  readonly signal: AbortSignal;
  /** Whether other processes of this machine go first. Default: false. */
  readonly isBackground?: boolean;
  /** Called with each line that it prints. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/** The result of a run. */
export interface RunResult {
  readonly succeeded: boolean;
  /** The end of its output on stdout and stderr. */
  readonly output: string;
  /** How it ended, as text for messages, e.g. `exit code 1`. */
  readonly ending: string;
}

/** Runs a program to its end. Never rejects: a failure to start is a result. */
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
    if (options.isBackground === true && child.pid !== undefined) yieldToOthers(child.pid);
    log.follow(child.stdout);
    log.follow(child.stderr);
    // The program may end without reading all its input.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    child.once("error", (error) => {
      failure = error.message;
      if (child.pid === undefined) finish(false, failure);
    });
    child.once("close", (code, signal) => finish(code === 0, failure ?? endingText(code, signal)));
  });
}

function yieldToOthers(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already, or this system refuses: it then runs like others.
  }
}

/** How a process ended, as text for messages. */
export function endingText(code: number | null | undefined, signal: string | null | undefined): string {
  return typeof signal === "string" ? `signal ${signal}` : `exit code ${code ?? "unknown"}`;
}
