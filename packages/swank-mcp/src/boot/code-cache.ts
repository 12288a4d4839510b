import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { findOwnFolder, readOwnFile } from "./own-file.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** Number of files to keep, for several versions of Node and of this program. */
const KEPT = 4;

/**
 * Keeps V8's compiled code of this program, so that the next process need not compile it. Only files that no other user can have written
 * are read, because V8 executes them.
 */
export class CodeCache {
  readonly #folder: string;
  readonly #name: string;

  /** @param id - Identifies the program's text. */
  constructor(folder: string, id: string) {
    this.#folder = folder;
    this.#name = `${id}-${process.version}-${process.arch}.code`;
  }

  /** Returns the code; `undefined` if there is none that can be trusted. V8 itself refuses the code of another V8. */
  read(): Buffer | undefined {
    const folder = findOwnFolder(this.#folder);
    return folder === undefined ? undefined : readOwnFile(folder, this.#name);
  }

  /** Keeps the code, and removes old files. Does nothing if there is no folder that only this user can write. Never throws. */
  write(code: Buffer): void {
    makeFolder(this.#folder);
    const folder = findOwnFolder(this.#folder);
    if (folder === undefined) return;
    const draft = join(folder, `${this.#name}.${process.pid}`);
    try {
      writeFileSync(draft, code, { flag: "wx", mode: 0o600 });
      renameSync(draft, join(folder, this.#name));
      prune(folder);
    } catch {
      rmSync(draft, { force: true });
    }
  }
}

/** The folder of the code: in the folder that `--cache-dir` or its environment variable names, or in the user's cache folder. */
export function codeFolder(args: readonly string[], env: Environment): string {
  const named = namedFolder(args) ?? env["SWANK_MCP_CACHE_DIR"];
  return join(named ? resolve(named) : join(userCache(env), "swank-toolkit"), "code");
}

function namedFolder(args: readonly string[]): string | undefined {
  const flag = "--cache-dir";
  const index = args.findLastIndex((arg) => arg === flag || arg.startsWith(`${flag}=`));
  return args[index] === flag ? args[index + 1] : args[index]?.slice(flag.length + 1);
}

function userCache(env: Environment): string {
  const home = env["HOME"] || homedir();
  return process.platform === "darwin" ? join(home, "Library/Caches") : env["XDG_CACHE_HOME"] || join(home, ".cache");
}

/** Makes the folder and the two above it. Node's recursive `mkdir` never returns for some paths in `/proc`. */
function makeFolder(folder: string): void {
  for (const path of [dirname(dirname(folder)), dirname(folder), folder]) {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch {
      // It exists, or it cannot be made, which the check of the folder shows.
    }
  }
}

function prune(folder: string): void {
  const dated = readdirSync(folder).map((name) => ({ name, time: statSync(join(folder, name)).mtimeMs }));
  for (const { name } of dated.sort((a, b) => b.time - a.time).slice(KEPT)) rmSync(join(folder, name), { force: true });
}
