/**
 * Returns the Lisp that swank-mcp would launch with these arguments, which swank-mcp's own code parses. Needs the build.
 *
 * @param {readonly string[]} args of swank-mcp
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<{ lisp: string | undefined, swank: string | undefined } | undefined>} `undefined` if it launches none:
 *   it attaches to an image, only prints a text, or refuses its arguments
 */
export async function lispWanted(args, env = process.env) {
  const { readConfig } = await import("../../packages/swank-mcp/dist/base/config.js");
  try {
    const { attach, help, version, lisp, swank } = readConfig(args, env);
    return attach !== undefined || help || version ? undefined : { lisp, swank };
  } catch {
    return undefined;
  }
}
