import { readdirSync } from "node:fs";
import { inRepository } from "../setup/paths.mjs";
import { problemsOf } from "./run-captured.mjs";

/**
 * Checks the direction of imports between packages and folders. Needs the build.
 *
 * @returns {Promise<string[]>} dependency-cruiser's report of each violation
 */
export function checkLayers() {
  const sources = readdirSync(inRepository("packages")).map((name) => `packages/${name}/src`);
  const options = ["--config", "scripts/checks/layers.mjs", "--output-type", "err-long"];
  return problemsOf("dependency-cruiser/bin/dependency-cruise.mjs", [...options, ...sources]);
}
