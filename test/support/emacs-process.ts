import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { findEmacs } from "#swank-mcp/doctor/emacs.js";
import { testCache } from "./test-cache.js";

/** Compiled Swank is kept between test runs, as on a user's machine, because compiling it takes seconds. */
export const COMPILED = testCache("emacs");

/** Ends Emacs with this process: the reader of the pipe then ends and kills Emacs, which has the shell's process id. */
const END_WITH_US = 'exec 3<&0; (cat <&3; kill -9 $$) >/dev/null 2>&1 & exec emacs "$@" 3<&- </dev/null';

/** Disables native compilation: each Emacs has its own home folder, so it would compile everything again. */
const NO_NATIVE_CODE =
  "(setq native-comp-deferred-compilation nil native-comp-jit-compilation nil native-comp-enable-subr-trampolines nil)";

/** An Emacs without a window, controlled through the socket of its server, as by `emacsclient`, which takes more time to start than to answer. */
export class EmacsProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #home: string;
  #errorText = "";
  #files = 0;

  private constructor(child: ChildProcess, home: string) {
    this.#child = child;
    this.#home = home;
    this.#exited = once(child, "exit");
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errorText += text;
    });
  }

  /** Starts an Emacs with an empty home folder and SLIME on its load path. Fails the tests if Emacs or SLIME is missing. */
  static async start(args: readonly string[]): Promise<EmacsProcess> {
    const slime = await slimeFolder();
    const home = await mkdtemp(join(tmpdir(), "emacs-"));
    // Swank compiles into the first folder, Debian's Swank into the second.
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

  /** Returns the printed value of an Emacs Lisp form. */
  async eval(form: string): Promise<string> {
    const socket = connect(join(this.#home, "socket"));
    socket.write(`-dir ${quoted(this.#home)}/ -current-frame -eval ${quoted(form)} \n`);
    const answer = (await text(socket)).split("\n");
    const told = (kind: RegExp) =>
      answer.filter((line) => kind.test(line)).map((line) => unquoted(line.replace(kind, "")));
    const printed = told(/^-print(?:-nonl)? /);
    if (printed.length === 0) throw new Error(`Emacs could not evaluate ${form}: ${told(/^-error /).join()}`);
    return printed.join("").trimEnd();
  }

  /** The command that opens a frame of it in a terminal. */
  frameCommand(rows: number, columns: number): readonly string[] {
    // A terminal without a size would have a frame of a few columns.
    // Emacs takes its home folder from the emacsclient of the frame.
    const sized = [`stty rows ${rows} columns ${columns}; export HOME="$1"; shift; exec "$@"`, "sh", this.#home];
    return ["sh", "-c", ...sized, "emacsclient", "-s", join(this.#home, "socket"), "-nw"];
  }

  /** The path of a file for one answer. It is removed with the home folder. */
  newFile(): string {
    this.#files += 1;
    return join(this.#home, `answer-${this.#files}`);
  }

  /** Kills Emacs and waits until it has ended. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.gone();
  }

  /** Waits until Emacs has ended. */
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
    throw new Error(`Emacs ended before its server answered: ${this.#errorText}`);
  }
}

/** What stands for characters in messages of Emacs's server. */
const ESCAPES: Readonly<Record<string, string>> = { "&&": "&", "&-": "-", "&n": "\n", "&_": " " };

function quoted(argument: string): string {
  return argument.replace(
    /[& \n]|^-/g,
    (found) => Object.keys(ESCAPES).find((name) => ESCAPES[name] === found) ?? found,
  );
}

function unquoted(argument: string): string {
  return argument.replace(/&./g, (found) => ESCAPES[found] ?? found);
}

let installed: Promise<string> | undefined;

/** The folder with `slime.el`: the one that the environment variable SLIME names, or that of the installed SLIME. */
export async function slimeFolder(): Promise<string> {
  installed ??= installedSlime();
  return process.env["SLIME"] ?? installed;
}

async function installedSlime(): Promise<string> {
  const slime = (await findEmacs(process.env))?.slime;
  if (slime === undefined) throw new Error("Emacs has no SLIME; `npm test` says how to get it.");
  return slime;
}
