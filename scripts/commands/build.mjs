import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";

/**
 * `npm run build`: compiles changed files.
 *
 * @param {readonly string[]} projects folders with a tsconfig.json; all if empty
 */
export async function run(projects) {
  await ensureDependencies();
  await build(projects);
}
