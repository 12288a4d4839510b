import { readdir, readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { McpStdio } from "./mcp-stdio.js";

/** Environment of a server whose garbage {@link collectGarbage} can collect: Node would do that only when it needs memory. */
const COLLECTABLE = { NODE_OPTIONS: `--import=${new URL("./collectable.js", import.meta.url)}` };

/** What a process holds. */
export interface Resources {
  /** Resident memory, in MB. */
  readonly memory: number;
  readonly descriptors: number;
  readonly threads: number;
}

/** What a process holds at the start and at the end of a soak. */
export interface Growth {
  readonly process: string;
  readonly start: Resources;
  readonly end: Resources;
}

/** Starts a server to be measured. */
export function startCollectable(args: readonly string[] = []): Promise<McpStdio> {
  return McpStdio.start(args, COLLECTABLE);
}

/** Collects the garbage of such a server and of its image. */
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
 * What a process holds now. Linux only: it reads `/proc`.
 *
 * @param pid - `undefined`, which a process that never started has, is an error.
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

/** The greatest growth of anything that is measured, as a ratio: 1.1 is 10 % more at the end. */
export function greatestGrowth(rows: readonly Growth[]): number {
  const ratios = rows.flatMap(({ start, end }) => [
    end.memory / start.memory,
    end.descriptors / start.descriptors,
    end.threads / start.threads,
  ]);
  return Math.max(...ratios);
}

/** Rows of the table in docs/performance.md: soak, process, resident memory, descriptors, threads. */
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
