import { readFileSync } from "node:fs";
import { DecodeError, type Decoder, decode, isSymbol, readAll, type Sexp } from "sexp-parser";
import { LISP_FOLDER } from "./lisp-folder.js";

const { any, list, map, optional, plist, string } = decode;

/** A system of `swank-client.asd`. */
export interface LispSystem {
  /** The name without its prefix: `evaluate` for `swank-client/evaluate`. */
  readonly name: string;
  /** Names of the systems that must be loaded before it. */
  readonly dependsOn: readonly string[];
  /** Its files, in the order in which they are loaded, without `.lisp`. */
  readonly files: readonly string[];
}

const PREFIX = "swank-client/";

const clauses = plist({ dependsOn: optional(list(any)), components: optional(list(any)) });

/** The systems that clients load, in the order of `swank-client.asd`. Each depends only on earlier ones. */
export function readSystems(): readonly LispSystem[] {
  const text = readFileSync(new URL("swank-client.asd", LISP_FOLDER), "utf8");
  return readAll(text).flatMap(systemOf);
}

/** Text of a file of this package's `lisp` folder. */
export function readLisp(name: string): string {
  return readFileSync(new URL(`${name}.lisp`, LISP_FOLDER), "utf8");
}

function systemOf(form: Sexp): readonly LispSystem[] {
  const [, nameForm, ...rest] = list(any)(form);
  const name = string(nameForm ?? form);
  if (!name.startsWith(PREFIX)) return [];
  const { dependsOn = [], components = [] } = clauses(rest);
  const others = dependsOn.flatMap((item) => (typeof item === "string" ? [item] : []));
  return [
    {
      name: name.slice(PREFIX.length),
      dependsOn: others.filter((other) => other.startsWith(PREFIX)).map((other) => other.slice(PREFIX.length)),
      files: components.map(file),
    },
  ];
}

/** `(:file "NAME")` */
const file: Decoder<string> = map(list(any), (items) => {
  const [kind, name] = items;
  if (kind !== undefined && isSymbol(kind) && kind.name === "FILE" && name !== undefined) return string(name);
  throw new DecodeError("(:file NAME)", items);
});
