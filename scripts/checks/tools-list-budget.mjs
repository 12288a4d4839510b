import { listTools } from "../mcp/list-tools.mjs";

/** The most bytes that the answer to `tools/list` may have: every agent pays for them in every conversation. */
export const BUDGET = 16_384;

/** Whether `tools/list` stays within its budget. */
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
    ? [`tools/list takes ${bytes} bytes; the most is ${BUDGET}. Shorten descriptions or schemas.`]
    : [];
}
