import { decode, NIL, quote } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";
import { type ClassInfo, foundClass } from "./class-description.js";
import { CODE_TIME } from "./code-time.js";
import { nameNotFound } from "./name-not-found.js";

const { map, tagged } = decode;

/** The class and generic function of a name in a package, by default the session's (lisp/code/class-info.lisp). */
export const classInfo = lispFunction({
  name: "class-info",
  module: "code",
  encode: (name: string, packageName: string | undefined, args: readonly string[]) => [
    name,
    packageName ?? NIL,
    ...(args.length > 0 ? [quote(args)] : []),
  ],
  decode: tagged({ found: map(foundClass, (found): ClassInfo => found), ...nameNotFound }),
  timeout: CODE_TIME,
  label: () => "describing a class",
});
