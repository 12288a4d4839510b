/** The folder of the Lisp systems. A program that bundles this package replaces this module by one that names its own copy. */
export const LISP_FOLDER = new URL("../../lisp/", import.meta.url);
