import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";

/**
 * `npm run build`: compiles what has changed.
 *
 * @param {readonly string[]} projects folders with a tsconfig.json; none means all
 */
export async function run(projects) {
  await ensureDependencies();
  await build(projects);
}
