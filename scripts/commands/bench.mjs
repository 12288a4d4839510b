import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";
import { ensureLisp } from "../setup/ensure-lisp.mjs";

/** `npm run bench`: measures the figures of bench/ and writes them as a table and as bench/results.json. */
export async function run() {
  await ensureDependencies();
  await build();
  await ensureLisp();
  const { main } = await import("../../bench/main.mjs");
  await main();
}
