import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** What the build notes about the program, in build.json. */
interface BuildInfo {
  /** Identifies the program's text, which is in `server-ID.cjs`. */
  readonly id: string;
  /** When the build began, in milliseconds since 1970. */
  readonly builtAt: number;
  /** The files of the repository that the program was made from, relative to packages/. */
  readonly sources: readonly string[];
}

/** @param folder - The folder of the program: packages/swank-mcp/dist/program in a clone. */
export function readBuildInfo(folder: string): BuildInfo {
  return JSON.parse(readFileSync(join(folder, "build.json"), "utf8"));
}

/** Returns a source file that was changed or removed after the build; `undefined` if there is none, or if this is not a clone. */
export function changedSource(folder: string, { builtAt, sources }: BuildInfo): string | undefined {
  // The published package has no tsconfig.json.
  if (!existsSync(join(folder, "../../tsconfig.json"))) return undefined;
  const packages = join(folder, "../../..");
  return sources.find((source) => {
    const found = statSync(join(packages, source), { throwIfNoEntry: false });
    return found === undefined || found.mtimeMs > builtAt;
  });
}
