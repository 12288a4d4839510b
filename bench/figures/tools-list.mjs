import { listTools } from "../../scripts/mcp/list-tools.mjs";

/**
 * What every conversation pays for the tools being there.
 *
 * @returns {Promise<import("../measure.mjs").Figure[]>}
 */
export async function toolsList() {
  return [{ name: "tools/list", value: Buffer.byteLength(JSON.stringify(await listTools())), unit: "bytes" }];
}
