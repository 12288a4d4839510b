import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ENVIRONMENT } from "./mcp-stdio.js";

const BIN = fileURLToPath(new URL("../../../packages/swank-mcp/bin/swank-mcp.js", import.meta.url));

/** The complete output and exit code of a console. */
export interface ConsoleRun {
  readonly output: string;
  readonly code: number | null;
}

/** `swank-mcp console` with pipes for input and output. */
export class PipedConsole {
  readonly process: ChildProcessWithoutNullStreams;
  readonly exited: Promise<number | null>;
  #output = "";

  constructor(args: readonly string[] = []) {
    this.process = spawn(process.execPath, [BIN, "console", ...args], {
      env: { ...process.env, ...ENVIRONMENT },
    });
    this.exited = once(this.process, "close").then(([code]) => code);
    this.process.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#output += text;
    });
    this.process.stdin.on("error", () => undefined);
  }

  /** The output so far. */
  get output(): string {
    return this.#output;
  }

  write(text: string): void {
    this.process.stdin.write(text);
  }

  /** Waits for output that matches. The test's timeout bounds the wait. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found !== null) return found;
      await once(this.process.stdout, "data");
    }
  }

  /** Ends the input and waits until the console has exited. */
  async end(): Promise<ConsoleRun> {
    this.process.stdin.end();
    const code = await this.exited;
    return { output: this.#output, code };
  }
}

/** Runs a console with these lines as its input. */
export function runScript(lines: readonly string[], args: readonly string[] = []): Promise<ConsoleRun> {
  const console = new PipedConsole(args);
  console.write(lines.map((line) => `${line}\n`).join(""));
  return console.end();
}
