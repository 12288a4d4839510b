import { listTools } from "../mcp/list-tools.mjs";

/** Maximum size in bytes of the answer to `tools/list`, which takes up context in every conversation of every agent. */
export const BUDGET = 12_500;

/** Checks that the answer to `tools/list` stays within its budget. */
export async function checkToolsListBudget() {
  return budgetProblems(await listTools());
}

/**
 * @param {unknown} result of `tools/list`
 * @returns {string[]} a sentence when it is over the budget
 */
export function budgetProblems(result) {
  const bytes = Buffer.byteLength(JSON.stringify(result));
  return bytes > BUDGET
    ? [`tools/list takes ${bytes} bytes; the maximum is ${BUDGET}. Shorten descriptions or schemas.`]
    : [];
}
