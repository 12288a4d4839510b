import { listTools } from "../../scripts/checks/sizes.mjs";

/**
 * Measures the size of the answer to `tools/list`, which every conversation contains.
 *
 * @returns {Promise<import("../measure.mjs").Figure[]>}
 */
export async function toolsList() {
  return [{ name: "tools/list", value: Buffer.byteLength(JSON.stringify(await listTools())), unit: "bytes" }];
}
