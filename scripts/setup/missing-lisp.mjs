import { SetupError } from "./setup-error.mjs";

/**
 * Returns which of SBCL and Swank are missing; the launcher's own code searches for them. Needs the build.
 *
 * @param {{ lisp?: string | undefined, swank?: string | undefined }} named the values of `--lisp` and `--swank`
 * @param {NodeJS.ProcessEnv} env in which the launcher also reads `SBCL` and `SWANK`
 * @returns {Promise<import("./lisp-instructions.mjs").Part[]>}
 * @throws {SetupError} if a part that the user named is missing, because installing another one would not help
 */
export async function missingLisp({ lisp, swank } = {}, env = process.env) {
  const { findLisp, findSwank } = await import("swank-client/launch");
  const [sbclThere, swankThere] = await Promise.all([
    isThere(() => findLisp({ lisp, env }), lisp ?? env["SBCL"]),
    isThere(() => findSwank({ swank, env }), swank ?? env["SWANK"]),
  ]);
  return [
    ...(sbclThere ? [] : [/** @type {const} */ ("sbcl")]),
    ...(swankThere ? [] : [/** @type {const} */ ("swank")]),
  ];
}

/**
 * @param {() => Promise<unknown>} find
 * @param {string | undefined} named
 */
async function isThere(find, named) {
  try {
    await find();
    return true;
  } catch (error) {
    const { SwankError } = await import("swank-client");
    if (!(error instanceof SwankError)) throw error;
    if (named) throw new SetupError(`${error.message}\n${error.remedy}`);
    return false;
  }
}
