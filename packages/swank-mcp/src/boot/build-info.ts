import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What the build notes about the program, in build.json. */
interface BuildInfo {
  /** Identifies the program's text, which is in `server-ID.cjs`. */
  readonly id: string;
}

/** @param folder - The folder of the program: packages/swank-mcp/dist/program in a clone. */
export function readBuildInfo(folder: string): BuildInfo {
  return JSON.parse(readFileSync(join(folder, "build.json"), "utf8"));
}
