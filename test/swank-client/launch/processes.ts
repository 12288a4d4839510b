import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { LaunchImageOptions } from "swank-client/launch";

/** Whether a process runs; one that has ended but has not been waited for does not. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/\) [ZX] /.test(status);
}

/** Waits until a process that is not a child of ours is gone. */
export async function processGone(pid: number): Promise<void> {
  while (await isRunning(pid)) await setTimeout(20);
}

/** Another Node process that launches an image and tells on stdout, a line each, what the script writes. */
export interface OtherProcess {
  readonly child: ChildProcess;
  /** The first line that it writes, as JSON. */
  readonly firstLine: Promise<string>;
  readonly exited: Promise<unknown>;
}

/** What else a script is given. */
export interface ScriptSettings {
  /** Options for what it launches. */
  readonly launch?: LaunchImageOptions;
  /** Number of a descriptor that it inherits; those between the standard ones and it are closed. */
  readonly inherited?: number;
}

/**
 * Runs one of the scripts that stand beside the tests.
 *
 * @param name - Of the compiled file, without its ending.
 */
export function runScript(name: string, args: readonly string[], settings: ScriptSettings = {}): OtherProcess {
  const file = fileURLToPath(new URL(`./${name}.js`, import.meta.url));
  const { inherited, launch = {} } = settings;
  const gap = inherited === undefined ? [] : [...Array<"ignore">(inherited - 3).fill("ignore"), "pipe" as const];
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ["ignore", "pipe", "inherit", ...gap],
    env: { ...process.env, LAUNCH_OPTIONS: JSON.stringify(launch) },
  });
  return { child, firstLine: firstLine(child), exited: once(child, "exit") };
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("The script was started without a pipe for its output.");
  let text = "";
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    const end = text.indexOf("\n");
    if (end >= 0) return text.slice(0, end);
  }
  throw new Error(`The script ended with nothing but ${JSON.stringify(text)}.`);
}
