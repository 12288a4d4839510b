/**
 * Which Lisp of its own swank-mcp would start with these arguments, read as swank-mcp itself reads them. Needs the build.
 *
 * @param {readonly string[]} args of swank-mcp
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<{ lisp: string | undefined, swank: string | undefined } | undefined>} `undefined` when it starts none:
 *   it attaches to one, only prints something, or will complain about its arguments
 */
export async function lispWanted(args, env = process.env) {
  const { readConfig } = await import("../../packages/swank-mcp/dist/config.js");
  try {
    const { attach, help, version, lisp, swank } = readConfig(args, env);
    return attach !== undefined || help || version ? undefined : { lisp, swank };
  } catch {
    return undefined;
  }
}
