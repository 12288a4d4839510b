import { readdir, readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { McpStdio } from "./mcp-stdio.js";

/** Environment of a server whose garbage {@link collectGarbage} can collect; Node alone collects only when it needs memory. */
const COLLECTABLE = { NODE_OPTIONS: `--import=${new URL("./collectable.js", import.meta.url)}` };

/** The resources of a process. */
export interface Resources {
  /** Resident memory, in MB. */
  readonly memory: number;
  readonly descriptors: number;
  readonly threads: number;
}

/** The resources of a process at the start and at the end of a soak. */
export interface Growth {
  readonly process: string;
  readonly start: Resources;
  readonly end: Resources;
}

/** Starts a server whose garbage can be collected. */
export function startCollectable(args: readonly string[] = []): Promise<McpStdio> {
  return McpStdio.start(args, COLLECTABLE);
}

/** Collects the garbage of such a server and its image. */
export async function collectGarbage(server: McpStdio): Promise<void> {
  await server.evaluate("(sb-ext:gc :full t)");
  const before = collections(server);
  server.process.kill("SIGUSR2");
  while (collections(server) === before) await setTimeout(50);
}

function collections({ errorText }: McpStdio): number {
  return errorText.split("collected\n").length;
}

/**
 * Returns the current resources of a process. Linux only, because it reads `/proc`.
 *
 * @param pid - An error if `undefined`, as for a process that never started.
 */
export async function resourcesOf(pid: number | undefined): Promise<Resources> {
  const folder = `/proc/${pid}`;
  const [status, descriptors] = await Promise.all([readFile(`${folder}/status`, "utf8"), readdir(`${folder}/fd`)]);
  return {
    memory: Math.round((field(status, "VmRSS") / 1024) * 10) / 10,
    descriptors: descriptors.length,
    threads: field(status, "Threads"),
  };
}

/** Returns the greatest growth of any resource as a ratio: 1.1 means 10 % more at the end. */
export function greatestGrowth(rows: readonly Growth[]): number {
  const ratios = rows.flatMap(({ start, end }) => [
    end.memory / start.memory,
    end.descriptors / start.descriptors,
    end.threads / start.threads,
  ]);
  return Math.max(...ratios);
}

/** Returns rows for the table in docs/performance.md: soak, process, resident memory, descriptors, threads. */
export function growthTable(soak: string, rows: readonly Growth[]): string {
  return rows
    .map(({ process, start, end }) => [
      soak,
      process,
      `${start.memory} → ${end.memory}`,
      `${start.descriptors} → ${end.descriptors}`,
      `${start.threads} → ${end.threads}`,
    ])
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function field(status: string, name: string): number {
  const value = new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1];
  if (value === undefined) throw new Error(`/proc has no ${name} of this process.`);
  return Number(value);
}
