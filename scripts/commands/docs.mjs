import { writePages } from "../docs/pages.mjs";
import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";

/** `npm run docs`: writes the generated pages of docs/. */
export async function run() {
  await ensureDependencies();
  await build(["packages/swank-mcp"]);
  await writePages();
}
