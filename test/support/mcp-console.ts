import { once } from "node:events";
import { ServerProcess } from "./server-process.js";

/** The complete output and exit code of a console. */
export interface ConsoleRun {
  readonly output: string;
  readonly code: number | null;
}

/** `swank-mcp console` with pipes for input and output. */
export class PipedConsole extends ServerProcess {
  #output = "";

  constructor(args: readonly string[] = []) {
    super(["console", ...args]);
    this.process.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#output += text;
    });
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

  /** Ends the input and waits until the console has exited. The output omits times of evaluations, which depend on the machine's load. */
  async finish(): Promise<ConsoleRun> {
    const { code } = await this.end();
    return { output: this.#output.replace(/\n\n?Time: [\d.]+ s(?=\n)/g, ""), code };
  }
}

/** Runs a console with these lines as its input. */
export function runScript(lines: readonly string[], args: readonly string[] = []): Promise<ConsoleRun> {
  const console = new PipedConsole(args);
  console.write(lines.map((line) => `${line}\n`).join(""));
  return console.finish();
}
