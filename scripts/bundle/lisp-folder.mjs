// In the bundle, replaces swank-client/src/lisp/lisp-folder.ts. In a clone the Lisp code is used without a build; a published package has a copy.
import { existsSync } from "node:fs";

const isClone = existsSync(new URL("../../tsconfig.json", import.meta.url));

export const LISP_FOLDER = new URL(isClone ? "../../../swank-client/lisp/" : "./lisp/", import.meta.url);
