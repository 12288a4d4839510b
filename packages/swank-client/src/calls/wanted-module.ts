import { type Decoder, decode } from "sexp-parser";
import { keywordOf } from "../lisp/decoders.js";

const { map, tagged, tuple } = decode;

/** The modules that Emacs can want. */
const WANTED = ["code"] as const;

/**
 * `(:load-module :code)`, the target of a message of lisp/activity/changes.lisp: the user's Emacs has a question that needs a module of the
 * runtime, which only a client of this library can load.
 */
export const wantedModule: Decoder<(typeof WANTED)[number]> = tagged({
  "load-module": map(tuple(keywordOf(WANTED)), ([module]) => module),
});
