import { ServerProcess } from "./server-process.mjs";

/**
 * Returns swank-mcp's answer to `tools/list`. Needs the build, but no Lisp.
 *
 * @param {readonly string[]} [args] of the server
 * @returns {Promise<unknown>} the `result` of the answer
 */
export async function listTools(args = []) {
  const server = new ServerProcess(args);
  try {
    await server.initialize();
    return await server.request("tools/list");
  } finally {
    await server.stop();
  }
}
