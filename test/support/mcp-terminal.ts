import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { Screen } from "./screen.js";
import { ENVIRONMENT, PROGRAM } from "./server-process.js";

/** The characters that a terminal sends for keys. */
export const KEYS = { enter: "\r", tab: "\t", up: "\x1b[A", interrupt: "\x03", endOfFile: "\x04" } as const;

export interface TerminalOptions {
  /** The command to run; `swank-mcp console` by default. */
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  /** The folder of the history. */
  readonly state: string;
}

/** `swank-mcp console` in a pseudo-terminal of `script` (util-linux, BSD). */
export class McpTerminal {
  /** Exit code of the console, or 128 plus the number of the signal that ended it. */
  readonly exited: Promise<number | null>;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #screen = new Screen();
  #seen = 0;

  constructor({ command = [PROGRAM, "console"], args = [], state }: TerminalOptions) {
    const env = { ...process.env, ...ENVIRONMENT, XDG_STATE_HOME: state, TERM: "xterm" };
    this.#process = spawn("script", scriptArguments([...command, ...args]), { env });
    this.exited = once(this.#process, "close").then(([code]) => code);
    this.#process.stdout.setEncoding("utf8").on("data", (text: string) => this.#screen.write(text));
    this.#process.stdin.on("error", () => undefined);
  }

  /** The complete text on the terminal. */
  get text(): string {
    return this.#screen.text;
  }

  /** Presses keys one after the other. */
  press(...keys: string[]): void {
    for (const key of keys) this.#process.stdin.write(key);
  }

  /**
   * Waits until the terminal shows `text` after the text awaited before. The test's timeout bounds the wait.
   *
   * @param again - The text may replace what was awaited before.
   */
  async shows(text: string, again?: "again"): Promise<void> {
    for (;;) {
      const at = this.text.indexOf(text, again === undefined ? this.#seen : 0);
      if (at >= 0) {
        this.#seen = at + text.length;
        return;
      }
      await Promise.race([once(this.#process.stdout, "data"), this.#endedEarly(text)]);
    }
  }

  /** Waits for the prompt and enters a line. */
  async enter(line: string, prompt = "CL-USER> "): Promise<void> {
    await this.shows(prompt.trimEnd());
    this.press(line, KEYS.enter);
    await this.shows(line);
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  async #endedEarly(text: string): Promise<never> {
    const code = await this.exited;
    throw new Error(`The console ended (${code}) before it showed ${text}:\n${this.text}`);
  }
}

function scriptArguments(command: readonly string[]): string[] {
  if (process.platform === "darwin") return ["-q", "/dev/null", ...command];
  // Without `exec`, a shell such as dash waits for the command, and dies of Ctrl-C itself.
  return ["-q", "-e", "-c", `exec ${command.map((word) => `'${word}'`).join(" ")}`, "/dev/null"];
}
