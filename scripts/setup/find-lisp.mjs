import { SetupError } from "./setup-error.mjs";

/**
 * Whether SBCL and Swank's source are there, as the launcher itself finds them. Needs the build.
 *
 * @param {{ lisp?: string | undefined, swank?: string | undefined }} named what the user named with `--lisp`, `--swank`
 * @param {NodeJS.ProcessEnv} env where the launcher looks for `SBCL` and `SWANK` too
 * @returns {Promise<{ sbcl: boolean, swank: boolean }>}
 * @throws {SetupError} when one that the user named is not there: installing another would not be what was asked for
 */
export async function findLisp({ lisp, swank } = {}, env = process.env) {
  const { findLisp, findSwank } = await import("swank-client/launch");
  const [sbclThere, swankThere] = await Promise.all([
    isThere(() => findLisp({ lisp, env }), lisp ?? env["SBCL"]),
    isThere(() => findSwank({ swank, env }), swank ?? env["SWANK"]),
  ]);
  return { sbcl: sbclThere, swank: swankThere };
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
