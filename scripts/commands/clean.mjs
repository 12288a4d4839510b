import { rm } from "node:fs/promises";
import { inRepository } from "../setup/paths.mjs";
import { BUILDS } from "../setup/prune-build.mjs";

/** `npm run clean`: removes compiled files and coverage reports, but not the installed packages. */
export async function run() {
  const folders = [...BUILDS.map(({ output }) => output), "coverage", "dist"];
  await Promise.all(folders.map((folder) => rm(inRepository(folder), { recursive: true, force: true })));
}
