import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** What a program has printed, on both streams, and whether it says that it succeeded. */
export interface HostAnswer {
  readonly text: string;
  readonly succeeded: boolean;
}

/** Programs of hosts from the npm registry, with a home of their own and a copy of the files that a clone would have. */
export class HostPrograms {
  /** The copy, which is the plugin. */
  readonly plugin: string;
  readonly home: string;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.plugin = join(folder, "plugin");
    this.home = join(folder, "home");
  }

  static async install(...packages: readonly string[]): Promise<HostPrograms> {
    const programs = new HostPrograms(await mkdtemp(join(tmpdir(), "hosts-")));
    await mkdir(join(programs.home, ".codex"), { recursive: true });
    const { stdout } = await promisify(execFile)("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: ROOT });
    for (const file of stdout.split("\0").filter((name) => name !== "")) {
      await mkdir(dirname(join(programs.plugin, file)), { recursive: true });
      // A file may have been removed, but not yet from the index.
      await cp(join(ROOT, file), join(programs.plugin, file)).catch(() => undefined);
    }
    await writeFile(join(programs.#folder, "package.json"), JSON.stringify({ private: true }));
    await promisify(execFile)("npm", ["install", "--silent", "--no-audit", "--no-fund", ...packages], {
      cwd: programs.#folder,
    });
    return programs;
  }

  /** Runs a program in the copy. */
  async run(program: string, ...args: readonly string[]): Promise<HostAnswer> {
    const running = promisify(execFile)(join(this.#folder, "node_modules/.bin", program), args, {
      cwd: this.plugin,
      env: { ...process.env, HOME: this.home, CODEX_HOME: join(this.home, ".codex"), FORCE_COLOR: "0" },
      timeout: 120_000,
    });
    // A program that asks reads an end at once.
    running.child.stdin?.end();
    return running.then(
      ({ stdout, stderr }) => ({ text: stdout + stderr, succeeded: true }),
      (error: unknown) => ({ text: String(error), succeeded: false }),
    );
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}
