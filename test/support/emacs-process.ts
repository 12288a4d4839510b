import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

const LOCATE_SLIME = fileURLToPath(new URL("../../../scripts/setup/locate-slime.el", import.meta.url));

/** Compiled Swank outlives a run of the tests, as it does on a user's machine: it costs seconds. */
const COMPILED = join(tmpdir(), "swank-mcp-test-emacs");

/** What is read from a pipe that ends with this process ends, and with it Emacs, whose process id the shell's becomes. */
const END_WITH_US = 'exec 3<&0; (cat <&3; kill -9 $$) >/dev/null 2>&1 & exec emacs "$@" 3<&- </dev/null';

/** Each Emacs has a home of its own, where what another has compiled to native code is not found: it would be compiled each time. */
const NO_NATIVE_CODE = "(setq native-comp-deferred-compilation nil native-comp-jit-compilation nil)";

/** An Emacs without a window, told what to do by `emacsclient`. */
export class EmacsProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #home: string;
  #errorText = "";

  private constructor(child: ChildProcess, home: string) {
    this.#child = child;
    this.#home = home;
    this.#exited = once(child, "exit");
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errorText += text;
    });
  }

  /** Starts one whose home folder is empty and that knows where SLIME is. A machine without them fails the tests. */
  static async start(args: readonly string[]): Promise<EmacsProcess> {
    const slime = await slimeFolder();
    const home = await mkdtemp(join(tmpdir(), "emacs-"));
    // where Swank keeps it, and where Debian's does
    for (const folder of [".slime", ".cache"]) {
      await mkdir(join(COMPILED, folder), { recursive: true });
      await symlink(join(COMPILED, folder), join(home, folder));
    }
    const daemon = ["emacs", "-Q", `--fg-daemon=${join(home, "socket")}`, "--eval", NO_NATIVE_CODE, "-L", slime];
    const shellArgs = ["-c", END_WITH_US, ...daemon, ...args];
    const child = spawn("sh", shellArgs, {
      stdio: ["pipe", "ignore", "pipe"],
      env: { ...process.env, HOME: home, TMPDIR: home },
    });
    const emacs = new EmacsProcess(child, home);
    await emacs.#answers();
    return emacs;
  }

  /** The printed value of an Emacs Lisp form. */
  async eval(form: string): Promise<string> {
    const args = ["-s", join(this.#home, "socket"), "--eval", form];
    const { stdout } = await run("emacsclient", args, { maxBuffer: 64 * 1024 * 1024 }).catch((error) => {
      throw new Error(`Emacs could not evaluate ${form}: ${error.stdout}${error.stderr}`);
    });
    return stdout.trimEnd();
  }

  /** Kills it, and waits until it is gone. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.gone();
  }

  /** Waits until it is gone. */
  async gone(): Promise<void> {
    await this.#exited;
    this.#child.stdin?.end();
    await rm(this.#home, { recursive: true, force: true });
  }

  async #answers(): Promise<void> {
    while (this.#child.exitCode === null && this.#child.signalCode === null) {
      if (await this.eval("t").catch(() => false)) return;
      await setTimeout(20);
    }
    await this.gone();
    throw new Error(`Emacs ended before it could be talked to: ${this.#errorText}`);
  }
}

async function slimeFolder(): Promise<string> {
  const { stdout } = await run("emacs", ["--batch", "-l", LOCATE_SLIME]);
  if (stdout === "") throw new Error("Emacs has no SLIME; `npm test` says how to get it.");
  return stdout;
}
