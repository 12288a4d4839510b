import { SetupError } from "./setup-error.mjs";

/**
 * Which of SBCL and Swank's source are not there, as the launcher itself finds them. Needs the build.
 *
 * @param {{ lisp?: string | undefined, swank?: string | undefined }} named what the user named with `--lisp`, `--swank`
 * @param {NodeJS.ProcessEnv} env where the launcher looks for `SBCL` and `SWANK` too
 * @returns {Promise<import("./lisp-instructions.mjs").Part[]>}
 * @throws {SetupError} when one that the user named is not there: installing another would not be what was asked for
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
