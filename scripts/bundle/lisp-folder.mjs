// In the bundle, replaces swank-client/src/runtime/lisp-folder.ts: the bundle has a copy, whose index is in the bundle.
export const LISP_FOLDER = new URL("./lisp/", import.meta.url);
