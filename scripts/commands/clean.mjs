import { rm } from "node:fs/promises";
import { inRepository } from "../setup/paths.mjs";
import { BUILDS } from "../setup/prune-build.mjs";

/** `npm run clean`: removes everything that was compiled or measured. The installed packages stay. */
export async function run() {
  const folders = [...BUILDS.map(({ output }) => output), "coverage"];
  await Promise.all(folders.map((folder) => rm(inRepository(folder), { recursive: true, force: true })));
}
